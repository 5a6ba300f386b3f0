//! When losses, or marks in place of them, cut a stream's congestion window.
//!
//! Between two cuts the window only grows, so the rate of a stream resembles itself over about one
//! such cycle: cycles, not readings, are what a mean over time is made of.

use units::{Span, Time};

use crate::{SamplePlan, Stream, TcpSample};

/// The cuts of all streams of one direction, from the start of the streams, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cuts(Vec<Time>);

impl Cuts {
    /// `None` where a sender did not tell.
    pub fn of(streams: &[&Stream]) -> Option<Cuts> {
        let each: Option<Vec<Vec<Time>>> = streams.iter().map(|s| of_one(&s.tcp)).collect();
        let mut all = each?.concat();
        all.sort();
        Some(Cuts(all))
    }

    /// How many lie after `from`.
    pub fn after(&self, from: Time) -> usize {
        self.0.iter().filter(|at| **at > from).count()
    }

    /// When so many had happened; `None` when that was never.
    pub fn time_of(&self, number: usize) -> Option<Time> {
        self.0.get(number.checked_sub(1)?).copied()
    }

    /// How many moments after `from` had cuts: those of several streams within `apart` have one
    /// cause, the queue that they share.
    pub fn moments_after(&self, from: Time, apart: Span) -> usize {
        let apart = apart.max(SamplePlan::INTERVAL);
        let mut began: Option<Time> = None;
        let begins = self.0.iter().filter(|at| **at > from).filter(|at| {
            let new = began.is_none_or(|began| at.since(began) > apart);
            began = if new { Some(**at) } else { began };
            new
        });
        begins.count()
    }
}

/// A cut is a slow-start threshold that is another one than before while something was sent again,
/// or a mark echoed. (Linux also sets it when slow start ends because round trips grow, and that is
/// no cut.) Where no threshold is ever told, it is where sending again, or the echo, begins.
fn of_one(samples: &[TcpSample]) -> Option<Vec<Time>> {
    let mut before = samples.first()?;
    let mut sent_again = signals(before)?;
    let mut goes_on = false;
    let mut cuts = Vec::new();
    for sample in &samples[1..] {
        let again = signals(sample)?;
        let grows = again > signals(before)?;
        let is_cut = match (before.ssthresh_segments, sample.ssthresh_segments) {
            (None, None) => grows && !goes_on,
            (before, now) => now != before,
        };
        if is_cut && again > sent_again {
            cuts.push(sample.at);
            sent_again = again;
        }
        (goes_on, before) = (grows, sample);
    }
    Some(cuts)
}

/// Segments that told the sender to slow down: those sent again, and those whose acknowledgement
/// echoed a mark.
fn signals(sample: &TcpSample) -> Option<u64> {
    let echoed = sample.mark_echoed.unwrap_or(0);
    Some(u64::from(sample.retransmits?) + u64::from(echoed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StreamDirection;
    use crate::analysis::fixtures::{steady_progress, stream};

    fn at(tenths: u64) -> Time {
        Time::ZERO + SamplePlan::INTERVAL.times(tenths)
    }

    /// One reading for each pair: slow-start threshold, segments sent again.
    fn told(readings: &[(Option<u32>, u32)]) -> Stream {
        let mut stream = stream(1, StreamDirection::Sending, steady_progress(2, 1));
        let sample = |(i, (threshold, again)): (usize, &(Option<u32>, u32))| TcpSample {
            at: at(i as u64),
            ssthresh_segments: *threshold,
            retransmits: Some(*again),
            ..TcpSample::default()
        };
        stream.tcp = readings.iter().enumerate().map(sample).collect();
        stream
    }

    #[test]
    fn a_threshold_that_changes_with_a_loss_is_a_cut() {
        let one = told(&[
            (None, 0),
            (Some(80), 0),
            (Some(40), 3),
            (Some(40), 9),
            (Some(20), 10),
        ]);
        assert_eq!(Cuts::of(&[&one]), Some(Cuts(vec![at(2), at(4)])));
    }

    #[test]
    fn without_a_threshold_a_cut_is_where_sending_again_begins() {
        let one = told(&[(None, 0), (None, 2), (None, 3), (None, 3), (None, 4)]);
        assert_eq!(Cuts::of(&[&one]), Some(Cuts(vec![at(1), at(4)])));
    }

    #[test]
    fn a_mark_cuts_as_a_loss_does() {
        let mut one = told(&[(None, 0), (Some(80), 0), (Some(40), 0), (Some(40), 0)]);
        let cut = Cuts(vec![at(2)]);
        for (sample, echoed) in one.tcp.iter_mut().zip([0, 0, 30, 70]) {
            sample.mark_echoed = Some(echoed);
        }
        assert_eq!(Cuts::of(&[&one]), Some(cut));
        one.tcp.iter_mut().for_each(|one| one.mark_echoed = Some(0));
        assert_eq!(Cuts::of(&[&one]), Some(Cuts(vec![])));
    }

    #[test]
    fn cuts_of_several_streams_at_one_time_are_one_moment() {
        let cuts = Cuts(vec![at(1), at(10), at(11), at(12), at(30)]);
        assert_eq!(cuts.moments_after(Time::ZERO, Span::from_millis(200)), 3);
        assert_eq!(cuts.moments_after(Time::ZERO, Span::from_millis(20)), 4);
        assert_eq!(cuts.moments_after(at(10), Span::from_millis(20)), 2);
        assert_eq!(
            (cuts.after(at(10)), cuts.time_of(2), cuts.time_of(6)),
            (3, Some(at(10)), None)
        );
    }

    #[test]
    fn a_sender_that_does_not_tell_has_no_count() {
        let (one, mut other) = (
            told(&[(None, 0), (Some(4), 1)]),
            told(&[(None, 0), (Some(4), 1)]),
        );
        assert!(Cuts::of(&[&one, &other]).is_some());
        other.tcp[1].retransmits = None;
        assert_eq!(Cuts::of(&[&one, &other]), None);
        other.tcp.clear();
        assert_eq!(Cuts::of(&[&one, &other]), None);
    }
}
