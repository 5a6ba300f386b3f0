//! A target made of formulas, with seeded noise.
//!
//! `path.rs` says what each setting carries; this page turns that into an observation a real run
//! could have given: a ramp, noise from interval to interval, and the kernel's counters.

mod path;

pub use path::{Flow, Path};

use observe::*;
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg32;
use units::{Bytes, Rate, Span, Time};

/// Segment payload.
const MSS: f64 = 1448.0;
/// What the drift of one stream that losses bound is multiplied by: a quarter of its rate, mostly.
const TEETH: f64 = 2.0;

/// A target that carries what its path says.
pub struct Synthetic {
    /// What it carries.
    pub path: Path,
    /// Where its noise is drawn from.
    pub noise: Pcg32,
    /// Samples after which the target fails, and how.
    pub fails_after: Option<(usize, Fault)>,
    /// The sample that fails, and no other one does.
    pub fails_at: Option<usize>,
    /// Settings that it refuses.
    pub refuses: fn(&Setting) -> bool,
    /// How long those move nothing before they fail.
    pub idles: Span,
    /// How long they did.
    pub idled: Span,
    /// Samples after which the path is another one.
    pub changes_after: Option<(usize, Path)>,
    /// Samples taken so far.
    pub taken: usize,
}

impl Synthetic {
    /// `path` with noise drawn from `seed`.
    pub fn new(path: Path, seed: u64) -> Self {
        Synthetic {
            path,
            noise: Pcg32::seed_from_u64(seed),
            fails_after: None,
            fails_at: None,
            refuses: |_| false,
            idles: Span::ZERO,
            idled: Span::ZERO,
            changes_after: None,
            taken: 0,
        }
    }

    /// Between -1 and 1, mostly near the middle.
    fn random(&mut self) -> f64 {
        let uniform = |noise: &mut Pcg32| f64::from(noise.next_u32()) / f64::from(u32::MAX);
        (0..4).map(|_| uniform(&mut self.noise)).sum::<f64>() / 2.0 - 1.0
    }

    fn idle(&mut self, watch: &mut dyn RunObserver) {
        let mut elapsed = Span::ZERO;
        while elapsed < self.idles && !watch.has_enough() {
            elapsed += SamplePlan::INTERVAL;
            watch.on_idle(elapsed);
        }
        self.idled += elapsed;
    }

    /// Bytes delivered by all streams at every interval, until the plan has what it wants.
    fn progress(&mut self, flow: &Flow, streams: f64, plan: &SamplePlan) -> Vec<Progress> {
        let Amount::Time(time) = plan.amount else {
            panic!("samples are timed")
        };
        let intervals = time.as_nanos() / SamplePlan::INTERVAL.as_nanos();
        let run_wide = 1.0 + self.path.noise * self.random();
        // Windows that losses bound fall and grow back.
        let is_bound = flow.lost > 0.0 && flow.rate < 0.9 * self.path.capacity;
        let teeth = if is_bound {
            TEETH / streams.sqrt()
        } else {
            0.0
        };
        let (mut bytes, mut drift) = (0.0, 0.0);
        let mut progress = Vec::new();
        for i in 1..=intervals {
            drift = 0.7 * drift + 0.3 * self.random();
            let ramp = (10.0 * MSS * streams / (flow.rate / 8.0 * flow.rtt))
                * 1.7_f64.powf(i as f64 * 0.1 / flow.rtt);
            let drifts = (1.0 + (self.path.noise + teeth) * drift).max(0.1);
            let rate = flow.rate * ramp.min(1.0) * run_wide * drifts;
            bytes += rate.max(0.0) / 8.0 * 0.1;
            progress.push(Progress {
                at: Time::ZERO + SamplePlan::INTERVAL.times(i),
                bytes: Bytes::new(bytes as u64),
            });
            if plan
                .precision
                .is_some_and(|precision| precision.is_met(&[&progress]))
            {
                break;
            }
        }
        progress
    }
}

fn failure(fault: Fault, what: &str) -> TargetError {
    TargetError {
        fault,
        what: what.to_owned(),
        hint: None,
        source: None,
    }
}

impl Target for Synthetic {
    fn describe(&self) -> TargetInfo {
        TargetInfo {
            name: "formulas".to_owned(),
            kind: TargetKind::Emulated,
            limits: Some(self.path.limits),
            congestion: vec!["cubic".to_owned(), "bbr".to_owned()],
            mover: None,
        }
    }

