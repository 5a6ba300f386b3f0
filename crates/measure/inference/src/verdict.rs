//! What holds a run back, in words: the part of the inferred path that binds.
//!
//! What kernels count of a run is a part of its evidence and decides what a part is called: losses
//! in vain are reordering, a full window is the buffer that filled. Of a run that tells nothing of
//! its path, as one of a foreign sender, only that is left.

use observe::{
    Direction, Limit, Observation, Setting, StreamDirection, Summary, Transport, Verdict,
};
use units::{Bytes, Rate};

use crate::answer::{Binding, mostly_marks};
use crate::evidence::{Evidence, Held, Marks};
use crate::path::Path;
use crate::posterior::Posterior;
use crate::rounds::Run;
use crate::scaling;

/// A cause that is less likely is not named.
const LIKELY: f64 = 0.1;
/// One that is likelier needs no word on how likely it is.
const SURE: f64 = 0.9;
/// What a cause takes less of is no gain.
const GAIN_MIN: f64 = 1.05;
/// A run whose rate more likely than not still grew tells of no other cause.
const GROWS: f64 = 0.5;
/// A program that uses this share of one processor has next to none left, unless it spreads over
/// several.
const PROCESSOR: f64 = 0.9;
/// Losses to which our own sender over UDP gives way (`rate_control`).
const GIVES_WAY: f64 = 0.02;
/// Packets with less payload than the smallest that IPv6 demands (1280 bytes less 72 of headers).
const SEGMENT_SMALL: f64 = 1208.0;
/// Windows of the kernels' choice that no buffer bounds, bytes.
const FREE: f64 = 1e9;

/// What held a run back, by itself.
///
/// ```
/// # use observe::*;
/// # use units::Span;
/// let nothing = Observation {
///     setting: Setting::new(StreamCount::ONE, Window::Auto),
///     grown_from: None,
///     peer: Peer::Trunkline,
///     duration: Span::from_secs(5),
///     elapsed: Span::from_secs(5),
///     streams: vec![],
///     round_trips: RoundTrips::default(),
///     congestion_used: None,
///     takes_udp: false,
///     multipath: None,
///     cpu_near: None,
///     cpu_far_percent: None,
/// };
/// assert_eq!(inference::verdict(&nothing).limit, Limit::Unknown);
/// ```
pub fn verdict(seen: &Observation) -> Verdict {
    let main = main_way(seen);
    let summary = main.summary();
    let inferred = Evidence::of(&main, None).and_then(|evidence| of_one(evidence, &summary));
    let mut verdict = inferred.unwrap_or_else(|| untold(&summary));
    let is_udp = seen.setting.transport == Transport::Udp;
    let lost = summary.main().and_then(|main| main.tcp.retransmitted_share);
    if is_udp && lost > Some(GIVES_WAY) && verdict.limit == Limit::Link {
        verdict.or.push(Limit::Loss);
    }
    if let Some(busy) = busy(&summary).filter(|_| is_udp || verdict.limit == Limit::Unknown) {
        match verdict.limit {
            Limit::Unknown => verdict = of(Limit::Host, busy),
            Limit::Host => {}
            _ => verdict.or.push(Limit::Host),
        }
    }
    scaling::tell(&mut verdict, &main);
    verdict
}

/// The run without the direction that it is not judged by.
fn main_way(seen: &Observation) -> Observation {
    let sends = seen
        .streams
        .iter()
        .any(|one| one.direction == StreamDirection::Sending);
    let (way, direction) = match sends {
        true => (StreamDirection::Sending, Direction::Forward),
        false => (StreamDirection::Receiving, Direction::Reverse),
    };
    let streams = seen.streams.iter().filter(|one| one.direction == way);
    Observation {
        streams: streams.cloned().collect(),
        setting: Setting {
            direction,
            ..seen.setting.clone()
        },
        ..seen.clone()
    }
}

/// What one run says by itself.
fn of_one(evidence: Evidence, summary: &Summary) -> Option<Verdict> {
    let (run, held) = (evidence.run, evidence.held);
    // A kernel that counts what buffers hold back, and counted nothing, leaves windows free.
    let counts = summary.main()?.tcp.receive_window_share.is_some();
    let told = (counts && held.is_none()).then_some(FREE);
    let posterior = Posterior::of(vec![evidence], told, 1)?;
    let long = Run {
        seconds: 60.0,
        joined: 0,
        ..run
    };
    let verdict = posterior.verdict(&long)?;
    let is_short = held.is_none() && posterior.still_grows(&run) > GROWS;
    Some(match is_short {
        false => verdict,
        true => Verdict {
            or: std::iter::once(verdict.limit).chain(verdict.or).collect(),
            ..of(
                Limit::TooShort,
                "the rate still grew when the run ended".to_owned(),
            )
        },
    })
}

