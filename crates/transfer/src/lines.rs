//! How streams come about: the end that connects makes them, the other asks for them.

use std::sync::mpsc::Sender;
use std::thread;

use wire::copying::Message;

use crate::inner::net::Dialer;
use crate::session::{Desk, Happening};

/// Where this end's streams come from.
pub(crate) enum Lines {
    /// We connect.
    Dial {
        /// Knows where to.
        dialer: Dialer,
        /// What every stream says first.
        session: u64,
    },
    /// The peer connects when it is asked.
    Ask,
}

/// Keeps the number of streams.
pub(crate) struct Roster {
    lines: Lines,
    next: u32,
    /// Streams on their way or at work.
    pub count: u16,
}

impl Roster {
    /// None yet.
    pub(crate) fn new(lines: Lines) -> Self {
        Roster {
            lines,
            next: 0,
            count: 0,
        }
    }

    /// More of them, until there are so many.
    pub(crate) fn grow(&mut self, target: u16, desk: &Desk) {
        match &self.lines {
            Lines::Ask if self.count < target => desk.say(Message::Streams(target)),
            Lines::Ask => (),
            Lines::Dial { dialer, session } => {
                for _ in self.count..target {
                    dial(dialer.clone(), *session, self.next, desk.report.clone());
                    self.next += 1;
                    self.count += 1;
                }
            }
        }
    }

    /// One came in.
    pub(crate) fn on_joined(&mut self) {
        if matches!(self.lines, Lines::Ask) {
            self.count += 1;
        }
    }

    /// One is over, or never came.
    pub(crate) fn on_over(&mut self) {
        self.count = self.count.saturating_sub(1);
    }
}

fn dial(dialer: Dialer, session: u64, number: u32, report: Sender<Happening>) {
    thread::spawn(move || {
        let happening = match dialer.stream(session, number) {
            Ok(channel) => Happening::Joined(number, channel),
            Err(error) => Happening::NotJoined(number, error.to_string()),
        };
        // Nobody listens any more when the conversation is over; the channel closes with it.
        let _ = report.send(happening);
    });
}
