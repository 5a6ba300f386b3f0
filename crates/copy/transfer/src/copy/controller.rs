//! The controller of a third-party copy: has the destination grant a token for it, commands the
//! source to send, and follows what the source tells.
//!
//! The source opens one session at each command. What ends it early, at whichever of the two hosts,
//! ends here, and the controller grants and commands once more, as a near end opens a copy once
//! more.

use std::time::{Duration, Instant};

use copy_net::Conversation;
use copy_protocol::third_party::{End, Order, Push, Report};
use copy_protocol::{
    Connect, CopyDirection, CopySpec, Opening, Place, ProblemKind, Purpose, Token,
};
use observe::StreamCount;
use units::Rate;

use super::host::Host;
use super::opener::{Opener, Presence, has_wildcard, new_number};
use crate::CopyError;
use crate::copy_stats::CopyStats;
use crate::session::{SessionEnd, protocol};
use files::{problem, with_hint};

/// How long the destination may take to grant a token.
const GRANT_MAX: Duration = Duration::from_secs(60);
/// How soon a stop is noticed.
const TICK: Duration = Duration::from_millis(100);
/// Between two signs of life; an end that hears none for 15 s gives up.
const ALIVE: Duration = Duration::from_secs(4);
/// How long the source may take to end once it was told to.
const CANCEL_MAX: Duration = Duration::from_secs(5);
/// How long goodbyes may take.
const GOODBYE: Duration = Duration::from_secs(2);

/// Commands one copy.
pub(super) struct Controller<'a> {
    spec: &'a CopySpec,
    sources: &'a [Vec<u8>],
    copy: [u8; 16],
    source: Host<'a>,
    destination: Host<'a>,
    /// The host of which the last attempt did not get on.
    failing: String,
    presence: Presence,
}

impl<'a> Controller<'a> {
    pub(super) fn new(spec: &'a CopySpec, source: &'a Place) -> Result<Self, CopyError> {
        let Connect::ToFar(ports) = &spec.connect else {
            let what = "a third-party copy connects from its source to its destination";
            let refused = problem(ProblemKind::Request, what);
            return Err(with_hint(refused, "leave out `--connect from-far`").into());
        };
        Ok(Controller {
            spec,
            sources: &source.paths,
            copy: new_number()?,
            source: Host::new(&source.host, ports.clone()),
            destination: Host::new(&spec.far.host, ports.clone()),
            failing: String::new(),
            presence: Presence::default(),
        })
    }

    fn try_attempt(&mut self, stats: &mut CopyStats<'_>) -> Result<SessionEnd, SessionEnd> {
        let opening = Opening {
            direction: CopyDirection::Put,
            rate_max_bits_per_second: stats.rate_max_to_open().map(Rate::bits_per_second),
            selection: self.spec.options.selection.clone(),
            ..self.spec.opening(self.copy, self.is_many())
        };
        self.failing = self.destination.name();
        let token = self.grant(&opening, stats)?;
        let (receiving, fingerprint) = self.destination.receiving();
        let push = Push {
            sources: self.sources.to_vec(),
            opening,
            receiving,
            fingerprint,
            token,
        };
        self.failing = self.source.name();
        let conversation = self.source.talk(Purpose::Push, stats)?;
        say(&conversation, &Order::Push(Box::new(push)))?;
        stats.begin_counting();
        let steps = stats.steps();
        let end = self.follow(&conversation, stats);
        if stats.steps() > steps {
            self.presence.seen = Some(Instant::now());
        }
        match end {
            SessionEnd::Done => conversation.leave(GOODBYE),
            _ => conversation.close(GOODBYE),
        }
        Ok(end)
    }

    /// The destination has to be a folder.
    fn is_many(&self) -> bool {
        self.sources.len() > 1
            || self.spec.options.selection.listed.is_some()
            || has_wildcard(self.sources)
    }