/// What kernels say where nothing is known of the path.
fn untold(summary: &Summary) -> Verdict {
    if let Some(held) = Held::of(summary) {
        return of(held.limit(), counted(held));
    }
    let why = match summary.main() {
        None => "no stream carried data",
        Some(main) if main.goodput.mean == Rate::ZERO => "nothing arrived",
        Some(main) if main.tcp.rtt.is_none() => {
            "the sender's kernel cannot be asked, and no other run tells"
        }
        Some(_) => "the run was too short to tell",
    };
    of(Limit::Unknown, why.to_owned())
}

/// One end's program that used a whole processor.
fn busy(summary: &Summary) -> Option<String> {
    let ends = [
        ("the far end", summary.cpu_far),
        ("this end", summary.cpu_near),
    ];
    let used = ends.into_iter().filter_map(|(end, shares)| {
        let (user, kernel) = shares?;
        Some((end, user + kernel, kernel / (user + kernel)))
    });
    let (end, used, kernel) = used.max_by(|a, b| a.1.total_cmp(&b.1))?;
    (used >= PROCESSOR).then(|| {
        format!(
            "{end} used {:.0} % of a processor, {:.0} % of it in the kernel, and nothing else \
             explains the rate",
            100.0 * used,
            100.0 * kernel
        )
    })
}

/// A policer is named before the link where it is likelier than this.
const POLICED: f64 = 0.6;

/// A cause without rivals.
fn of(limit: Limit, because: String) -> Verdict {
    Verdict {
        limit,
        probability: None,
        or: Vec::new(),
        because,
        window_needed: None,
        could_reach: None,
    }
}

impl Posterior {
    /// What holds a long run back; `None` where no path was asked.
    pub fn verdict(&self, what: &Run) -> Option<Verdict> {
        let binding = self.binding(what);
        let first = binding.first()?;
        let carries = self.promise(what).quantile(0.5);
        let is_open = matches!(first.limit, Limit::Link | Limit::WayBack | Limit::RateLimit);
        let gains = first.without > GAIN_MIN * carries && !is_open;
        let reach = gains.then(|| Rate::from_f64(first.without));
        let others = binding.iter().skip(1);
        let others = others.filter(|one| one.probability >= LIKELY);
        let mut or: Vec<Limit> = others.map(|one| one.limit).collect();
        // A deep queue makes round trips as long as a narrow way back does, a rate that swings
        // fills at its lows, and what a policer drops a short queue may have dropped: links first.
        let is_link = match first.limit {
            Limit::WayBack | Limit::VaryingRate => true,
            Limit::Policer => first.probability < POLICED,
            _ => false,
        };
        let limit = if is_link { Limit::Link } else { first.limit };
        or.retain(|other| *other != limit);
        if is_link {
            or.insert(0, first.limit);
        }
        let mut because = self.because(what, first, reach);
        let segment = self.middle(|path| path.segment);
        let is_loss = matches!(first.limit, Limit::Loss | Limit::ShallowQueue);
        if is_loss && segment < SEGMENT_SMALL {
            or.push(Limit::PathMtu);
            because += &format!(
                "; packets carry {segment:.0} bytes only, and larger ones would carry more at the \
                 same losses"
            );
        }
        let is_buffer = matches!(first.limit, Limit::ReceiveBuffer | Limit::SendBuffer);
        let fills = self.middle(Path::product) / f64::from(what.streams.max(1));
        let named = binding.iter().filter(|one| one.limit == limit);
        let named: f64 = named.map(|one| one.probability).sum();
        Some(Verdict {
            limit,
            probability: Some(match is_link {
                true => named + first.probability,
                false => named,
            }),
            or,
            because,
            window_needed: reach
                .filter(|_| is_buffer)
                .map(|_| Bytes::new(fills as u64)),
            could_reach: reach,
        })
    }

    /// The figures that say so, as a sentence for people without a full stop.
    fn because(&self, what: &Run, binding: &Binding, reach: Option<Rate>) -> String {
        let mut figures = self.figures(what, binding.limit, reach);
        if let Some(marks) = self.marks(what).filter(|_| binding.limit == Limit::Link) {
            figures += &format!("; {}", marked(marks));
        }
        match binding.probability >= SURE {
            true => figures,
            false => {
                let percent = 100.0 * binding.probability;
                format!("{figures}; that is {percent:.0} % likely")
            }
        }
    }

