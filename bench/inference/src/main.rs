//! How well an inferred path agrees with the path that made the samples.

use std::time::Instant;

use inference::{Evidence, Posterior, of_setting};
use netpath::PathSpec;
use observe::{SamplePlan, Setting, StreamCount, Target, Then, Window};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use target::SimulatedPath;
use units::{Bytes, Span};

struct Draw(Pcg64);
impl Draw {
    fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }
    fn log(&mut self, low: f64, high: f64) -> f64 {
        low * (high / low).powf(self.uniform())
    }
}

fn text(seed: u64) -> (String, String) {
    let mut draw = Draw(Pcg64::seed_from_u64(seed));
    let rate = draw.log(1e7, 3e8);
    let rtt = draw.log(5e-3, 0.3);
    let product = rate * rtt / 8.0 / 1500.0;
    let kind = seed % 8;
    let products = match kind {
        1 => draw.log(0.02, 0.15),
        _ => draw.log(0.3, 3.0),
    };
    let queue = (products * product).round().max(5.0);
    let mut forward = format!(
        "[forward]\nrate = \"{rate:.0}bit/s\"\ndelay = \"{:.0}us\"\n",
        rtt / 2.0 * 1e6
    );
    forward += &match kind {
        5 => format!(
            "queue = {{ kind = \"codel\", limit = \"{:.0}packets\" }}\n",
            queue.max(100.0)
        ),
        _ => format!("queue = {{ kind = \"drop-tail\", limit = \"{queue}packets\" }}\n"),
    };
    let mut name = [
        "deep",
        "short",
        "loss",
        "loss+short",
        "buffer",
        "codel",
        "others",
        "lossy",
    ][kind as usize]
        .to_owned();
    if matches!(kind, 2 | 3 | 7) {
        let loss = draw.log(1e-5, if kind == 7 { 2e-2 } else { 2e-3 });
        forward += &format!("loss = {{ kind = \"random\", rate = {loss:e} }}\n");
        name += &format!(" p={loss:.1e}");
    }
    let buffer = if kind == 4 {
        2f64.powf(6.0 + draw.uniform() * 5.0).round()
    } else {
        65_536.0
    };
    forward += &format!(
        "[hosts]\nmtu = 1500\ncongestion = \"cubic\"\nsend_buffer_max = \"{:.0}KiB\"\nreceive_buffer_max = \"{buffer}KiB\"\n",
        65536.0
    );
    if kind == 6 {
        let n = (1.0 + draw.uniform() * 10.0).floor();
        forward += &format!("[[cross]]\nstreams = {n}\nwindow = \"32MiB\"\n");
        name += &format!(" n={n}");
    }
    (
        forward,
        format!(
            "{name} {:.0}Mbit {:.0}ms q={products:.2}",
            rate / 1e6,
            rtt * 1e3
        ),
    )
}

