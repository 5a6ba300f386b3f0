//! Paths that are known, and what is inferred of them.

use crate::draw::Draw;
use crate::likelihood::{Error, Residual};
use crate::*;
use observe::Limit;

fn path() -> Path {
    Path {
        rate: 50e6,
        rtt: 0.04,
        queue: 250e3,
        standing: 1.0,
        loss: 0.0,
        run: 1.0,
        others: 0.0,
        swing: 0.0,
        swing_every: 1.0,
        back: f64::INFINITY,
        back_wait: 0.0,
        window: 8e6,
        per_stream: f64::INFINITY,
        hosts: f64::INFINITY,
        segment: 1448.0,
    }
}

fn streams(streams: u32) -> Run {
    Run {
        streams,
        joined: 0,
        window: None,
        control: Control::Cubic,
        pacing: None,
        seconds: 60.0,
    }
}

/// What a sample of so many streams shows, by the rounds themselves.
fn sampled(path: &Path, count: u32, seed: u64) -> Evidence {
    let what = Run {
        seconds: 4.0,
        ..streams(count)
    };
    let trace = run(path, &what, 8, seed);
    let part = |bin: &Bin| Part {
        rate: bin.rate,
        lost: Some(bin.lost.round()),
        rtt: Some(bin.rtt),
    };
    Evidence {
        run: what,
        parts: trace.bins.iter().map(part).collect(),
        segment: path.segment,
        rtt_min: Some(path.rtt),
        idle_wait: Some(0.0),
        held: None,
        marks: None,
        on_way: path.window / 4.0,
        settled: trace.goodput(4),
    }
}

fn inferred(path: &Path, counts: &[u32], seed: u64) -> Posterior {
    let evidence = counts
        .iter()
        .map(|count| sampled(path, *count, seed + u64::from(*count)));
    Posterior::of(evidence.collect(), None, seed).unwrap()
}

#[test]
fn the_same_seed_shows_the_same() {
    let lossy = Path {
        loss: 1e-3,
        ..path()
    };
    assert_eq!(
        run(&lossy, &streams(4), 6, 3),
        run(&lossy, &streams(4), 6, 3)
    );
    assert_ne!(
        run(&lossy, &streams(4), 6, 3),
        run(&lossy, &streams(4), 6, 4)
    );
}

#[test]
fn no_run_carries_more_than_its_path() {
    let mut draw = Draw::new(1);
    for seed in 0..2_000 {
        let any = Path {
            rate: draw.log_uniform(1e5, 1e10),
            rtt: draw.log_uniform(1e-4, 1.0),
            queue: draw.log_uniform(3e3, 1e8),
            standing: draw.uniform(),
            loss: draw.log_uniform(1e-7, 0.3),
            run: draw.log_uniform(1.0, 30.0),
            others: draw.between(0.0, 30.0),
            swing: 0.0,
            window: draw.log_uniform(1e3, 1e9),
            ..path()
        };
        let control = [Control::Cubic, Control::Reno, Control::Rate][seed as usize % 3];
        let count = draw.log_uniform(1.0, 128.0) as u32;
        let what = Run {
            control,
            joined: count / 2,
            seconds: draw.log_uniform(0.5, 60.0),
            ..streams(count)
        };
        let trace = run(&any, &what, 5, seed);
        for bin in &trace.bins {
            let fine = bin.rate >= 0.0 && bin.rate <= 1.001 * any.rate && bin.lost >= 0.0;
            assert!(fine, "seed {seed}: {bin:?} of {any:?}");
            assert!(bin.rtt.is_finite(), "seed {seed}: {bin:?}");
        }
    }
}

#[test]
fn a_full_link_is_known_for_what_it_carries() {
    for seed in 0..2 {
        let found = inferred(&path(), &[1, 8], seed);
        let rate = found.quantile(|path| path.rate, 0.5) / 50e6;
        assert!((0.93..1.08).contains(&rate), "seed {seed}: {rate}");
        let binding = found.binding(&streams(8));
        assert_eq!(binding[0].limit, Limit::Link, "seed {seed}: {binding:?}");
        let promise = found.promise(&streams(4));
        let truth = run(&path(), &streams(4), 1, 99).goodput(0);
        let (low, high) = (promise.quantile(0.025), promise.quantile(0.975));
        assert!(
            low < truth && truth < high,
            "seed {seed}: {truth} in {low} to {high}"
        );
    }
}

#[test]
fn losses_by_chance_are_told_from_a_short_queue() {
    let lossy = Path {
        loss: 2e-3,
        ..path()
    };
    let short = Path {
        queue: 8e3,
        rtt: 0.1,
        ..path()
    };
    for seed in 0..3 {
        let found = inferred(&lossy, &[1, 4], seed).binding(&streams(1));
        assert_eq!(found[0].limit, Limit::Loss, "seed {seed}: {found:?}");
        let found = inferred(&short, &[1, 16], seed).binding(&streams(1));
        assert_ne!(
            found[0].limit,
            Limit::ReceiveBuffer,
            "seed {seed}: {found:?}"
        );
    }
}

