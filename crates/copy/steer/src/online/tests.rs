//! Copies over a path that is two numbers: what it carries, and what one stream does.

use copy_protocol::{Activity, LimitedPart};
use models::Objective;
use observe::{Limit, StreamCount, Window};
use units::{Bytes, Rate, Span};

use super::*;

const STEP: Span = Span::from_millis(100);
const SEGMENT: Bytes = Bytes::new(1448);

#[derive(Debug, Clone)]
struct Fluid {
    capacity: f64,
    each: f64,
    rtt: Span,
    /// A full path's queue, as a share of its round trip.
    queue: f64,
    /// The share that the path loses.
    loss: f64,
    /// Busy time held back by the receiver's window.
    window_limited: f64,
    /// The sender's kernel has nothing left to send.
    without_data: bool,
    /// Congestion window of each stream in segments; zero where it is not known.
    windows: u64,
    sender: Option<Activity>,
    rate_max: Option<Rate>,
    left: Option<Bytes>,
}

const MBIT: f64 = 1e6;

impl Fluid {
    fn new(capacity: f64, each: f64) -> Self {
        Fluid {
            capacity: capacity * MBIT,
            each: each * MBIT,
            rtt: Span::from_millis(100),
            queue: 0.0,
            loss: 0.0,
            window_limited: 0.0,
            without_data: false,
            windows: 0,
            sender: None,
            rate_max: None,
            left: None,
        }
    }

    fn interval(&self, streams: StreamCount) -> Interval {
        let count = streams.get();
        let wanted = self.each * f64::from(count);
        let rate = Rate::from_f64(wanted.min(self.capacity));
        let queue = if wanted >= self.capacity {
            self.queue
        } else {
            0.0
        };
        let all = STEP.times(count.into());
        let held = all.as_secs_f64() * self.window_limited;
        Interval {
            length: STEP,
            streams: Streams {
                count,
                arrived: rate.bytes_in(STEP),
                sent: Some(rate.bytes_in(STEP)),
                retransmitted: Some(Rate::from_f64(self.loss * rate.as_f64()).bytes_in(STEP)),
                rtt: Some(Span::from_secs_f64(self.rtt.as_secs_f64() * (1.0 + queue))),
                rtt_min: Some(self.rtt),
                segment: Some(SEGMENT),
                congestion_window: (self.windows > 0)
                    .then(|| SEGMENT.times(self.windows * u64::from(count))),
                peer_window: Some(Bytes::from_kib(160)),
                busy: Some(all),
                receive_window_limited: Some(Span::from_secs_f64(held)),
                without_data: self.without_data.then_some(count),
                ..Streams::default()
            },
            left: self.left,
            rate_max: RateMax::lower(self.rate_max, None),
            sender: self.sender,
            ..Interval::default()
        }
    }

    /// Runs for so long; every number of streams that was asked for on the way.
    fn run(&self, online: &mut Online, seconds: u64) -> Vec<u16> {
        let steps = Span::from_secs(seconds).as_nanos() / STEP.as_nanos();
        let step = |_| online.on_interval(&self.interval(online.streams()));
        let changes = (0..steps).filter_map(step);
        changes.map(|steer| steer.streams.get()).collect()
    }
}

/// The part that bound for the longest time.
fn longest(online: &mut Online) -> LimitedPart {
    online.limited().unwrap().parts.remove(0)
}

fn count(streams: u64) -> StreamCount {
    StreamCount::new(streams).unwrap()
}

fn from(streams: u64) -> OnlinePlan {
    OnlinePlan {
        remembered: Some(count(streams)),
        ..OnlinePlan::default()
    }
}

fn with(objective: Objective, streams: u64) -> Online {
    Online::new(OnlinePlan {
        objective,
        ..from(streams)
    })
}

#[test]
fn streams_are_added_until_the_path_is_full() {
    // 30 streams of 5 Mbit/s each fill 150 Mbit/s.
    let mut online = Online::new(from(2));
    let changes = Fluid::new(150.0, 5.0).run(&mut online, 40);
    assert_eq!(changes, [3, 5, 8, 12, 18, 27, 41, 62, 41]);
}

