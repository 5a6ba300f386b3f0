use std::net::{IpAddr, Ipv4Addr};

use observe::{
    Buffer, Buffers as SocketBuffers, Counted, Delivery, Hop, HopAnswer, HostLimits, Passage,
    Passages, Peer, Probe, ProbeMethod, Progress, RoundTrips, Stamped, Stream, StreamDirection,
    TargetInfo, TargetKind, TracePlan, TraceProtocol, Train,
};
use units::{Rate, Time};

use super::*;

/// A path of 10 ms with two routers, 40 Mbit/s for one stream. Beside streams its second hop takes
/// 30 ms.
struct Made {
    refuses_probes: bool,
    refuses_streams: bool,
    is_traced_beside: bool,
    answers_traces: bool,
    limits: Option<HostLimits>,
    asked: Vec<(u16, observe::Direction)>,
}

fn made() -> Made {
    Made {
        refuses_probes: false,
        refuses_streams: false,
        is_traced_beside: true,
        answers_traces: true,
        limits: None,
        asked: Vec::new(),
    }
}

struct MadeProbes {
    is_loaded: bool,
    answers_traces: bool,
}

fn millis(millis: u64) -> Span {
    Span::from_millis(millis)
}

fn refused() -> TargetError {
    TargetError {
        fault: Fault::Run,
        what: "connection refused by 198.18.0.2:5201".to_owned(),
        hint: Some("start `trunkline serve` there".to_owned()),
        source: None,
    }
}

fn series(rtt: Span) -> ProbeSeries {
    let probe = |number| Probe {
        sent: Time::ZERO + millis(50).times(number),
        rtt: Some(rtt),
    };
    ProbeSeries {
        method: ProbeMethod::UdpEcho,
        duplicated: 0,
        probes: (0..20).map(probe).collect(),
    }
}

impl Probes for MadeProbes {
    fn round_trips(
        &mut self,
        _: Span,
        _: &mut dyn RunObserver,
    ) -> Result<ProbeSeries, ProbesError> {
        Ok(series(millis(10)))
    }

    fn train(
        &mut self,
        way: Way,
        train: &Train,
        _: &mut dyn RunObserver,
    ) -> Result<Passages, ProbesError> {
        if way == Way::Reverse {
            return Err(ProbesError::Unsupported {
                why: "the far end sends no trains".to_owned(),
                hint: Some("run `trunkline serve` there".to_owned()),
            });
        }
        let packet = |(number, left): (usize, &Span)| Passage {
            left: *left,
            // Every tenth is lost, every tenth waits 3 ms.
            arrived: (number % 10 != 4)
                .then(|| *left + millis(500) + millis(if number % 10 == 7 { 3 } else { 0 })),
        };
        Ok(Passages {
            packets: train.departures.iter().enumerate().map(packet).collect(),
            stamped: Stamped::ByKernel,
            clocks: None,
        })
    }

    fn pause(&mut self, _: Span) {}

    fn trace(&mut self, plan: &TracePlan, _: &mut dyn RunObserver) -> Result<Trace, ProbesError> {
        if plan.protocol == TraceProtocol::Tcp {
            return Err(ProbesError::Unsupported {
                why: "raw sockets are for root".to_owned(),
                hint: None,
            });
        }
        let rtt = |distance| match (distance, self.is_loaded) {
            (2, true) => millis(30),
            _ => millis(4).times(u64::from(distance)),
        };
        let hop = |distance: u8| Hop {
            distance,
            probes: (0..plan.rounds)
                .map(|_| {
                    self.answers_traces.then(|| HopAnswer {
                        from: IpAddr::V4(Ipv4Addr::new(198, 18, 1, distance)),
                        rtt: rtt(distance),
                    })
                })
                .collect(),
        };
        Ok(Trace {
            protocol: plan.protocol,
            one_flow: true,
            hops: (1..=2).map(hop).collect(),
            reached: true,
        })
    }

    fn path_mtu(&mut self, _: &mut dyn RunObserver) -> Result<PathMtu, ProbesError> {
        Ok(PathMtu {
            bytes: Bytes::new(1500),
            confirmed: true,
            vanishing: None,
        })
    }
}