    fn observe(
        &mut self,
        setting: &Setting,
        plan: &SamplePlan,
        watch: &mut dyn RunObserver,
    ) -> Result<Observation, TargetError> {
        self.taken += 1;
        if let Some((_, fault)) = self.fails_after.filter(|(after, _)| self.taken > *after) {
            return Err(failure(fault, "gone"));
        }
        if self.fails_at == Some(self.taken) || (self.refuses)(setting) {
            self.idle(watch);
            return Err(failure(Fault::Run, "refused"));
        }
        if let Some((_, path)) = self.changes_after.filter(|(after, _)| self.taken > *after) {
            self.path = path;
        }
        assert!(!watch.is_cancelled(), "the driver asks before a sample");
        let flow = self.path.flow(setting);
        let streams = f64::from(setting.streams.get());
        let all = self.progress(&flow, streams, plan);
        let duration = all
            .last()
            .map_or(Span::ZERO, |last| last.at.since(Time::ZERO));
        let one = |number| stream(&self.path, &flow, number, setting, &all);
        Ok(Observation {
            grown_from: None,
            setting: setting.clone(),
            peer: Peer::Trunkline,
            duration,
            elapsed: plan.unloaded + duration + Span::from_secs_f64(0.2 + 5.0 * flow.rtt),
            streams: (1..=setting.streams.get()).map(one).collect(),
            round_trips: RoundTrips {
                unloaded: (plan.unloaded > Span::ZERO).then(|| probes(self.path.rtt)),
                loaded: Some(probes(flow.rtt)),
            },
            congestion_used: None,
            takes_udp: false,
            multipath: None,
            cpu_near: None,
            cpu_far_percent: None,
        })
    }
}

fn probes(rtt: f64) -> ProbeSeries {
    let probe = Probe {
        sent: Time::ZERO,
        rtt: Some(Span::from_secs_f64(rtt)),
    };
    ProbeSeries {
        method: ProbeMethod::UdpEcho,
        duplicated: 0,
        probes: vec![probe; 10],
    }
}

fn stream(path: &Path, flow: &Flow, number: u16, setting: &Setting, all: &[Progress]) -> Stream {
    let streams = u64::from(setting.streams.get());
    let share = |reading: &Progress| Progress {
        bytes: Bytes::new(reading.bytes.get() / streams),
        ..*reading
    };
    let progress: Vec<Progress> = all.iter().map(share).collect();
    let asked = match setting.window {
        Window::Auto => None,
        Window::Fixed(window) => Some(window),
    };
    let buffer = Buffer {
        asked,
        granted: Bytes::from_mib(1),
    };
    Stream {
        number,
        direction: match setting.direction {
            observe::Direction::Reverse => StreamDirection::Receiving,
            _ => StreamDirection::Sending,
        },
        buffers: Some(Buffers {
            send: buffer,
            receive: buffer,
        }),
        buffers_far: None,
        tcp: progress
            .iter()
            .map(|reading| tcp(path, flow, *reading))
            .collect(),
        delivery: Delivery {
            counted: Counted::ByReceiver,
            progress,
            receiver_total: None,
        },
        retransmits: None,
        thread_cpu: None,
    }
}

/// What the kernel would say; shares of time as they were measured on real paths.
fn tcp(path: &Path, flow: &Flow, reading: Progress) -> TcpSample {
    let busy = reading.at.since(Time::ZERO);
    let held = |held: bool| {
        Some(Span::from_secs_f64(
            busy.as_secs_f64() * if held { 0.97 } else { 0.0 },
        ))
    };
    let sent = reading.bytes.as_f64() / (1.0 - flow.lost);
    TcpSample {
        at: reading.at,
        rtt: Some(Span::from_secs_f64(flow.rtt)),
        rtt_min: Some(Span::from_secs_f64(path.rtt)),
        cwnd_segments: Some((flow.window / MSS) as u32 + 1),
        mss: Some(Bytes::new(MSS as u64)),
        unacked_segments: Some((flow.window / MSS) as u32),
        peer_window: Some(Bytes::new(
            (flow.window * if flow.by_receive_buffer { 1.02 } else { 8.0 }) as u64,
        )),
        bytes_acked: Some(reading.bytes),
        bytes_sent: Some(Bytes::new(sent as u64)),
        bytes_retransmitted: Some(Bytes::new((sent * flow.lost) as u64)),
        retransmits: Some((sent * flow.lost / MSS) as u32),
        not_sent: Some(Bytes::new(if flow.by_send_buffer { 0 } else { 100_000 })),
        delivery_rate: Some(Rate::from_f64(flow.rate)),
        busy: Some(busy),
        receive_window_limited: held(flow.by_receive_buffer),
        send_buffer_limited: held(flow.by_send_buffer),
        ..TcpSample::default()
    }
}