#[test]
fn a_queue_ends_the_climb_without_a_trial() {
    let fluid = Fluid {
        queue: 0.5,
        ..Fluid::new(150.0, 5.0)
    };
    assert_eq!(fluid.run(&mut Online::new(from(32)), 20), [0_u16; 0]);
    // The highest goodput is sought all the same: others may keep that queue.
    assert_eq!(fluid.run(&mut with(Objective::Max, 32), 10), [48, 32]);
}

#[test]
fn a_long_copy_is_thinned_out_to_its_knee() {
    let fluid = Fluid {
        queue: 0.5,
        ..Fluid::new(150.0, 10.0)
    };
    let mut online = Online::new(from(32));
    // 15 streams carry everything, and 14 are 93 %.
    let changes = fluid.run(&mut online, 120);
    assert_eq!(changes, [24, 18, 13, 18, 27, 18]);
    let mut least = with(Objective::Knee { share: 0.8 }, 32);
    fluid.run(&mut least, 120);
    assert_eq!(least.streams(), count(13));
    let mut most = with(Objective::Max, 32);
    fluid.run(&mut most, 120);
    assert!(most.streams() >= count(15), "{}", most.streams());
}

#[test]
fn where_something_else_binds_nothing_is_changed() {
    let path = Fluid::new(1_000.0, 5.0);
    // Of the 400 ms that four threads have, two processors give 200.
    let busy = |disk, processor| Activity {
        length: STEP,
        streams: 4,
        disk: Span::from_millis(disk),
        network: Span::from_millis(20),
        computed: Span::from_millis(processor),
        queued: Span::from_millis(380 - disk - processor),
        processor: Span::from_millis(processor),
        host_busy: Span::from_millis(processor),
        processors: 2,
        ..Activity::default()
    };
    let disk = Fluid {
        sender: Some(busy(350, 20)),
        ..path.clone()
    };
    let processor = Fluid {
        sender: Some(busy(0, 195)),
        ..path.clone()
    };
    let limit = Fluid {
        rate_max: Some(Rate::from_f64(20.0 * MBIT)),
        ..path.clone()
    };
    let expected = [
        (
            disk,
            Limit::SenderDisk,
            "its streams waited for files to be read; in that time it carried 20.0 Mbit/s",
        ),
        (
            processor,
            Limit::SenderProcessor,
            "the threads there computed, or waited for a processor; in that time it carried \
             20.0 Mbit/s",
        ),
        (
            limit,
            Limit::RateLimit,
            "the rate limit of 20.0 Mbit/s was reached",
        ),
    ];
    for (fluid, by, why) in expected {
        let mut online = Online::new(from(4));
        assert_eq!(fluid.run(&mut online, 60), [0_u16; 0]);
        let limited = online.limited().unwrap();
        let part = &limited.parts[0];
        assert_eq!(part.limit(), Some(by));
        assert_eq!(part.nanoseconds, limited.nanoseconds);
        assert_eq!(part.why, why);
    }
    assert!(!path.run(&mut Online::new(from(4)), 60).is_empty());
}

#[test]
fn streams_without_data_are_not_laid_on_the_network() {
    // Four threads of which each computes for most of its time, on a host with time left.
    let busy = Activity {
        length: STEP,
        streams: 4,
        disk: Span::from_millis(80),
        computed: Span::from_millis(300),
        network: Span::from_millis(20),
        processor: Span::from_millis(300),
        host_busy: Span::from_millis(300),
        processors: 8,
        ..Activity::default()
    };
    let fluid = Fluid {
        sender: Some(busy),
        without_data: true,
        ..Fluid::new(150.0, 5.0)
    };
    let mut online = Online::new(from(4));
    // More streams would use more processors.
    assert!(!fluid.run(&mut online, 20).is_empty());
    assert_eq!(longest(&mut online).limit(), Some(Limit::SenderProcessor));
    // The sender's activity is not known: no verdict.
    let silent = Fluid {
        sender: None,
        ..fluid
    };
    let mut online = Online::new(from(4));
    silent.run(&mut online, 20);
    assert_eq!(online.limited().unwrap().parts, []);
}