impl Target for Made {
    fn describe(&self) -> TargetInfo {
        TargetInfo {
            name: "made".to_owned(),
            kind: TargetKind::Live,
            limits: self.limits,
            congestion: Vec::new(),
            mover: None,
        }
    }

    fn observe(
        &mut self,
        setting: &Setting,
        plan: &SamplePlan,
        _: &mut dyn RunObserver,
    ) -> Result<Observation, TargetError> {
        if self.refuses_streams {
            return Err(refused());
        }
        self.asked.push((setting.streams.get(), setting.direction));
        let observe::Amount::Time(duration) = plan.amount else {
            panic!("asked for {:?}", plan.amount)
        };
        let rate = Rate::from_bits_per_second(40_000_000);
        let reading = |number| {
            let at = SamplePlan::INTERVAL.times(number);
            Progress {
                at: Time::ZERO + at,
                bytes: rate.bytes_in(at),
            }
        };
        let buffer = Buffer {
            asked: None,
            granted: Bytes::from_kib(128),
        };
        let (send, receive) = (buffer, buffer);
        let count = duration.as_nanos() / SamplePlan::INTERVAL.as_nanos();
        Ok(Observation {
            setting: setting.clone(),
            grown_from: None,
            peer: Peer::Trunkline,
            duration,
            elapsed: duration,
            streams: vec![Stream {
                number: 1,
                direction: StreamDirection::Sending,
                buffers: Some(SocketBuffers { send, receive }),
                buffers_far: None,
                delivery: Delivery {
                    counted: Counted::ByReceiver,
                    progress: (1..=count).map(reading).collect(),
                    receiver_total: None,
                },
                tcp: Vec::new(),
                retransmits: None,
                thread_cpu: None,
            }],
            round_trips: RoundTrips {
                unloaded: Some(series(millis(10))),
                loaded: Some(series(millis(30))),
            },
            congestion_used: None,
            takes_udp: false,
            multipath: None,
            cpu_near: None,
            cpu_far_percent: None,
        })
    }

    fn probes(&mut self, _watch: &mut dyn RunObserver) -> Result<Box<dyn Probes>, ProbesError> {
        match self.refuses_probes {
            true => Err(ProbesError::Failed(refused())),
            false => Ok(Box::new(MadeProbes {
                is_loaded: false,
                answers_traces: self.answers_traces,
            })),
        }
    }
}

impl Examined for Made {
    fn target(&mut self) -> &mut dyn Target {
        self
    }

    fn beside(
        &mut self,
        setting: &Setting,
        plan: &SamplePlan,
        watch: &mut dyn RunObserver,
        work: &mut Work<'_>,
    ) -> Result<Observation, TargetError> {
        if self.is_traced_beside {
            let mut probes = MadeProbes {
                is_loaded: true,
                answers_traces: true,
            };
            work(&mut probes, &mut ());
        }
        self.observe(setting, plan, watch)
    }

    fn elapsed(&self) -> Option<Span> {
        None
    }
}

fn everything() -> Wanted {
    Wanted {
        ways: Way::BOTH.to_vec(),
        trains: true,
        load: Some(Wanted::LOAD),
        hop_capacity: true,
        flows: Some(8),
        way_back: true,
    }
}

fn why<'a>(found: &'a Characteristics, part: &str) -> Option<&'a str> {
    let left = found.left_out.iter().find(|left| left.part == part);
    left.map(|left| left.why.as_str())
}

#[test]
fn what_fails_is_named_and_everything_else_goes_on() {
    let mut path = made();
    let found = characterise(&mut path, &everything(), &mut ()).unwrap();
    assert!(found.round_trips.is_some() && found.mtu.is_some());
    let protocols: Vec<TraceProtocol> = found.traces.iter().map(|trace| trace.protocol).collect();
    assert_eq!(protocols, [TraceProtocol::Udp, TraceProtocol::Icmp]);
    assert_eq!(why(&found, "hops by TCP"), Some("raw sockets are for root"));
    assert_eq!(
        why(&found, "loss and delay reverse"),
        Some("the far end sends no trains")
    );
    let forward = &found.variations[0];
    assert_eq!(forward.loss_ratio(), Some(0.1));
    let late = forward.above_smallest_seconds();
    assert_eq!(late.iter().filter(|delay| **delay > 0.0029).count(), 10);
    let trace = found.loads[0].trace.as_ref().unwrap();
    assert_eq!(trace.protocol, TraceProtocol::Udp);
    assert_eq!(trace.hops[1].probes[0].unwrap().rtt, millis(30));
    // 30 ms instead of 8 at the second hop.
    let queue = found.loads[0].queue.unwrap();
    assert_eq!((queue.after, queue.hop, queue.rise), (1, 2, millis(22)));
    let asked: Vec<u16> = path.asked.iter().map(|(streams, _)| *streams).collect();
    assert_eq!(asked, [1, 8, 1, 8]);
}

