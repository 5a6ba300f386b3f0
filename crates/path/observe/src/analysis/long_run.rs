//! Whether a run tells what its setting carries in the long run, and how well.
//!
//! An interval that follows from the scatter within a run takes the run for a fair sample. At a
//! long round trip it is none: one loss in ten seconds, and windows that take a minute to grow
//! back, make the whole run one half of a tooth. What a mean is made of is the cycles of the
//! congestion windows from one loss to the next (`losses.rs`), so:
//!
//! * Where windows decide on the rate, figures begin after [`SETTLING`] cuts of the average stream
//!   (slow start and what it leaves behind), and [`MOMENTS_MIN`] moments of loss have to follow.
//!   The rate of a window that is cut at random stays like itself for a share [`MEMORY`] of a
//!   cycle, so of n such cycles the mean has the variance 2 MEMORY CV² / n, with the rate's
//!   coefficient of variation CV. By the square root of the losses alone it is [`BY_COUNT`] / n,
//!   whatever the streams do: the rate of one is set by how often it loses, and that is known no
//!   better than a count of n.
//! * Where something else holds the rate (sockets' buffers, a program, a full link), the scatter
//!   within the run counts, and what losses would cost that the run did not happen to see.
//! * Over UDP no window grows and falls with single losses: the scatter within the run counts.
//! * Where the sender does not tell, a rate that is flat is believed, any other only after 200
//!   round trips.
//!
//! bench/results/coverage-2026-11-24.md counts how often the intervals hold the long-run mean.
//!
//! Sources of the constants: random cuts of a window that grows by a segment a round trip (Reno:
//! MEMORY 0.75, BY_COUNT 0.25) or as CUBIC's (RFC 9438; 1.2 to 1.5, 0.65), simulated over 60,000
//! cycles with losses of 1e-4 to 4e-3 a segment. The larger ones stand here, since a foreign sender
//! does not say which it has.

use units::{Span, Time};

use super::losses::Cuts;
use super::series::Series;
use super::tcp_window::{congestion_window_full, tcp_summary};
use super::{Lacking, Steadiness, SteadyWindow, TcpSummary, Unsettled};
use crate::{SamplePlan, Stream, UDP_CONTROL};

/// Cuts of the average stream that end slow start and what it leaves behind: a window far beyond or
/// below its usual size.
const SETTLING: usize = 2;
/// A run that is to show enough is told to last so many times what it takes on average.
const LONGER: f64 = 1.5;
/// The rate is looked at in so many parts of a cycle, so that packets which come in bursts do not
/// count as ups and downs.
const PARTS: f64 = 4.0;
/// Fewest moments of loss after that.
const MOMENTS_MIN: usize = 5;
/// A window that is full more often than not decides on the rate.
const MOSTLY: f64 = 0.5;
/// A rate is flat when its standard deviation is below this share of its mean.
const FLAT: f64 = 0.03;
/// A queue stands when round trips are longer than the shortest by this share.
const QUEUE_STANDS: f64 = 0.02;
/// The widest interval that says anything, as a share of the mean to either side.
const WIDEST: f64 = 0.7;
/// Counters, clocks and the grid of readings are no more exact than this share.
const EXACT: f64 = 0.001;
/// What a run without any loss leaves possible: with a share of lost packets that may be of any
/// magnitude (each decade from 1e-7 to 1e-2 as likely), more losses in a run of some thousand
/// packets are to be expected on one path of thirty.
const LOSSES_UNSEEN: f64 = 1.0;
/// Round trips after which a rate of which nothing else is known counts as settled.
const ROUND_TRIPS: u64 = 200;

/// How windows grow back after a loss.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Growth {
    /// The rate resembles itself over this share of a cycle.
    memory: f64,
    /// Relative variance of the rate of a stream that saw one loss.
    by_count: f64,
    /// Share of the window that is kept at a loss.
    kept: f64,
    is_cubic: bool,
}

impl Growth {
    const RENO: Growth = Growth {
        memory: 0.75,
        by_count: 0.25,
        kept: 0.5,
        is_cubic: false,
    };
    /// Stands for all others too.
    const CUBIC: Growth = Growth {
        memory: 1.3,
        by_count: 0.65,
        kept: 0.7,
        is_cubic: true,
    };

    fn of(congestion: Option<&str>) -> Self {
        match congestion {
            Some("reno") => Growth::RENO,
            _ => Growth::CUBIC,
        }
    }