#[test]
fn a_buffer_that_a_kernel_counted_is_what_binds() {
    let capped = Path {
        window: 60e3,
        ..path()
    };
    let mut seen = sampled(&capped, 1, 1);
    seen.held = Some(Held::ReceiveBuffer(60e3));
    seen.on_way = 60e3;
    // A link that is no faster is nearly as likely.
    let likely = |seed| {
        let found = Posterior::of(vec![seen.clone()], None, seed).unwrap();
        let binding = found.binding(&streams(1));
        let of_buffer = binding.iter().find(|one| one.limit == Limit::ReceiveBuffer);
        of_buffer.map_or(0.0, |one| one.probability)
    };
    let mean = (0..8).map(likely).sum::<f64>() / 8.0;
    assert!(mean > 0.5, "{mean}");
    let found = Posterior::of(vec![seen], None, 1).unwrap();
    // 60 kB every 40 ms.
    let promise = found.promise(&streams(1)).quantile(0.5) / 12e6;
    assert!((0.93..1.07).contains(&promise), "{promise}");
}

#[test]
fn evidence_that_tells_nothing_gives_no_path() {
    assert!(Posterior::of(Vec::new(), None, 1).is_none());
    let mut silent = sampled(&path(), 1, 1);
    silent.parts.iter_mut().for_each(|part| part.rate = 0.0);
    assert!(Posterior::of(vec![silent], None, 1).is_none());
}

#[test]
fn the_file_names_each_figure_with_its_interval() {
    let lossy = Path {
        loss: 2e-3,
        ..path()
    };
    let file = inferred(&lossy, &[1, 8], 2).path_file("cubic");
    for key in [
        "rate = \"",
        "delay = \"20ms\"",
        "queue = {",
        "loss = {",
        "mtu = 1500",
        " to ",
    ] {
        assert!(file.contains(key), "{file}");
    }
}

/// Whatever the samples left open, the file is a path file, and says what it guessed.
#[test]
fn every_file_is_read_as_a_path_file() {
    let paths = [
        path(),
        Path {
            loss: 2e-3,
            run: 6.0,
            ..path()
        },
        Path {
            others: 8.0,
            ..path()
        },
        Path {
            swing: 0.4,
            standing: 0.2,
            ..path()
        },
        Path {
            rate: 3e5,
            rtt: 0.6,
            queue: 4e3,
            segment: 512.0,
            ..path()
        },
        Path {
            rate: 9e9,
            rtt: 5e-5,
            hosts: 2e9,
            per_stream: 1e9,
            ..path()
        },
    ];
    for (seed, path) in (0..).zip(paths) {
        for counts in [&[1][..], &[1, 8]] {
            let file = inferred(&path, counts, seed).path_file("cubic");
            let read = netpath::PathSpec::from_toml("mine", &file);
            assert!(read.is_ok(), "seed {seed}: {:?}\n{file}", read.err());
            assert!(file.contains("guess"), "seed {seed}: {file}");
        }
    }
}

#[test]
fn a_policer_and_a_narrow_way_back_have_their_own_lines() {
    let policed = Path {
        standing: 0.0,
        ..path()
    };
    let narrow = Path {
        back: 20e6,
        back_wait: 0.2,
        ..path()
    };
    for (path, has) in [(policed, "policer = {"), (narrow, "[reverse]")] {
        let mut found = inferred(&path, &[1], 1);
        found.particles.iter_mut().for_each(|one| one.path = path);
        let file = found.path_file("cubic");
        let read = netpath::PathSpec::from_toml("inferred", &file);
        assert!(file.contains(has) && read.is_ok(), "{file}\n{read:?}");
    }
}

