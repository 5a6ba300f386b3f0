//! Scenarios by the fluid model beside the same packet by packet, and what the model refuses.

use serde_json::Value;
use trunkline::netpath::{Loss, PathSpec, QueueLimit, QueueSpec};
use trunkline::sim::TcpSettings;
use trunkline::simulate::{self, Class, Grid, Variant, Work};
use trunkline::units::{Bytes, Rate, Span};
use trunkline::{Cancel, Error, simulate as packets};

/// The number at `place` among those that `seed` draws, uniform between the bounds (SplitMix64).
fn draw(seed: u64, place: u64, low: f64, high: f64) -> f64 {
    let mut mixed = (seed * 16 + place + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    let share = ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64;
    low + (high - low) * share
}

/// A path of some tens of megabits, and a queue of about what it holds; every second cell with
/// windows.
fn drawn(seed: u64) -> Grid {
    let rate = draw(seed, 0, 40e6, 90e6);
    let delay = draw(seed, 1, 0.012, 0.025);
    let room = draw(seed, 2, 0.8, 1.5) * rate * 2.0 * delay / 12_000.0;
    let mut path = trunkline::load_path("lan").unwrap();
    path.hosts.mtu = 1500;
    for link in [&mut path.forward, &mut path.reverse] {
        link.rate = Rate::from_f64(rate);
        link.delay = Span::from_secs_f64(delay);
        link.queue = QueueSpec::DropTail(QueueLimit::Packets(room as u32));
    }
    let variant = [Variant::Sack, Variant::Cubic][(seed / 2 % 2) as usize];
    let window = (seed % 2 == 1).then(|| Bytes::from_kib(draw(seed, 3, 8.0, 32.0) as u64));
    let streams = draw(seed, 4, 30.0, 60.0) as u32;
    grid(path, variant, streams, window)
}

fn grid(path: PathSpec, variant: Variant, streams: u32, window: Option<Bytes>) -> Grid {
    let mut base = simulate::scenario(path, Some(variant)).unwrap();
    (base.duration, base.warmup) = (Span::from_secs(10), Span::from_secs(5));
    Grid {
        variants: vec![variant],
        streams: vec![streams],
        windows: vec![window],
        seed: 1,
        seeds: 1,
        base,
    }
}

#[test]
fn drawn_scenarios_have_the_goodput_of_packets_under_the_same_keys() {
    for seed in 0..6 {
        let grid = drawn(seed);
        let model = simulate::fluid(&grid).unwrap().to_json();
        let simulated = packets(&grid, None, false, &Cancel::new(), &mut |_| {}).unwrap();
        let read = |text: String| serde_json::from_str::<Value>(&text).unwrap();
        let (model, simulated) = (read(model), read(simulated.document.to_json()));
        for key in ["path", "scenario", "setting"] {
            assert_eq!(model[key], simulated[key], "seed {seed}");
        }
        let goodput = |value: &Value| {
            let found = value.pointer("/aggregate/goodput_bits_per_second");
            found.and_then(Value::as_f64).unwrap()
        };
        let ratio = goodput(&model) / goodput(&simulated);
        assert!((0.95..1.05).contains(&ratio), "seed {seed}: {ratio}");
    }
}

#[test]
fn cross_traffic_alone_is_what_the_streams_take_from() {
    let path = trunkline::load_path("dadc-dumbbell-cross12").unwrap();
    let grid = grid(path, Variant::Sack, 8, Some(Bytes::from_kib(4)));
    let body = simulate::fluid(&grid).unwrap().body;
    assert_eq!(body.cross.groups.len(), 1);
    let alone = body.cross.alone_bits_per_second.unwrap();
    assert!((60_000_000..97_000_000).contains(&alone), "{alone}");
    assert!(body.delivered_bits_per_second.unwrap() >= alone * 9 / 10);
}

/// What is refused, and how to ask for it.
type Refused = (&'static str, fn(&mut Grid));

#[test]
fn what_the_model_has_not_is_refused_by_name_with_the_next_step() {
    let refused: [Refused; 14] = [
        ("`bbr`", |grid| grid.variants = vec![Variant::Bbr]),
        ("`vegas`", |grid| grid.variants = vec![Variant::Vegas]),
        ("`reno`", |grid| grid.variants = vec![Variant::Reno]),
        ("there are 2", |grid| grid.streams = vec![1, 2]),
        ("`--seeds` asks for 2", |grid| grid.seeds = 2),
        ("`--bytes`", |grid| {
            grid.base.work = Work::Striped(Bytes::from_mib(9))
        }),
        ("`--class`", |grid| grid.base.class = Class::Scavenger),
        ("`--series`", |grid| {
            grid.base.series_interval = Some(Span::from_secs(1))
        }),
        ("`--compat`", |grid| {
            grid.base.tcp = TcpSettings::ns2(&grid.base.path)
        }),
        ("`--initial-window`", |grid| {
            grid.base.tcp.initial_window = 3
        }),
        ("`--ecn`", |grid| grid.base.tcp.ecn = true),
        ("below 5 of the longest", |grid| {
            grid.base.warmup = Span::ZERO
        }),
        ("`forward.queue`", |grid| {
            grid.base.path = trunkline::load_path("classes-ds3").unwrap();
            grid.base.tcp = TcpSettings::linux(&grid.base.path);
        }),
        ("`reverse.loss`", |grid| {
            grid.base.path.reverse.loss = Loss::Random { rate: 0.01 };
        }),
    ];
    for (part, change) in refused {
        let mut grid = drawn(0);
        change(&mut grid);
        let error: Error = simulate::fluid(&grid).unwrap_err();
        assert!(error.to_string().contains(part), "{part}: {error}");
        assert!(
            error.hint().is_some_and(|hint| hint.contains("leave")),
            "{part}"
        );
    }
}
