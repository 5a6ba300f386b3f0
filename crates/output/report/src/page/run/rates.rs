//! From cumulative readings to rates on a common time grid.

use std::cmp::Reverse;

use record::{Progress, Stream};

/// The finest step: readings come this often.
const STEP_SECONDS: f64 = 0.1;
/// Round trips in a step: with one, a burst falls now into this step and now into the next.
const BURSTS: f64 = 2.0;
/// Fewer points than this would hide how a run went.
const STEPS_MIN: f64 = 25.0;
/// More points than this do not show on the width of a plot.
const STEPS_MAX: f64 = 200.0;

/// Streams that are drawn together.
#[derive(Debug, Clone, PartialEq)]
pub struct Band {
    /// What it is.
    pub name: String,
    /// Bits per second at each of the grid's times.
    pub rates: Vec<f64>,
}

/// Evenly spaced times from the start to the last reading.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grid {
    step: f64,
    steps: usize,
}

impl Grid {
    /// The grid that covers `streams`; `None` when they have no readings to speak of.
    ///
    /// * `rtt_seconds`: a window arrives in bursts one round trip apart, so a step holds two of
    ///   them where the run is long enough.
    pub fn covering(streams: &[&Stream], rtt_seconds: Option<f64>) -> Option<Self> {
        let last = |stream: &&Stream| Some(stream.delivery.progress.last()?.at.as_secs_f64());
        let end = streams.iter().filter_map(last).max_by(f64::total_cmp)?;
        if !(end.is_finite() && end >= 2.0 * STEP_SECONDS) {
            return None;
        }
        let bursts = rtt_seconds.unwrap_or(0.0) * BURSTS;
        let step = bursts.min(end / STEPS_MIN).max(STEP_SECONDS);
        let steps = (end / step).round().clamp(2.0, STEPS_MAX);
        Some(Grid {
            step: end / steps,
            steps: steps as usize,
        })
    }

    /// The middle of every step, in seconds: where its rate is drawn.
    pub fn times(&self) -> Vec<f64> {
        (0..self.steps)
            .map(|i| (i as f64 + 0.5) * self.step)
            .collect()
    }

    /// How long each step is, in seconds.
    pub fn step(&self) -> f64 {
        self.step
    }

    /// The last reading, in seconds.
    pub fn end(&self) -> f64 {
        self.step * self.steps as f64
    }

    /// Bits per second of one stream over each step.
    fn rates(&self, progress: &[Progress]) -> Vec<f64> {
        let edges: Vec<f64> = (0..=self.steps)
            .map(|i| bytes_at(progress, i as f64 * self.step))
            .collect();
        let rate = |pair: &[f64]| ((pair[1] - pair[0]) * 8.0 / self.step).max(0.0);
        edges.windows(2).map(rate).collect()
    }
}

/// Bytes by `seconds`, on a straight line between the readings around it.
fn bytes_at(progress: &[Progress], seconds: f64) -> f64 {
    let after = progress.partition_point(|reading| reading.at.as_secs_f64() <= seconds);
    let value = |index: usize| {
        progress
            .get(index)
            .map(|p| (p.at.as_secs_f64(), p.bytes.as_f64()))
    };
    let before = after.checked_sub(1).and_then(value).unwrap_or((0.0, 0.0));
    match value(after) {
        Some(next) => stats::between(before, next, seconds),
        None => before.1,
    }
}

/// One band for each stream, by number. Beyond `bands_max` streams they are ranked by their bytes
/// and neighbours share a band, so that the bands show how alike the streams are.
pub fn bands(streams: &[&Stream], grid: &Grid, bands_max: usize) -> Vec<Band> {
    if streams.len() <= bands_max {
        return streams.iter().map(|stream| alone(stream, grid)).collect();
    }
    let mut ranked = streams.to_vec();
    ranked.sort_by_key(|stream| (Reverse(stream.delivered_bytes), stream.number));
    let edge = |band: usize| band * ranked.len() / bands_max;
    let group = |band: usize| together(&ranked[edge(band)..edge(band + 1)], edge(band), grid);
    (0..bands_max).map(group).collect()
}

fn alone(stream: &Stream, grid: &Grid) -> Band {
    Band {
        name: format!("stream {}", stream.number),
        rates: grid.rates(&stream.delivery.progress),
    }
}

/// `streams` are those ranked after the first `before`.
fn together(streams: &[&Stream], before: usize, grid: &Grid) -> Band {
    let rates = streams
        .iter()
        .map(|stream| grid.rates(&stream.delivery.progress));
    let add = |a: Vec<f64>, b: Vec<f64>| a.iter().zip(&b).map(|(a, b)| a + b).collect();
    Band {
        name: match streams.len() {
            1 => format!("rank {}", before + 1),
            several => format!("rank {}-{}", before + 1, before + several),
        },
        rates: rates.reduce(add).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::synthetic::{Case, measure};
    use units::{Bytes, Span, Time};

    #[test]
    fn bands_carry_all_bytes_of_all_streams() {
        let run = measure(&Case::streams(20, 1)).body.run;
        let streams: Vec<&Stream> = run.streams.iter().collect();
        let grid = Grid::covering(&streams, None).unwrap();
        let bands = bands(&streams, &grid, 8);
        let bits: f64 = bands.iter().flat_map(|band| &band.rates).sum::<f64>() * grid.step;
        let share = bits / 8.0 / run.delivered_bytes as f64;
        assert!((share - 1.0).abs() < 1e-9, "{share}");
    }

    #[test]
    fn many_streams_share_bands_by_rank() {
        let run = measure(&Case::streams(128, 1)).body.run;
        let streams: Vec<&Stream> = run.streams.iter().collect();
        let grid = Grid::covering(&streams, None).unwrap();
        let bands = bands(&streams, &grid, 8);
        assert_eq!(bands.len(), 8);
        assert_eq!(bands[7].name, "rank 113-128");
    }

    #[test]
    fn steps_hold_two_round_trips_where_there_is_time() {
        let run = measure(&Case::streams(1, 1)).body.run;
        let streams: Vec<&Stream> = run.streams.iter().collect();
        let step = |rtt| Grid::covering(&streams, rtt).unwrap().step;
        assert!((step(Some(0.02)) - 0.1).abs() < 1e-9);
        assert!((step(Some(0.165)) - 10.0 / 30.0).abs() < 1e-9);
        assert!((step(Some(5.0)) - 0.4).abs() < 1e-9);
    }

    #[test]
    fn readings_at_other_times_fall_between_the_grid() {
        let reading = |seconds, bytes| Progress {
            at: Time::ZERO + Span::from_secs_f64(seconds),
            bytes: Bytes::new(bytes),
        };
        let progress = [reading(0.0, 0), reading(0.15, 150), reading(0.4, 400)];
        let grid = Grid {
            step: 0.1,
            steps: 4,
        };
        // 1000 bytes a second throughout: 8000 bit/s in every step.
        for rate in grid.rates(&progress) {
            assert!((rate - 8000.0).abs() < 1e-6, "{rate}");
        }
    }
}