#[test]
fn the_parts_have_the_time_in_which_they_bound() {
    let waiting = |disk, network| Activity {
        length: STEP,
        streams: 4,
        disk: Span::from_millis(disk),
        network: Span::from_millis(network),
        ..Activity::default()
    };
    let path = Fluid::new(150.0, 5.0);
    let disk = Fluid {
        sender: Some(waiting(390, 10)),
        without_data: true,
        ..path.clone()
    };
    let network = Fluid {
        sender: Some(waiting(10, 390)),
        ..path.clone()
    };
    let balanced = Fluid {
        sender: Some(Activity {
            computed: Span::from_millis(60),
            ..waiting(170, 170)
        }),
        without_data: true,
        ..path
    };
    let fixed = OnlinePlan {
        streams: Some(count(4)),
        ..OnlinePlan::default()
    };
    let mut online = Online::new(fixed);
    disk.run(&mut online, 6);
    network.run(&mut online, 3);
    balanced.run(&mut online, 1);
    let limited = online.limited().unwrap();
    let time = |part: &LimitedPart| {
        let limit = part.limit().unwrap();
        (limit, Span::from_nanos(part.nanoseconds))
    };
    let times: Vec<(Limit, Span)> = limited.parts.iter().map(time).collect();
    let path = times[1].0;
    assert!(path.is_of_the_network());
    assert_eq!(
        times,
        [
            (Limit::SenderDisk, Span::from_secs(6)),
            (path, Span::from_secs(3))
        ]
    );
    // In the tenth second nothing bound alone.
    assert_eq!(limited.nanoseconds, Span::from_secs(10).as_nanos());
    assert!(limited.parts[0].advice.is_some());
}

#[test]
fn before_data_flows_nothing_counts() {
    let mut online = Online::new(from(4));
    let waits = Interval {
        length: Span::from_secs(5),
        ..Interval::default()
    };
    online.on_interval(&waits);
    assert_eq!(online.limited(), None);
    Fluid::new(150.0, 5.0).run(&mut online, 3);
    online.on_interval(&waits);
    let limited = online.limited().unwrap();
    assert_eq!(limited.nanoseconds, Span::from_secs(8).as_nanos());
}

#[test]
fn the_limits_that_held_are_named() {
    let held = |mbit: f64| Fluid {
        rate_max: Some(Rate::from_f64(mbit * MBIT)),
        ..Fluid::new(mbit, 100.0)
    };
    let mut online = Online::new(from(4));
    held(100.0).run(&mut online, 5);
    held(50.0).run(&mut online, 5);
    Fluid::new(150.0, 5.0).run(&mut online, 1);
    let limited = longest(&mut online);
    assert_eq!(limited.limit(), Some(Limit::RateLimit));
    let told = "the rate limits of 100 Mbit/s and then 50.0 Mbit/s were reached";
    assert_eq!(limited.why, told);
}

#[test]
fn the_users_own_number_stays() {
    let plan = OnlinePlan {
        streams: Some(count(3)),
        ..from(9)
    };
    let mut online = Online::new(plan);
    assert_eq!(online.start().streams, count(3));
    assert_eq!(Fluid::new(150.0, 5.0).run(&mut online, 60), [0_u16; 0]);
    let limit = longest(&mut online).limit().unwrap();
    assert!(limit.is_of_the_network());
}

#[test]
fn no_more_streams_than_there_are_packets() {
    // 1 Mbit/s and 100 ms: eight packets on the way, two for each of four streams.
    let mut online = Online::new(from(32));
    let changes = Fluid::new(1.0, 1.0).run(&mut online, 300);
    assert_eq!(changes.first(), Some(&4));
    assert!(changes.iter().all(|streams| *streams <= 4), "{changes:?}");
}

#[test]
fn a_host_that_is_busy_with_other_things_keeps_its_streams() {
    // Not even one packet on the way for each, and windows of ten.
    let path = Fluid {
        windows: 10,
        ..Fluid::new(1.0, 1.0)
    };
    let mut online = Online::new(from(32));
    let changes = path.run(&mut online, 60);
    assert!(changes.iter().all(|streams| *streams >= 32), "{changes:?}");
}