/// Marks are no chance and come of queues: whatever of losses would be named is named so.
#[test]
fn marks_in_place_of_losses_are_named_and_counted() {
    let lossy = Path {
        loss: 2e-3,
        ..path()
    };
    let seen = [1, 4].map(|count| sampled(&lossy, count, count.into()));
    let verdict = |seen: &[Evidence]| {
        let found = Posterior::of(seen.to_vec(), None, 0).unwrap();
        (
            found.verdict(&streams(1)).unwrap(),
            found.path_file("cubic"),
        )
    };
    let (lost, _) = verdict(&seen);
    assert_eq!(lost.limit, Limit::Loss, "{lost:?}");
    let marked = seen.map(|one| Evidence {
        marks: Some(Marks {
            signals: one.parts.iter().filter_map(|part| part.lost).sum(),
            echoed: 0.0123,
            resent: 0,
        }),
        ..one
    });
    let (marked, file) = verdict(&marked);
    assert_eq!(marked.limit, Limit::Marks, "{marked:?}");
    let told = "with 1.2 % of the segments the receiver told of marks, and none was sent again";
    assert!(marked.because.contains(told), "{marked:?}");
    use Limit::{Loss, Policer, ShallowQueue};
    let of_losses = |limit: &Limit| [Loss, Policer, ShallowQueue].contains(limit);
    assert!(!marked.or.iter().any(of_losses), "{marked:?}");
    let read = netpath::PathSpec::from_toml("inferred", &file).unwrap();
    assert!(
        read.hosts.ecn && file.contains("kind = \"codel\""),
        "{file}"
    );
}

/// What a far end may say: any figure, in any proportion.
fn any_reading(draw: &mut Draw) -> Evidence {
    let count = 1 + (draw.uniform() * 8.0) as usize;
    let rate = draw.log_uniform(1e-3, 1e13);
    let part = |draw: &mut Draw| Part {
        rate: draw.mostly(0.2, 0.0, |draw| rate * draw.log_uniform(1e-3, 1e3)),
        lost: draw
            .happens(0.7)
            .then(|| draw.log_uniform(1.0, 1e9).floor() - 1.0),
        rtt: draw.happens(0.7).then(|| draw.log_uniform(1e-9, 1e3)),
    };
    let held = [
        None,
        Some(Held::Program(
            draw.mostly(0.3, 0.0, |draw| draw.log_uniform(1.0, 1e12)),
        )),
        Some(Held::Processor(0.0)),
        Some(Held::ReceiveBuffer(draw.log_uniform(1.0, 1e12))),
        Some(Held::Reordering),
    ];
    let together = draw.log_uniform(1.0, 128.0) as u32;
    let run = streams(together);
    Evidence {
        run: Run {
            control: [Control::Cubic, Control::Reno, Control::Rate]
                [(3.0 * draw.uniform()) as usize],
            joined: (draw.uniform() * f64::from(together)) as u32,
            window: draw.happens(0.3).then(|| draw.log_uniform(1.0, 1e12)),
            pacing: draw.happens(0.2).then(|| draw.log_uniform(1.0, 1e12)),
            seconds: draw.log_uniform(1e-6, 1e4),
            ..run
        },
        parts: (0..count).map(|_| part(draw)).collect(),
        segment: draw.log_uniform(16.0, 65e3),
        rtt_min: draw.happens(0.9).then(|| draw.log_uniform(1e-9, 1e3)),
        idle_wait: draw.happens(0.5).then(|| draw.log_uniform(1e-9, 1e3)),
        held: held[(5.0 * draw.uniform()) as usize],
        marks: draw.happens(0.3).then(|| Marks {
            signals: draw.log_uniform(1e-3, 1e9),
            echoed: draw.uniform(),
            resent: draw.log_uniform(1.0, 1e9) as u64,
        }),
        on_way: draw.log_uniform(1.0, 1e12),
        settled: draw.log_uniform(1.0, 1e12),
    }
}

#[test]
fn no_reading_upsets_an_inference() {
    for seed in 0..10 {
        let mut draw = Draw::new(seed);
        let seen: Vec<Evidence> = (0..1 + seed % 3).map(|_| any_reading(&mut draw)).collect();
        let what = seen[0].run;
        let Some(found) = Posterior::of(seen, None, seed) else {
            continue;
        };
        let verdict = found.verdict(&what);
        let promise = found.promise(&what);
        assert!(
            promise.goodput.iter().all(|one| one.is_finite()),
            "seed {seed}"
        );
        assert!(
            verdict.is_some_and(|one| !one.because.contains("NaN")),
            "seed {seed}"
        );
        let file = found.path_file("cubic");
        let read = netpath::PathSpec::from_toml("any", &file);
        assert!(read.is_ok(), "seed {seed}: {read:?}\n{file}");
    }
}

#[test]
fn few_round_trips_beside_others_say_little_of_a_minute() {
    let path = Path {
        rtt: 0.1,
        others: 6.0,
        ..path()
    };
    let promised = |residual: f64| {
        let mut posterior = Posterior::of(vec![sampled(&path, 8, 1)], None, 5).unwrap();
        for particle in &mut posterior.particles {
            particle.path = path;
            let what = sampled(&path, 8, 1).run;
            let error = Error::of(&path, &what, &run(&path, &what, 8, 1));
            particle.residuals = vec![Residual {
                log: residual,
                error,
            }];
        }
        posterior.promise(&streams(8)).quantile(0.5)
    };
    // A sample of 4 s carried half of what rounds say: rounds are wrong by as much about a start.
    let shown = promised(-std::f64::consts::LN_2) / promised(0.0);
    assert!((0.85..1.0).contains(&shown), "{shown}");
}

