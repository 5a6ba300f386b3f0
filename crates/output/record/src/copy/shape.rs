//! From a copy and what it told to its document.

use copy_protocol::{
    CopyDirection, CopyEvent, CopySpec, FarHost, LimitedBy, NearEnd, Outcome, PairCarried, Reading,
    TimePart,
};
use units::{Rate, Span, Time};

use super::{
    Asked, Copy, CopyLimit, CopyReading, Outage, Over, PairShare, Planned, Step, TimeShare,
};
use crate::{Direction, Kind, Target};

/// What a copy told while it ran, as far as its outcome does not have it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CopyLog {
    planned: Option<Planned>,
    steps: Vec<Step>,
    outages: Vec<Outage>,
    /// The next plan is that of another pass, which counts those before.
    is_pass_over: bool,
}

/// A copy as it was asked for.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// Everything that the copy is told.
    pub spec: &'a CopySpec,
    /// The sources as the user wrote them.
    pub sources: &'a [String],
    /// The destination as the user wrote it.
    pub destination: &'a str,
}

impl CopyLog {
    /// Takes note of what the document will have.
    pub fn on_event(&mut self, event: &CopyEvent) {
        match event {
            CopyEvent::Planned {
                files,
                folders,
                links,
                bytes,
                present,
                ..
            } => {
                // After a reconnection there is another plan, in which all that came meanwhile
                // counts as there.
                if std::mem::take(&mut self.is_pass_over) {
                    self.planned = None;
                }
                self.planned.get_or_insert(Planned {
                    files: *files,
                    folders: *folders,
                    links: *links,
                    bytes: bytes.get(),
                    present_bytes: present.get(),
                });
            }
            CopyEvent::Following { .. } => self.is_pass_over = true,
            CopyEvent::Steered { at, streams, why } => self.steps.push(Step {
                at_seconds: at.as_secs_f64(),
                streams: *streams,
                because: why.clone(),
            }),
            CopyEvent::Lost { at, why, .. } => self.lost(at.as_secs_f64(), why),
            CopyEvent::Resumed { at, .. } => {
                if let Some(outage) = self.outages.last_mut() {
                    outage.until_seconds.get_or_insert(at.as_secs_f64());
                }
            }
            _ => {}
        }
    }

    /// Further tries without success belong to the same outage.
    fn lost(&mut self, at_seconds: f64, why: &str) {
        let goes_on = self.outages.last();
        if goes_on.is_some_and(|outage| outage.until_seconds.is_none()) {
            return;
        }
        self.outages.push(Outage {
            at_seconds,
            because: why.to_owned(),
            until_seconds: None,
        });
    }
}

/// The name under which a far end is remembered: the network does not care for the user's name
/// there.
pub fn remembered_name(host: &FarHost) -> String {
    match host {
        FarHost::Server { address, .. } => address.to_string(),
        FarHost::Ssh { destination, .. } => {
            let host = destination.rsplit_once('@').map(|(_, host)| host);
            host.unwrap_or(destination).to_owned()
        }
    }
}

impl Copy {
    /// The shape of a copy.
    ///
    /// * `cut_because`: why it ended before its end, where it did.
    pub fn new(
        request: &Request<'_>,
        log: CopyLog,
        outcome: &Outcome,
        cut_because: Option<String>,
    ) -> Self {
        let spec = request.spec;
        Copy {
            target: far_end(&spec.far.host),
            direction: direction(spec.direction),
            over: match spec.far.host {
                FarHost::Ssh { .. } => Over::Ssh,
                FarHost::Server { .. } => Over::Server,
            },
            source_host: match &spec.near {
                NearEnd::Here(_) => None,
                NearEnd::At(source) => Some(remembered_name(&source.host)),
            },
            sources: request.sources.to_vec(),
            destination: request.destination.to_owned(),
            asked: Asked::from(spec),
            cut_because,
            planned: log.planned,
            elapsed_seconds: outcome.took.as_secs_f64(),
            goodput_bits_per_second: outcome.goodput().map(Rate::bits_per_second),
            streams: outcome.streams,
            rtt_mean_seconds: outcome.rtt_mean().map(Span::as_secs_f64),
            ecn: outcome.ecn(),
            files: outcome.files,
            folders: outcome.folders,
            links: outcome.links,
            skipped_files: outcome.skipped,
            failed: outcome.failed.clone(),
            left_out: outcome.left_out.clone(),
            removed: spec.options.delete.then_some(outcome.removed),
            checksum_lists: Vec::new(),
            waiting_files: spec.options.follow.map(|_| outcome.waiting),
            bytes: outcome.bytes.get(),
            sent_bytes: outcome.sent.get(),
            hole_bytes: outcome.holes.get(),
            unchanged_bytes: spec.options.delta.then_some(outcome.unchanged.get()),
            hard_linked_names: outcome.linked,
            wire_bytes: outcome.on_wire.get(),
            sent_again_bytes: outcome.sent_again.get(),
            reconnects: outcome.reconnects,
            streams_replaced: outcome.streams_replaced,
            pairs: pair_shares(outcome),
            mptcp: outcome.multipath.clone(),
            cpu_seconds: outcome.processor.as_secs_f64(),
            time: time_shares(outcome),
            limit: outcome.limit.as_ref().map(CopyLimit::from),
            steps: log.steps,
            outages: log.outages,
            readings: outcome.readings.iter().map(CopyReading::from).collect(),
        }
    }
}

fn far_end(host: &FarHost) -> Target {
    Target {
        name: remembered_name(host),
        kind: Kind::Live,
        limits: None,
        path_digest: None,
        punctuality: None,
    }
}

/// Which way files go, seen from this end.
pub fn direction(direction: CopyDirection) -> Direction {
    match direction {
        CopyDirection::Put => Direction::Forward,
        CopyDirection::Get => Direction::Reverse,
    }
}

fn pair_shares(outcome: &Outcome) -> Vec<PairShare> {
    let carried = |pair: &PairCarried| pair.carried.get();
    let all: u64 = outcome.pairs.iter().map(carried).sum();
    let share = |pair: &PairCarried| PairShare {
        addresses: pair.pair.to_string(),
        wire_bytes: carried(pair),
        share_ratio: (all > 0).then(|| carried(pair) as f64 / all as f64),
        gone_from_seconds: pair.gone.map(Time::as_secs_f64),
    };
    outcome.pairs.iter().map(share).collect()
}

fn time_shares(outcome: &Outcome) -> Vec<TimeShare> {
    let took = outcome.took.as_secs_f64();
    let share = |part: &TimePart| TimeShare {
        to: part.phase,
        share_ratio: part.time.as_secs_f64() / took,
    };
    outcome.time.iter().map(share).collect()
}

impl From<&LimitedBy> for CopyLimit {
    fn from(limit: &LimitedBy) -> Self {
        CopyLimit {
            by: limit.by,
            share_ratio: limit.share,
            shares: Vec::new(),
            because: limit.why.clone(),
            advice: limit.advice.clone(),
        }
    }
}

impl From<&Reading> for CopyReading {
    fn from(reading: &Reading) -> Self {
        CopyReading {
            at_seconds: reading.at.as_secs_f64(),
            rate_bits_per_second: reading.rate.bits_per_second(),
            files: Some(reading.files),
            streams: reading.streams,
            rtt_seconds: reading.rtt.map(Span::as_secs_f64),
            retransmitted_ratio: reading.retransmitted_share,
            mark_echoed_ratio: reading.mark_echoed_share,
            limited_by: reading.limited_by,
            sender: reading.sender,
            receiver: reading.receiver,
        }
    }
}