#[test]
fn a_path_that_stands_still_for_a_while_keeps_its_streams() {
    let path = Fluid {
        queue: 0.5,
        ..Fluid::new(150.0, 5.0)
    };
    let mut online = Online::new(from(40));
    assert_eq!(path.run(&mut online, 10), [0_u16; 0]);
    // Ten packets on the way for forty streams: others are tried, but none are given up for that.
    let still = Fluid {
        capacity: 1.0 * MBIT,
        ..path.clone()
    };
    still.run(&mut online, 20);
    assert!(online.streams() >= count(40), "{}", online.streams());
}

#[test]
fn a_copy_that_is_nearly_over_is_left_alone() {
    let fluid = Fluid {
        left: Some(Bytes::new(2_000_000)),
        ..Fluid::new(150.0, 5.0)
    };
    assert_eq!(fluid.run(&mut Online::new(from(2)), 60), [0_u16; 0]);
}

#[test]
fn the_last_pieces_of_slow_streams_change_nothing() {
    let mut online = Online::new(from(40));
    let queue = Fluid {
        queue: 0.5,
        ..Fluid::new(150.0, 5.0)
    };
    assert_eq!(queue.run(&mut online, 10), [0_u16; 0]);
    // The rate of a few streams is left, with fewer packets on the way than there are streams.
    let end = Fluid {
        left: Some(Bytes::new(2_000_000)),
        ..Fluid::new(1.0, 5.0)
    };
    assert_eq!(end.run(&mut online, 20), [0_u16; 0]);
}

#[test]
fn a_path_that_changes_is_explored_again() {
    let mut online = Online::new(from(16));
    let before = Fluid {
        queue: 0.5,
        ..Fluid::new(100.0, 10.0)
    };
    assert_eq!(before.run(&mut online, 10), [0_u16; 0]);
    // Each stream gets a quarter: forty are needed.
    let after = Fluid {
        each: 2.5 * MBIT,
        ..before
    };
    let changes = after.run(&mut online, 15);
    assert_eq!(changes, [24, 36, 54]);
}

#[test]
fn a_gentle_copy_gives_way_while_it_harms() {
    // More than ten streams of a round trip of 100 ms keep a queue of 50 ms.
    let fluid = Fluid {
        queue: 0.5,
        ..Fluid::new(100.0, 10.0)
    };
    let mut online = with(Objective::GENTLE, 32);
    let changes = fluid.run(&mut online, 20);
    assert_eq!(changes, [24, 18, 13, 9]);
    // Power is goodput per round trip: nine streams without a queue are worth more than ten with
    // one.
    let mut power = with(Objective::Power, 32);
    fluid.run(&mut power, 300);
    assert_eq!(power.streams(), count(9));
}

#[test]
fn losses_that_fewer_streams_have_as_well_are_the_paths() {
    let fluid = Fluid {
        loss: 0.02,
        ..Fluid::new(100.0, 5.0)
    };
    let changes = fluid.run(&mut with(Objective::GENTLE, 8), 20);
    assert_eq!(changes, [6, 8]);
}

#[test]
fn buffers_that_bind_are_enlarged_where_there_may_be_no_more_streams() {
    let fluid = Fluid {
        window_limited: 0.9,
        ..Fluid::new(1_000.0, 5.0)
    };
    let plan = OnlinePlan {
        streams_max: count(4),
        window_max: Some(Bytes::from_mib(4)),
        ..from(4)
    };
    let mut online = Online::new(plan.clone());
    assert_eq!(online.start().window, Window::Auto);
    assert_eq!(fluid.run(&mut online, 10), [4]);
    assert_eq!(online.start().window, Window::Fixed(Bytes::from_mib(4)));
    // What the hosts grant on request is no more than what the kernel grew to.
    let small = OnlinePlan {
        window_max: Some(Bytes::from_kib(208)),
        ..plan
    };
    assert_eq!(fluid.run(&mut Online::new(small), 10), [0_u16; 0]);
}