fn searches(from: u64, to: u64) {
    let objectives = [
        ("knee", tune::Objective::Knee { share: 0.9 }),
        ("max", tune::Objective::Max),
    ];
    for (name, objective) in objectives {
        let (mut rows, mut kept, mut inside, mut near, mut both, mut seconds, mut clock) =
            (0.0, 0.0, 0.0, 0.0, 0.0, Vec::new(), 0.0);
        for seed in from..to {
            let (text, label) = text(seed);
            let spec = PathSpec::from_toml("x", &text).unwrap();
            let mut target = SimulatedPath::new(&spec, seed);
            let plan = tune::TunePlan {
                objective,
                controls: if std::env::var("KEPT").is_ok() {
                    tune::Controls::Kept
                } else {
                    tune::Controls::WhereLosing
                },
                ..tune::TunePlan::default()
            };
            let began = Instant::now();
            let tuning = match tune::tune(&mut target, &plan, &mut ()) {
                Ok(t) => t,
                Err(e) => {
                    println!("{seed} {label}: {e}");
                    continue;
                }
            };
            let took = began.elapsed().as_secs_f64();
            let Some(answer) = tuning.answer() else {
                println!("{seed} {label} no answer");
                continue;
            };
            let truth = |setting: &Setting| {
                let mut scenario = target.scenario(setting, 91).unwrap();
                scenario.duration = Span::from_secs(60);
                [91u64, 92]
                    .map(|seed| {
                        scenario.seed = seed;
                        sim::run(&scenario)
                            .unwrap()
                            .streams
                            .iter()
                            .map(|s| s.acknowledged.as_f64() * 8.0 / 60.0)
                            .sum::<f64>()
                    })
                    .iter()
                    .sum::<f64>()
                    / 2.0
            };
            let grid: Vec<(u64, f64)> = [1u64, 2, 4, 8, 16, 32, 64]
                .into_iter()
                .map(|n| {
                    (
                        n,
                        truth(&Setting::new(StreamCount::new(n).unwrap(), Window::Auto)),
                    )
                })
                .collect();
            let best = grid.iter().map(|g| g.1).fold(0.0, f64::max);
            let fewest = grid.iter().find(|g| g.1 >= 0.88 * best).unwrap().0;
            let chosen = &answer.recommended;
            let given = truth(&chosen.setting);
            let promise = chosen.promise;
            let interval = promise
                .interval
                .map(|i| (i.low.as_f64(), i.high.as_f64()))
                .unwrap_or((0.0, 0.0));
            let is_in = given >= interval.0 && given <= interval.1;
            let ratio = given / promise.goodput.as_f64();
            let is_near = given >= 0.98 * best;
            let is_both =
                given >= 0.88 * best && u64::from(chosen.setting.streams.get()) <= 2 * fewest;
            rows += 1.0;
            kept += f64::from(u8::from(ratio >= 0.9));
            inside += f64::from(u8::from(is_in));
            near += f64::from(u8::from(is_near));
            both += f64::from(u8::from(is_both));
            seconds.push(tuning.cost.elapsed.as_secs_f64());
            clock += took;
            let flag = format!(
                "{}{}{}{}",
                if ratio < 0.9 { " BROKEN" } else { "" },
                if is_in { "" } else { " OUT" },
                if name == "max" && !is_near {
                    " LOW"
                } else {
                    ""
                },
                if name == "knee" && !is_both {
                    " KNEE"
                } else {
                    ""
                }
            );
            println!(
                "{name} {seed} {label}: {} x {} {} promise {:.1} [{:.1} {:.1}] given {:.1} of {:.1} (fewest {fewest}) {} samples {:.1} s clock {took:.2} default {} / {}{flag}",
                chosen.setting.streams,
                chosen.setting.window,
                chosen.setting.congestion.clone().unwrap_or_default(),
                promise.goodput.as_f64() / 1e6,
                interval.0 / 1e6,
                interval.1 / 1e6,
                given / 1e6,
                best / 1e6,
                tuning.samples.len(),
                tuning.cost.elapsed.as_secs_f64(),
                answer.limit_default.limit,
                answer.limit_recommended.limit
            );
            if std::env::var("LOUD").is_ok() {
                for s in &tuning.samples {
                    println!(
                        "      {} x {} {}: {:.1} {:.1}s {}",
                        s.setting.streams,
                        s.setting.window,
                        s.setting.congestion.clone().unwrap_or_default(),
                        s.goodput().mean.as_f64() / 1e6,
                        s.observation.duration.as_secs_f64(),
                        s.why
                    );
                }
                println!(
                    "      {} | {}",
                    answer.limit_default.because, answer.recommended.because
                );
            }
        }
        seconds.sort_by(f64::total_cmp);
        println!(
            "== {name}: kept {:.2} inside {:.2} near {:.2} both {:.2} seconds {:.1} / {:.1} clock {:.2}",
            kept / rows,
            inside / rows,
            near / rows,
            both / rows,
            seconds[seconds.len() / 2],
            seconds[seconds.len() * 9 / 10],
            clock / rows
        );
    }
}