    fn figures(&self, what: &Run, limit: Limit, reach: Option<Rate>) -> String {
        let rate = |share| self.quantile(|path| path.rate, share);
        let human = |rate: f64| Rate::from_f64(rate).human();
        let (slow, fast) = (human(rate(0.05)), human(rate(0.95)));
        // It carried what rows show.
        let shown = self
            .evidence
            .iter()
            .map(|one| one.settled)
            .fold(0.0, f64::max);
        let most = human(rate(0.95).max(shown));
        let bytes = |bytes: f64| Bytes::new(bytes as u64).human();
        let queue = |share| bytes(self.quantile(|path| path.queue, share));
        let product = bytes(self.middle(Path::product));
        match limit {
            Limit::Link => {
                let others = self.middle(|path| path.others) >= 1.0;
                let beside = if others {
                    ", beside streams of others"
                } else {
                    ""
                };
                format!("the path carries {slow} to {most}{beside}, and the streams fill it")
            }
            Limit::Others => {
                format!("the path carries {slow} to {most}, and streams of others take their part")
            }
            Limit::WayBack => "round trips grow as on a full link with a deep queue, or where \
                               acknowledgements fill the way back"
                .to_owned(),
            Limit::VaryingRate => format!(
                "the path carries {slow} to {most} on average, and that swings by {:.0} %",
                100.0 * self.middle(|path| path.swing)
            ),
            Limit::Policer => {
                format!("what exceeds {slow} to {fast} is dropped without waiting in a queue")
            }
            Limit::Loss => self.lost(),
            Limit::Marks => match self.marks(what) {
                Some(marks) => marked(marks),
                None => "queues on the way mark, which senders answer as they do losses".to_owned(),
            },
            Limit::Reordering => counted(Held::Reordering),
            Limit::ShallowQueue => format!(
                "its queue of {} to {} is short beside the {product} that fill the path",
                queue(0.05),
                queue(0.95)
            ),
            Limit::ReceiveBuffer | Limit::SendBuffer => {
                let each = what
                    .window
                    .unwrap_or_else(|| self.middle(|path| path.window));
                let has = format!("a stream has no more than {} on the way", bytes(each));
                match reach {
                    Some(_) => format!("{has}, and {product} fill the path"),
                    None => has,
                }
            }
            Limit::SlowReader => counted(Held::SlowReader(0.0)),
            Limit::Application => counted(Held::Program(0.0)),
            Limit::Host => counted(Held::Processor(0.0)),
            Limit::RateLimit => "its streams send as fast as they were set to".to_owned(),
            _ => "no part of the path alone explains it".to_owned(),
        }
    }

    /// What was marked in a run like `what`, else in the last one; `None` where senders were told
    /// to slow down by losses.
    fn marks(&self, what: &Run) -> Option<Marks> {
        let marked = self.evidence.iter().rev().filter(|one| one.marks.is_some());
        let of_it = marked.clone().find(|one| one.run.is_like(what));
        let one = of_it.or_else(|| marked.clone().next())?;
        one.marks.filter(|_| mostly_marks(&self.evidence))
    }

    /// How many packets are lost by chance; the least may be none.
    fn lost(&self) -> String {
        let one_in = |share| 1.0 / self.quantile(|path| path.loss, share);
        match (one_in(0.9), one_in(0.1)) {
            (most, least) if least.is_finite() => {
                format!("by chance one packet in {most:.0} to {least:.0} is lost")
            }
            (most, _) if most.is_finite() => {
                format!("by chance up to one packet in {most:.0} is lost")
            }
            _ => "packets are lost by chance".to_owned(),
        }
    }

    fn middle(&self, of: impl Fn(&Path) -> f64) -> f64 {
        self.quantile(of, 0.5)
    }
}

/// What queues marked, in words.
fn marked(marks: Marks) -> String {
    let percent = 100.0 * marks.echoed;
    let digits = if percent >= 1.0 { 1 } else { 3 };
    let resent = match marks.resent {
        0 => "none was sent again".to_owned(),
        1 => "1 was sent again".to_owned(),
        many => format!("{many} were sent again"),
    };
    format!(
        "a queue on the way marks packets in place of drops: with {percent:.digits$} % of the \
         segments the receiver told of marks, and {resent}"
    )
}

/// What a kernel counted, in words.
fn counted(held: Held) -> String {
    let on_way = |bytes: f64| Bytes::new(bytes as u64).human();
    match held {
        Held::ReceiveBuffer(bytes) | Held::SendBuffer(bytes) => {
            format!("a stream has no more than {} on the way", on_way(bytes))
        }
        Held::SlowReader(_) => "the receiving program leaves data lying in its buffer".to_owned(),
        Held::Program(_) => "the sending program left the connections idle".to_owned(),
        Held::Processor(_) => "the threads that serve the streams had no processor left".to_owned(),
        Held::Reordering => "packets overtake each other, which TCP takes for loss: most of what \
                             was sent again had arrived"
            .to_owned(),
    }
}