#[test]
fn a_bound_on_streams_is_kept_and_a_search_goes_on_when_it_is_raised() {
    let fluid = Fluid::new(1_000.0, 5.0);
    let mut online = Online::new(from(8));
    online.limit(count(4));
    assert_eq!(online.streams(), count(4));
    assert!(fluid.run(&mut online, 40).iter().all(|most| *most <= 4));
    online.limit(count(16));
    assert_eq!(fluid.run(&mut online, 60).into_iter().max(), Some(16));
    // Also beside a number that is fixed, which holds again without the bound.
    online.fix(Some(count(32)));
    assert_eq!(online.streams(), count(16));
    online.limit(StreamCount::MAX);
    assert_eq!(online.streams(), count(32));
}

#[test]
fn a_copy_that_a_server_bounds_says_so() {
    let bound = |rate: u64, set_by| {
        let rate = Rate::from_bits_per_second(rate);
        Some(RateMax { rate, set_by })
    };
    let why = |bounds: &[Option<RateMax>]| {
        let mut online = Online::new(from(4));
        for rate_max in bounds {
            let reached = rate_max.map_or(0, |bound| bound.rate.bits_per_second() / 8);
            online.on_interval(&Interval {
                length: Span::from_secs(1),
                streams: Streams {
                    count: 4,
                    arrived: Bytes::new(reached),
                    ..Streams::default()
                },
                rate_max: *rate_max,
                ..Interval::default()
            });
        }
        let limited = longest(&mut online);
        assert_eq!(limited.limit(), Some(Limit::RateLimit));
        limited.why
    };
    let (user, server) = (SetBy::User, SetBy::Server);
    let told = why(&[bound(60_000_000, server), bound(50_000_000, server)]);
    let last = "the server bounds the rates of copies; this copy's part was 50.0 Mbit/s at last";
    assert_eq!(told, last);
    let told = why(&[bound(40_000_000, user), bound(50_000_000, server)]);
    let both = "the rate limits of 40.0 Mbit/s and then 50.0 Mbit/s (the server's) were reached";
    assert_eq!(told, both);
}

#[test]
fn a_search_goes_down_to_no_fewer_than_the_fewest() {
    // One stream fills the path.
    let mut online = Online::new(OnlinePlan {
        streams_min: count(3),
        ..from(1)
    });
    assert_eq!(online.streams(), count(3));
    let changes = Fluid::new(150.0, 150.0).run(&mut online, 600);
    assert!(changes.iter().all(|streams| *streams >= 3), "{changes:?}");
}

#[test]
fn a_memory_of_few_streams_does_not_slow_the_start() {
    let plan = |remembered| OnlinePlan {
        remembered: Some(count(remembered)),
        rtt: Some(Span::from_millis(165)),
        ..OnlinePlan::default()
    };
    // 39 without a memory.
    assert_eq!(Online::new(plan(4)).streams(), count(20));
    assert_eq!(Online::new(plan(30)).streams(), count(30));
    assert_eq!(Online::new(plan(60)).streams(), count(60));
    // A search has tried what it found.
    let found = OnlinePlan {
        found: Some(count(4)),
        ..plan(4)
    };
    assert_eq!(Online::new(found).streams(), count(4));
}

#[test]
fn the_verdict_on_the_path_is_that_of_a_run() {
    let fluid = Fluid {
        queue: 0.5,
        ..Fluid::new(150.0, 10.0)
    };
    let mut online = Online::new(from(32));
    fluid.run(&mut online, 10);
    let limited = longest(&mut online);
    assert_eq!(limited.limit(), Some(Limit::Link));
    assert!(
        limited.why.contains("and the streams fill it"),
        "{}",
        limited.why
    );
    let bound = Fluid {
        window_limited: 0.9,
        ..Fluid::new(1_000.0, 5.0)
    };
    let mut online = Online::new(OnlinePlan {
        streams: Some(count(4)),
        ..OnlinePlan::default()
    });
    bound.run(&mut online, 10);
    let limited = longest(&mut online);
    assert_eq!(limited.limit(), Some(Limit::ReceiveBuffer));
    let advice = limited.advice.unwrap();
    assert!(advice.contains("net.ipv4.tcp_rmem"), "{advice}");
    assert_eq!(Online::new(OnlinePlan::default()).limited(), None);
}