fn main() {
    if std::env::var("TUNE").is_ok() {
        let args: Vec<u64> = std::env::args()
            .skip(1)
            .filter_map(|a| a.parse().ok())
            .collect();
        return searches(args[0], args[1]);
    }
    let args: Vec<u64> = std::env::args()
        .skip(1)
        .filter_map(|a| a.parse().ok())
        .collect();
    let (from, to) = (
        args.first().copied().unwrap_or(0),
        args.get(1).copied().unwrap_or(24),
    );
    let (mut all, mut inside, mut total, mut close) = (0.0, 0.0, 0.0, 0.0);
    let mut kept = 0.0;
    for seed in from..to {
        let (text, label) = text(seed);
        let spec = PathSpec::from_toml("x", &text).unwrap();
        let mut target = SimulatedPath::new(&spec, seed);
        let rtt = spec.base_rtt().as_secs_f64();
        let mut evidence = Vec::new();
        for (index, streams) in [1u64, 4, 16].into_iter().enumerate() {
            let setting = Setting::new(StreamCount::new(streams).unwrap(), Window::Auto);
            let plan = SamplePlan {
                then: Then::Stop,
                unloaded: if index == 0 {
                    Span::from_secs(1)
                } else {
                    Span::ZERO
                },
                ..SamplePlan::lasting(Span::from_secs_f64((25.0 * rtt).clamp(3.0, 6.0)))
            };
            let seen = target.observe(&setting, &plan, &mut ()).unwrap();
            evidence.extend(Evidence::of(&seen, Some("cubic")));
        }
        let told = [
            spec.hosts.forward().receive.as_f64() * 0.625,
            spec.hosts.forward().send.as_f64() * 0.97,
        ];
        if std::env::var("TRUTH").is_ok() {
            let loss = spec.forward.loss.mean_rate();
            let others = spec.cross.first().map_or(0.0, |c| match c.traffic {
                netpath::CrossTraffic::Streams { streams, .. } => f64::from(streams),
                _ => 0.0,
            });
            let queue = match spec.forward.queue.limit() {
                netpath::QueueLimit::Packets(p) => f64::from(p) * 1448.0,
                netpath::QueueLimit::Bytes(b) => b.as_f64(),
            };
            let truth = inference::Path {
                rate: spec.forward.rate.as_f64() * 1448.0 / 1500.0,
                rtt,
                queue,
                standing: 1.0,
                loss,
                run: 1.0,
                others,
                swing: 0.0,
                swing_every: 1.0,
                window: 1e9,
                per_stream: f64::INFINITY,
                hosts: f64::INFINITY,
                segment: 1448.0,
            };
            println!("{seed} {label} rtt_min {:?}", evidence[0].rtt_min);
            for e in &evidence {
                let shown = inference::run(&truth, &e.run, e.parts.len(), 5);
                println!(
                    "  {} seen  {:?}",
                    e.run.streams,
                    e.parts
                        .iter()
                        .map(|p| format!(
                            "{:.1}/{:.0}/{:.0}",
                            p.rate / 1e6,
                            p.lost.unwrap_or(-1.0),
                            p.rtt.unwrap_or(0.0) * 1e3
                        ))
                        .collect::<Vec<_>>()
                        .join(" ")
                );
                println!(
                    "  {} shown {:?}",
                    e.run.streams,
                    shown
                        .bins
                        .iter()
                        .map(|p| format!("{:.1}/{:.0}/{:.0}", p.rate / 1e6, p.lost, p.rtt * 1e3))
                        .collect::<Vec<_>>()
                        .join(" ")
                );
            }
            continue;
        }
        let began = Instant::now();
        let Some(posterior) = Posterior::of(evidence.clone(), Some(told[0].min(told[1])), seed)
        else {
            println!("{seed} {label}: nothing");
            continue;
        };
        let took = began.elapsed().as_secs_f64();
        let began = Instant::now();
        let quantile = |f: &dyn Fn(&inference::Path) -> f64, share: f64| {
            let mut v: Vec<f64> = posterior.particles.iter().map(|p| f(&p.path)).collect();
            v.sort_by(f64::total_cmp);
            v[(share * (v.len() - 1) as f64) as usize]
        };
        let range = |f: &dyn Fn(&inference::Path) -> f64| {
            format!(
                "{:.3}..{:.3}..{:.3}",
                quantile(f, 0.05),
                quantile(f, 0.5),
                quantile(f, 0.95)
            )
        };
        let binding = posterior.binding(&of_setting(
            &Setting::new(StreamCount::ONE, Window::Auto),
            Some("cubic"),
        ));
        println!(
            "{seed} {label}: rate {} of {:.1}; queue/bdp {}; loss {:.1e}..{:.1e}; others {}; swing {}  [{took:.2} s]",
            range(&|p| p.rate / 1e6),
            spec.forward.rate.as_f64() * 1448.0 / 1500.0 / 1e6,
            range(&|p| p.queue / p.product()),
            quantile(&|p| p.loss, 0.1),
            quantile(&|p| p.loss, 0.9),
            range(&|p| p.others),
            range(&|p| p.swing)
        );
        for b in binding.iter().take(2) {
            print!(
                "    {} {:.2} without {:.1};",
                b.limit,
                b.probability,
                b.without / 1e6
            );
        }
        println!();
        for streams in [1u64, 2, 4, 8, 16, 32] {
            let setting = Setting::new(StreamCount::new(streams).unwrap(), Window::Auto);
            let promise = posterior.promise(&of_setting(&setting, Some("cubic")));
            let mut scenario = target.scenario(&setting, 91).unwrap();
            scenario.duration = Span::from_secs(60);
            let mut truth = 0.0;
            for seed in [91, 92] {
                scenario.seed = seed;
                truth += sim::run(&scenario)
                    .unwrap()
                    .streams
                    .iter()
                    .map(|s| s.acknowledged.as_f64() * 8.0 / 60.0)
                    .sum::<f64>()
                    / 2.0;
            }
            let (mean, low, high) = (
                promise.quantile(0.5),
                promise.quantile(0.025),
                promise.quantile(0.975),
            );
            let is_in = truth >= low && truth <= high;
            let seen = evidence
                .iter()
                .find(|e| u64::from(e.run.streams) == streams)
                .map(|e| e.goodput() / 1e6);
            print!(
                "    {streams}: {:.1} [{:.1} {:.1}] true {:.1}{}{}",
                mean / 1e6,
                low / 1e6,
                high / 1e6,
                truth / 1e6,
                if is_in { "" } else { " OUT" },
                seen.map_or(String::new(), |s| format!(" seen {s:.1}"))
            );
            total += 1.0;
            inside += f64::from(u8::from(is_in));
            close += f64::from(u8::from((truth / mean).ln().abs() < 0.105));
            kept += f64::from(u8::from(truth / mean >= 0.9));
        }
        println!();
        all += took;
        let _ = (began, Bytes::ZERO);
    }
    println!(
        "inside {:.2}, within 10 % {:.2}, kept {:.2}; {:.2} s each",
        inside / total,
        close / total,
        kept / total,
        all / (to - from) as f64
    );
}