    /// Seconds of its rate that a loss costs a stream with a window of `window` segments that needs
    /// `needed`.
    fn cost(&self, window: f64, needed: f64, rtt: f64) -> f64 {
        let lacks = (needed - self.kept * window).max(0.0);
        // By a segment a round trip, along a straight line.
        let linear = lacks / needed * lacks * rtt / 2.0;
        // Along a cube (RFC 9438, C = 0.4), of which the mean is a quarter.
        let cubic = lacks / needed * (lacks / 0.4).cbrt() / 4.0;
        match self.is_cubic {
            true => linear.min(cubic),
            false => linear,
        }
    }
}

/// What a run tells of the long-run mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct LongRun {
    /// Figures begin here.
    pub from: Time,
    /// Half of the 95 % interval as a share of the mean.
    pub half_width: f64,
}

/// Judges one direction of a run, whose rate is `series`, flat or not over `window`.
pub(super) fn judge(
    series: &Series,
    streams: &[&Stream],
    window: &SteadyWindow,
    congestion: Option<&str>,
) -> Result<LongRun, Unsettled> {
    let run = Run {
        growth: Growth::of(congestion),
        series,
        tcp: tcp_summary(streams, window),
        full: congestion_window_full(streams, window),
        streams: streams.len(),
        window,
    };
    let told = match Cuts::of(streams) {
        None => run.untold(),
        Some(_) if congestion == Some(UDP_CONTROL) => run.without_cuts(),
        Some(cuts) if run.is_held() => run.held(&cuts),
        Some(cuts) => run.by_cycles(&cuts),
    }?;
    match told.half_width <= WIDEST {
        true => Ok(told),
        false => Err(Unsettled {
            why: Lacking::Evenness,
            takes: Some(run.until(told.half_width)),
        }),
    }
}

struct Run<'a> {
    growth: Growth,
    series: &'a Series,
    tcp: TcpSummary,
    /// Share of readings at which the congestion window was full.
    full: Option<f64>,
    streams: usize,
    window: &'a SteadyWindow,
}

