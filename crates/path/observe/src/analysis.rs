//! From readings to figures: the steady window, goodput with its interval, what the kernels said.
//!
//! [`summarise`] turns an [`Observation`] into a [`Summary`]; [`Precision::is_met`] asks while a
//! run goes whether its goodput is known well enough to stop. Both put the streams' readings on one
//! common grid first, since streams are read some milliseconds apart.
//!
//! Goodput is what the receivers read, but never more than what arrived over the same time: bytes
//! that had come before and waited behind a hole do not count again when it is filled.
//! `arrivals.rs` says why, and what a sender's count is good for.
//!
//! Left out: what limits the run (`inference`), and anything that needs several runs.
//!
//! Reading order: `series.rs` for the grid, `steady.rs` for where warm-up ends, `arrivals.rs` for
//! the bound on goodput, `tcp_window.rs` for the kernels' counters, then this page.
//!
//! [`Precision::is_met`]: crate::Precision::is_met

mod arrivals;
mod long_run;
mod losses;
mod precision;
mod series;
mod steady;
mod summary;
mod tcp_window;

pub use summary::{
    DirectionSummary, Goodput, Lacking, RateInterval, Steadiness, SteadyWindow, StreamGoodput,
    Summary, TcpSummary, Unsettled,
};

use units::{Rate, Span, Time};

use crate::{Counted, Observation, Progress, Stream, StreamDirection};
use series::{Series, bytes_at};
use tcp_window::tcp_summary;

/// The figures of one run.
///
/// Goodput is taken over the steady window, which is found in the readings of each direction. Where
/// a foreign peer gave only totals, the mean is over the whole run and says so.
pub fn summarise(observation: &Observation) -> Summary {
    let directions = [StreamDirection::Sending, StreamDirection::Receiving];
    let directions = directions
        .into_iter()
        .filter_map(|way| direction_summary(observation, way));
    let directions: Vec<DirectionSummary> = directions.collect();
    let rtt_seen_by_streams = directions.iter().find_map(|direction| direction.tcp.rtt);
    let loaded = observation
        .round_trips
        .loaded
        .as_ref()
        .and_then(|series| series.mean());
    Summary {
        cpu_near: observation.cpu_near.as_ref().and_then(|cpu| cpu.shares()),
        cpu_far: observation
            .cpu_far_percent
            .map(|(user, system)| (user / 100.0, system / 100.0)),
        rtt_unloaded: observation
            .round_trips
            .unloaded
            .as_ref()
            .and_then(|series| series.mean()),
        rtt_loaded: loaded.or(rtt_seen_by_streams),
        directions,
    }
}

impl Observation {
    /// The figures of this run: [`summarise`].
    pub fn summary(&self) -> Summary {
        summarise(self)
    }

    /// Goodput of all streams together in each [`crate::SamplePlan::INTERVAL`]; empty where there
    /// are no readings.
    pub fn rates(&self) -> Vec<units::Rate> {
        let streams = self.streams.iter();
        let progress: Vec<&[Progress]> = streams
            .map(|stream| stream.delivery.progress.as_slice())
            .collect();
        let rates = Series::of(&progress).map(|series| series.rates);
        let rates = rates.unwrap_or_default().into_iter();
        rates.map(units::Rate::from_f64).collect()
    }
}

fn direction_summary(observation: &Observation, way: StreamDirection) -> Option<DirectionSummary> {
    let streams: Vec<&Stream> = observation
        .streams
        .iter()
        .filter(|stream| stream.direction == way)
        .collect();
    if streams.is_empty() {
        return None;
    }
    let progress: Vec<&[Progress]> = streams
        .iter()
        .map(|stream| stream.delivery.progress.as_slice())
        .collect();
    let Figures {
        steady,
        goodput,
        shares,
        unsettled,
    } = match Series::of(&progress) {
        Some(series) => {
            let congestion = observation.congestion_used.as_deref();
            over_readings(&series, &streams, &progress, congestion)
        }
        None => over_totals(&streams, observation.duration),
    };
    Some(DirectionSummary {
        direction: way,
        steady,
        goodput,
        unsettled,
        counted: counted(&streams),
        fairness: fairness(&shares),
        streams: numbered(&streams, &shares),
        tcp: tcp_summary(&streams, &steady),
        retransmits_total: streams.iter().map(|stream| retransmits(stream)).sum(),
        thread_cpu_share: busiest_thread(&streams, observation.duration),
    })
}