    /// Asks the destination for a token.
    fn grant(&mut self, opening: &Opening, stats: &mut CopyStats<'_>) -> Result<Token, SessionEnd> {
        let conversation = self.destination.talk(Purpose::Grant, stats)?;
        let wanted = Push::at_destination(opening);
        say(&conversation, &Order::Grant(Box::new(wanted)))?;
        let until = Instant::now() + GRANT_MAX;
        while Instant::now() < until {
            if stats.is_stopped() {
                return Err(SessionEnd::Cancelled);
            }
            match conversation.receive(TICK) {
                Ok(None | Some(Report::Alive)) => {}
                Ok(Some(Report::Granted(token))) => {
                    conversation.leave(GOODBYE);
                    return Ok(token);
                }
                Ok(Some(Report::Ended { end, .. })) => return Err(ended(end)),
                Ok(Some(other)) => return Err(out_of_turn(&other)),
                Err(error) => return Err(self.lost(&error.to_string())),
            }
        }
        Err(self.lost("it does not answer"))
    }

    /// Follows the source until it has ended.
    fn follow(
        &mut self,
        conversation: &Conversation<Report>,
        stats: &mut CopyStats<'_>,
    ) -> SessionEnd {
        let mut said = Instant::now();
        let mut cancelled: Option<Instant> = None;
        loop {
            if stats.is_stopped() && cancelled.is_none() {
                cancelled = Some(Instant::now());
                if let Err(end) = say(conversation, &Order::Cancel) {
                    return end;
                }
            }
            if cancelled.is_some_and(|since| since.elapsed() >= CANCEL_MAX) {
                return SessionEnd::Cancelled;
            }
            let rate = stats.new_rate_max();
            let rate = rate.map(|rate| Order::RateMax(rate.map(Rate::bits_per_second)));
            let streams = stats.new_streams();
            let streams = streams.map(|count| Order::FixedStreams(count.map(StreamCount::get)));
            let alive = (said.elapsed() >= ALIVE).then_some(Order::Alive);
            for order in [rate, streams, alive].into_iter().flatten() {
                said = Instant::now();
                // Its end is noticed below, behind what it still said.
                let _ = say(conversation, &order);
            }
            match conversation.receive(TICK) {
                Ok(None) => {}
                Ok(Some(Report::Ended { end, totals })) => {
                    stats.on_totals(*totals);
                    return ended(end);
                }
                Ok(Some(report @ Report::Connected { .. })) => {
                    self.presence.begin();
                    stats.on_report(report);
                }
                Ok(Some(Report::Granted(_))) => return protocol("a second token".to_owned()),
                Ok(Some(report)) => stats.on_report(report),
                Err(_) if cancelled.is_some() => return SessionEnd::Cancelled,
                Err(error) => {
                    stats.on_source_lost();
                    return self.lost(&error.to_string());
                }
            }
        }
    }

    /// The host at which the attempt stands is gone.
    fn lost(&self, why: &str) -> SessionEnd {
        SessionEnd::Lost(format!("{}: {why}", self.failing))
    }
}

impl Opener for Controller<'_> {
    fn attempt(&mut self, stats: &mut CopyStats<'_>) -> SessionEnd {
        self.try_attempt(stats).unwrap_or_else(|end| end)
    }

    fn presence(&mut self) -> &mut Presence {
        &mut self.presence
    }

    fn peer(&self) -> String {
        self.failing.clone()
    }

    fn how_to_reach(&self) -> String {
        "the source connects to the destination, under the name that this command gives it; the \
         controller connects to both: are `trunkline serve --root` or ssh there, and their ports \
         open?"
            .to_owned()
    }
}

fn say(conversation: &Conversation<Report>, order: &Order) -> Result<(), SessionEnd> {
    let frame = order.encode().map_err(|error| {
        let refused = problem(ProblemKind::Request, error.to_string());
        SessionEnd::Problem(with_hint(
            refused,
            "name fewer sources, or a shorter list, in one command",
        ))
    })?;
    conversation
        .send_frame(frame)
        .map_err(|error| SessionEnd::Lost(error.to_string()))
}

fn ended(end: End) -> SessionEnd {
    match end {
        End::Done => SessionEnd::Done,
        End::Problem(problem) => SessionEnd::Problem(problem),
        End::Lost(why) => SessionEnd::Lost(why),
        End::NoPlace(no_place) => SessionEnd::NoPlace(no_place),
        End::Cancelled => SessionEnd::Cancelled,
    }
}

fn out_of_turn(report: &Report) -> SessionEnd {
    let text = format!("{report:?}");
    let name = text.split([' ', '(', '{']).next().unwrap_or_default();
    protocol(format!("the destination said `{name}` and no token"))
}