#[test]
fn no_sentence_says_that_a_link_carries_less_than_a_row_shows() {
    let mut seen = [1, 8, 32].map(|count| sampled(&path(), count, u64::from(count)));
    // Short runs whose settled part was faster than the link, as where a hole was filled.
    seen[1].settled = 1.06 * path().rate;
    let found = Posterior::of(seen.to_vec(), None, 1).unwrap();
    let because = found.verdict(&streams(8)).unwrap().because;
    assert!(because.contains("to 53.0 Mbit/s"), "{because}");
}

#[test]
fn a_full_link_is_known_by_what_it_carried() {
    let path = Path {
        rtt: 0.16,
        loss: 1e-4,
        queue: 4.0 * path().queue,
        ..path()
    };
    let seen = vec![
        sampled(&path, 1, 1),
        sampled(&path, 8, 2),
        sampled(&path, 32, 3),
    ];
    let carried = seen.iter().map(|one| one.goodput(0)).fold(0.0, f64::max);
    let found = Posterior::of(seen, None, 1).unwrap();
    let rate = |share| found.quantile(|path| path.rate, share) / path.rate;
    assert!(rate(0.05) * path.rate > 0.95 * carried);
    assert!((0.97..1.03).contains(&rate(0.5)), "{}", rate(0.5));
    assert!(rate(0.95) - rate(0.05) < 0.12);
}

/// What packets carry on such paths (`sim`, 60 s), as shares of the link.
#[test]
fn few_windows_on_a_short_path_outgrow_its_queue_many_times_a_second() {
    let short = Path {
        rate: 53e6,
        rtt: 9e-3,
        queue: 4.0 * 1448.0,
        ..path()
    };
    let reno = Run {
        control: Control::Reno,
        ..streams(1)
    };
    let once = |path: &Path, seed| run(path, &reno, 1, seed).goodput(0) / path.rate;
    let share = |path| (0..10).map(|seed| once(path, seed)).sum::<f64>() / 10.0;
    assert!((0.7..0.87).contains(&share(&short)), "{}", share(&short));
    let deep = Path {
        rate: 13e6,
        rtt: 0.026,
        queue: 54e3,
        ..path()
    };
    assert!(share(&deep) > 0.97, "{}", share(&deep));
}

/// Packets (`sim`, 10 s) carry 28 Mbit/s so, and from 25.9 to 31.7 in single parts.
#[test]
fn a_policer_saves_what_it_does_not_carry() {
    let policed = Path {
        rate: 29e6,
        rtt: 0.02,
        queue: 150e3,
        standing: 0.0,
        ..path()
    };
    let what = Run {
        seconds: 10.0,
        ..streams(1)
    };
    let trace = run(&policed, &what, 25, 1);
    let share = trace.goodput(1) / policed.rate;
    assert!((0.93..1.0).contains(&share), "{share}");
    let fastest = trace.bins.iter().map(|bin| bin.rate).fold(0.0, f64::max);
    assert!(fastest > 1.03 * policed.rate, "{fastest}");
    assert!(trace.rtt(0) <= policed.rtt);
}

#[test]
fn bbr_drains_long_paths_for_longer() {
    let share = |rtt: f64| {
        let path = Path {
            rtt,
            queue: 3.0 * path().rate / 8.0 * rtt,
            window: 1e9,
            ..path()
        };
        let bbr = Run {
            control: Control::Rate,
            ..streams(2)
        };
        let trace = run(&path, &bbr, 12, 1);
        trace.goodput(4) / path.rate
    };
    assert!((0.97..0.99).contains(&share(0.02)), "{}", share(0.02));
    assert!((0.92..0.96).contains(&share(0.4)), "{}", share(0.4));
}

#[test]
fn samples_that_scatter_widen_what_is_promised() {
    let half = |factors: [f64; 4], seed: u64| {
        let sample = |(number, factor): (u64, f64)| {
            let mut seen = sampled(&path(), 8, 10 * seed + number);
            seen.parts.iter_mut().for_each(|part| part.rate *= factor);
            seen
        };
        let seen = (0..).zip(factors).map(sample).collect();
        let found = Posterior::of(seen, None, seed).unwrap();
        let promise = found.promise(&streams(8));
        (promise.quantile(0.975) - promise.quantile(0.025)) / 2.0 / path().rate
    };
    let all = |factors: [f64; 4]| (0..4).map(|seed| half(factors, seed)).sum::<f64>();
    let (even, uneven) = (all([1.0; 4]), all([0.95, 1.0, 0.92, 0.98]));
    assert!(uneven > 1.5 * even, "{even} and {uneven}");
}