#[test]
fn without_load_nothing_is_sent_in_bulk() {
    let mut path = made();
    let wanted = Wanted {
        load: None,
        trains: false,
        ..everything()
    };
    let found = characterise(&mut path, &wanted, &mut ()).unwrap();
    assert!(path.asked.is_empty() && found.loads.is_empty());
    assert_eq!(why(&found, "capacity forward"), None);
}

#[test]
fn a_path_without_an_answer_is_the_first_failure() {
    let mut path = Made {
        refuses_probes: true,
        refuses_streams: true,
        ..made()
    };
    let error = characterise(&mut path, &everything(), &mut ()).unwrap_err();
    assert_eq!(error.what, "connection refused by 198.18.0.2:5201");
    assert_eq!(error.hint.as_deref(), Some("start `trunkline serve` there"));
}

#[test]
fn routers_without_a_word_leave_no_trace_to_compare() {
    let mut path = Made {
        answers_traces: false,
        ..made()
    };
    let found = characterise(&mut path, &everything(), &mut ()).unwrap();
    assert!(found.traces.is_empty());
    assert_eq!(
        why(&found, "hops by UDP"),
        Some("no host on the way answers UDP")
    );
    assert_eq!(
        why(&found, "hops under load forward"),
        Some("no hops are known to compare with")
    );
    // One stream still runs: it is what a transfer gets.
    assert_eq!(path.asked.len(), 2);
    path.answers_traces = true;
    path.is_traced_beside = false;
    let found = characterise(&mut path, &everything(), &mut ()).unwrap();
    assert!(found.loads[0].several.is_some() && found.loads[0].trace.is_none());
    assert!(why(&found, "hops under load forward").is_some());
}

#[test]
fn buffers_follow_from_what_is_known() {
    let mut path = Made {
        limits: Some(HostLimits {
            send_fixed_max: Bytes::new(50_000),
            receive_fixed_max: Bytes::new(60_000),
            send_auto_max: Bytes::from_mib(4),
            receive_auto_max: Bytes::new(299_999),
        }),
        ..made()
    };
    let wanted = Wanted {
        trains: false,
        ..everything()
    };
    let found = characterise(&mut path, &wanted, &mut ()).unwrap();
    let buffers = &found.buffers[0];
    // Without trains only the fifth rule has its facts: 40 Mbit/s x 30 ms.
    let [advice] = buffers.advice[..] else {
        panic!("{buffers:?}")
    };
    assert_eq!(advice.rule, models::BufferRule::Bdp5);
    assert_eq!(advice.total, Bytes::new(150_000));
    // 150 kB are three times what a host here lets a program ask for, and twice that is not quite
    // what the kernel would grow to.
    assert_eq!(advice.streams.get(), 3);
    assert_eq!(
        (advice.window, advice.granted),
        (Bytes::new(50_000), Bytes::new(100_000))
    );
    assert_eq!(advice.automatic, Some(false));
}

/// Cancels at the first part.
struct Impatient;

impl RunObserver for Impatient {
    fn is_cancelled(&self) -> bool {
        true
    }
}

impl PartObserver for Impatient {}

#[test]
fn a_cancelled_examination_ends() {
    let mut path = made();
    let error = characterise(&mut path, &everything(), &mut Impatient).unwrap_err();
    assert_eq!(error.fault, Fault::Cancelled);
    assert_eq!(error.what, "it was ended before");
    assert!(path.asked.is_empty());
}