/// Window, goodput of all and of each stream.
struct Figures {
    steady: SteadyWindow,
    goodput: Goodput,
    shares: Vec<Rate>,
    unsettled: Option<Unsettled>,
}

/// From readings over time.
fn over_readings(
    series: &Series,
    streams: &[&Stream],
    progress: &[&[Progress]],
    congestion: Option<&str>,
) -> Figures {
    let flat = steady::window(series);
    let told = long_run::judge(series, streams, &flat, congestion);
    let steady = told.map_or(flat, |told| SteadyWindow {
        from: told.from,
        steadiness: Steadiness::Settled,
        ..flat
    });
    let (mean, scatter) = steady::mean(series, &steady);
    let around = |told: long_run::LongRun| {
        RateInterval::around(mean.as_f64(), told.half_width * mean.as_f64())
    };
    let goodput = Goodput {
        mean,
        interval: told.ok().map(around),
        scatter,
    };
    let share = |readings: &&[Progress]| {
        let bytes = bytes_at(readings, steady.to) - bytes_at(readings, steady.from);
        per_second(bytes * 8.0, steady.length())
    };
    let shares = progress.iter().map(share).collect();
    let (goodput, shares) = arrivals::bound(streams, &steady, goodput, shares);
    Figures {
        steady,
        goodput,
        shares,
        unsettled: told.err(),
    }
}

/// The same where only totals are known.
fn over_totals(streams: &[&Stream], duration: Span) -> Figures {
    let share = |stream: &&Stream| Rate::of(stream.delivery.total(), duration);
    let total = streams.iter().map(|stream| stream.delivery.total()).sum();
    Figures {
        steady: SteadyWindow {
            from: Time::ZERO,
            to: Time::ZERO + duration,
            steadiness: Steadiness::TotalsOnly,
        },
        goodput: Goodput {
            mean: Rate::of(total, duration),
            interval: None,
            scatter: None,
        },
        shares: streams.iter().map(share).collect(),
        unsettled: Some(Unsettled {
            why: Lacking::Readings,
            takes: None,
        }),
    }
}

fn per_second(bits: f64, span: Span) -> Rate {
    Rate::from_f64(bits / span.as_secs_f64())
}

fn counted(streams: &[&Stream]) -> Counted {
    let by = |who| move |stream: &&Stream| stream.delivery.counted == who;
    match streams.iter().all(by(Counted::ByReceiver)) {
        true => Counted::ByReceiver,
        false if streams.iter().any(by(Counted::BySender)) => Counted::BySender,
        false => Counted::ByAcknowledgement,
    }
}

fn fairness(shares: &[Rate]) -> Option<f64> {
    let shares: Vec<f64> = shares.iter().map(|rate| rate.as_f64()).collect();
    stats::jain_index(&shares)
}

fn numbered(streams: &[&Stream], shares: &[Rate]) -> Vec<StreamGoodput> {
    let pairs = streams.iter().zip(shares);
    let one = |(stream, goodput): (&&Stream, &Rate)| StreamGoodput {
        number: stream.number,
        goodput: *goodput,
    };
    pairs.map(one).collect()
}

/// As the sender gave them at the end, else as its kernel counted them at the last reading.
fn retransmits(stream: &Stream) -> Option<u64> {
    let counted = || {
        stream
            .tcp
            .last()
            .and_then(|last| last.retransmits)
            .map(u64::from)
    };
    stream.retransmits.or_else(counted)
}

fn busiest_thread(streams: &[&Stream], duration: Span) -> Option<f64> {
    let busiest = streams
        .iter()
        .filter_map(|stream| stream.thread_cpu)
        .max()?;
    (duration > Span::ZERO).then(|| busiest.as_secs_f64() / duration.as_secs_f64())
}

#[cfg(test)]
pub(crate) mod fixtures;

#[cfg(test)]
mod tests;
