//! One control connection of a pipe, with its streams, from the opening to its end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use copy_net::{Conversation, ConversationError, IncomingStreams};
use copy_protocol::pipe::PipeMessage;
use units::Time;

use super::events::Event;
use super::lanes::{Lanes, Origin, Shared, Steering};
use super::play::{News, Play};
use super::side::{Data, Heard, Side};
use super::talk::GOODBYE;
use crate::activity::TimeSpent;
use crate::remote::Flow;
use crate::session::SessionEnd;
use crate::stream_set::pass_on;

/// Events that may wait; threads wait when there are more.
const EVENTS_MAX: usize = 256;
/// How soon it is noticed that no more streams are awaited.
const ARRIVAL_TICK: Duration = Duration::from_millis(50);

/// A session that is open.
pub(crate) struct Session {
    pub conversation: Conversation<PipeMessage>,
    pub origin: Origin,
    pub steering: Steering,
    /// What a server allows.
    pub flow: Option<Arc<Flow>>,
}

impl Session {
    /// Runs it to its end; `tell` hears of another number of streams, and of progress.
    pub fn run(
        self,
        side: &Side,
        heard: &mut Heard,
        stopped: &dyn Fn() -> Option<SessionEnd>,
        tell: &mut dyn FnMut(News),
    ) -> SessionEnd {
        let Session {
            conversation,
            origin,
            steering,
            flow,
        } = self;
        let (report, events) = sync_channel(EVENTS_MAX);
        let is_over = Arc::new(AtomicBool::new(false));
        side.bell.hang(Some(report.clone()));
        let arrivals = origin.arrivals();
        let shared = Shared {
            data: side.data.clone(),
            report: report.clone(),
            is_over: Arc::clone(&is_over),
            flow,
            spent: Arc::new(TimeSpent::default()),
        };
        let end = thread::scope(|scope| {
            let (to, talk) = (report.clone(), &conversation);
            scope.spawn(move || listen(talk, &to));
            if let Some(streams) = arrivals {
                let (to, is_over) = (report.clone(), Arc::clone(&is_over));
                scope.spawn(move || take_arrivals(&streams, &to, &is_over));
            }
            drop(report);
            let lanes = Lanes::new(origin, shared, steering, Time::ZERO);
            let mut play = Play::new(side, heard, lanes, &conversation);
            let end = play.run(&events, stopped, tell);
            is_over.store(true, Ordering::Relaxed);
            side.bell.hang(None);
            if let Data::Sends(outgoing) = &side.data {
                outgoing.wake();
            }
            play.shut_down();
            drop(events);
            conversation.begin_to_close(GOODBYE);
            end
        });
        match side.is_near {
            true => conversation.leave(GOODBYE),
            false => conversation.close(GOODBYE),
        }
        end
    }
}

/// Passes on what the peer says, one message at a time.
fn listen(conversation: &Conversation<PipeMessage>, report: &SyncSender<Event>) {
    loop {
        let event = match conversation.receive(Duration::MAX) {
            Ok(None) => continue,
            Ok(Some(message)) => Event::Message(message),
            Err(ConversationError::Codec(error)) => Event::Broken(error.to_string()),
            Err(error) => Event::Gone(error.to_string()),
        };
        let is_last = matches!(event, Event::Gone(_) | Event::Broken(_));
        if report.send(event).is_err() || is_last {
            return;
        }
    }
}

fn take_arrivals(streams: &IncomingStreams, report: &SyncSender<Event>, is_over: &AtomicBool) {
    let next = || {
        let arrival = streams.next(ARRIVAL_TICK)?;
        Some(Event::Joined(arrival.number, arrival.channel))
    };
    let is_over = || is_over.load(Ordering::Relaxed);
    pass_on(&next, &|event| report.try_send(event), &is_over);
}