impl Run<'_> {
    /// Something else than congestion windows holds the rate.
    fn is_held(&self) -> bool {
        let not_full = self.full.is_some_and(|share| share < MOSTLY);
        let buffers = [self.tcp.receive_window_share, self.tcp.send_buffer_share];
        let by_buffers = buffers.into_iter().flatten().sum::<f64>() > MOSTLY;
        let queue = || {
            let (rtt, least) = (self.tcp.rtt?.as_secs_f64(), self.tcp.rtt_min?.as_secs_f64());
            Some(rtt > least * (1.0 + QUEUE_STANDS))
        };
        let flat = self.is_flat();
        not_full || by_buffers || flat && queue().unwrap_or(false)
    }

    /// The scatter within the run, and losses that it did not happen to see.
    fn held(&self, cuts: &Cuts) -> Result<LongRun, Unsettled> {
        let within = self.within()?;
        let from = self.window.from;
        let losses = match cuts.after(Time::ZERO) {
            0 => LOSSES_UNSEEN,
            _ => 1.0 + 2.0 * ((cuts.after(from) + 1) as f64).sqrt(),
        };
        let stream_seconds = self.seconds(from) * self.streams as f64;
        let unseen = losses * self.cost_of_a_loss().unwrap_or(0.0) / stream_seconds;
        Ok(LongRun {
            from,
            half_width: within.max(unseen).max(EXACT),
        })
    }

    /// Seconds of its rate.
    fn cost_of_a_loss(&self) -> Option<f64> {
        let (mss, rtt) = (self.tcp.mss?.as_f64(), self.tcp.rtt_min?.as_secs_f64());
        let rate = stats::mean(self.series.from(self.window.from))? / self.streams as f64;
        let needed = (rate * rtt / 8.0 / mss).max(1.0);
        let window = self.tcp.congestion_window?.as_f64() / mss;
        Some(self.growth.cost(window, needed, rtt))
    }

    /// Congestion windows decide, and losses on them.
    fn by_cycles(&self, cuts: &Cuts) -> Result<LongRun, Unsettled> {
        let settled = cuts.time_of(SETTLING * self.streams);
        let seen = settled.map_or(0, |from| cuts.moments_after(from, self.rtt()));
        let Some(from) = settled.filter(|_| seen >= MOMENTS_MIN) else {
            return Err(Unsettled {
                why: Lacking::Losses,
                takes: self.until_enough(cuts),
            });
        };
        let cycles = cuts.after(from) as f64 / self.streams as f64;
        let lasting = cycles / self.growth.memory;
        let by_count = half_width(self.growth.by_count / seen as f64, seen as f64 - 1.0);
        let part = Span::from_secs_f64(self.seconds(from) / cycles.max(2.0) / PARTS);
        let variation = self.variation(from, self.rtt().max(part));
        let variation = variation.unwrap_or(f64::INFINITY);
        let by_scatter = half_width(
            variation.powi(2) * 2.0 / lasting / seen_share(lasting),
            lasting.max(1.0),
        );
        Ok(LongRun {
            from,
            half_width: by_count
                .min(by_scatter)
                .max(self.scatter(from).unwrap_or(0.0)),
        })
    }

    /// The sender is a foreign one.
    fn untold(&self) -> Result<LongRun, Unsettled> {
        let from = self.window.from;
        let half_width = self.within()?;
        let long = self.rtt().times(ROUND_TRIPS);
        match self.is_flat() || self.window.length() >= long.max(Span::from_secs(30)) {
            true => Ok(LongRun { from, half_width }),
            false => Err(Unsettled {
                why: Lacking::Losses,
                takes: Some(long.max(Span::from_secs(30)).times(2)),
            }),
        }
    }

    fn without_cuts(&self) -> Result<LongRun, Unsettled> {
        let (from, half_width) = (self.window.from, self.within()?);
        Ok(LongRun { from, half_width })
    }

    /// By the scatter alone, where the rate is flat; half a round trip at either end of the window
    /// may be in it or not.
    fn within(&self) -> Result<f64, Unsettled> {
        let from = self.window.from;
        let lacking = |why| Unsettled {
            why,
            takes: Some(Span::from_secs(4).max(self.rtt().times(ROUND_TRIPS))),
        };
        let scatter = self.scatter(from).ok_or(lacking(Lacking::Time))?;
        match self.window.steadiness {
            Steadiness::Settled => {
                Ok(scatter.max(self.rtt().as_secs_f64() / 2.0 / self.seconds(from)))
            }
            _ => Err(lacking(Lacking::Steadiness)),
        }
    }

    fn scatter(&self, from: Time) -> Option<f64> {
        let estimate = stats::mean_with_interval(self.series.from(from))?;
        estimate.interval?;
        Some((estimate.high() - estimate.low()) / 2.0 / estimate.value)
            .filter(|share| share.is_finite())
    }

    fn is_flat(&self) -> bool {
        let variation = self.variation(self.window.from, self.rtt());
        variation.is_some_and(|variation| variation < FLAT)
    }

    /// Coefficient of variation of the rate over one `part` after another.
    fn variation(&self, from: Time, part: Span) -> Option<f64> {
        let interval = SamplePlan::INTERVAL.as_nanos();
        let group = part.as_nanos().div_ceil(interval).max(1) as usize;
        let rates = self.series.from(from).chunks_exact(group);
        let rates: Vec<f64> = rates.filter_map(stats::mean).collect();
        Some(stats::standard_deviation(&rates)? / stats::mean(&rates)?)
    }

    /// How long until enough losses have been seen: as often as they came so far, else as often as
    /// they come when windows grow back.
    fn until_enough(&self, cuts: &Cuts) -> Option<Span> {
        let run = self.window.to.since(Time::ZERO).as_secs_f64();
        let moments = cuts.moments_after(Time::ZERO, self.rtt()) as f64;
        let all = cuts.after(Time::ZERO) as f64;
        let seconds = if moments > 0.0 {
            let settling = (SETTLING * self.streams) as f64 / all;
            run * (settling + MOMENTS_MIN as f64 / moments)
        } else {
            let window = self.tcp.congestion_window?.as_f64() / self.tcp.mss?.as_f64();
            self.rtt().as_secs_f64() * window / 2.0 * (SETTLING + MOMENTS_MIN) as f64
        };
        Some(Span::from_secs_f64(LONGER * seconds.max(run)))
    }

    fn until(&self, half_width: f64) -> Span {
        let factor = (half_width / WIDEST).powi(2) * LONGER;
        Span::from_secs_f64(self.window.to.since(Time::ZERO).as_secs_f64() * factor.min(100.0))
    }

    fn rtt(&self) -> Span {
        self.tcp.rtt.unwrap_or(Span::ZERO)
    }

    fn seconds(&self, from: Time) -> f64 {
        self.window.to.since(from).as_secs_f64()
    }
}

/// Half of the 95 % interval of a mean whose relative variance is known from `degrees` + 1
/// independent parts.
fn half_width(variance: f64, degrees: f64) -> f64 {
    let mean = stats::Mean {
        value: 1.0,
        standard_error: variance.sqrt(),
        degrees,
    };
    mean.interval()
        .map_or(f64::INFINITY, |interval| interval.high - 1.0)
}

/// What a run of `lasting` memories shows of the variance: short ones show little of it.
fn seen_share(lasting: f64) -> f64 {
    1.0 - 2.0 * (lasting - 1.0 + (-lasting).exp()) / lasting.powi(2)
}
