//! Rounds beside packets: goodput of random runs on random paths, as ratios.

use inference::{Control, Path, Run, run};
use netpath::PathSpec;
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use sim::{Scenario, Variant};
use units::{Bytes, Span};

fn main() {
    let count: u64 = std::env::args()
        .nth(1)
        .and_then(|n| n.parse().ok())
        .unwrap_or(60);
    let mut rng = Pcg64::seed_from_u64(7);
    let mut uniform = || (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
    let mut rows: Vec<(String, f64, f64, f64)> = Vec::new();
    let (mut t_rounds, mut t_sim) = (0.0, 0.0);
    for number in 0..count {
        let rate = 1e7 * 10f64.powf(uniform() * 1.3);
        let rtt = 5e-3 * 60f64.powf(uniform());
        let products = 0.02 * 150f64.powf(uniform());
        let has_loss = uniform() < 0.5;
        let loss = if has_loss {
            1e-5 * 1e3f64.powf(uniform())
        } else {
            0.0
        };
        let streams = [1u32, 2, 4, 8, 16, 32][(uniform() * 6.0) as usize];
        let control = [
            Variant::of_kernel("cubic").unwrap(),
            Variant::of_kernel("cubic").unwrap(),
            Variant::of_kernel("reno").unwrap(),
            Variant::of_kernel("bbr").unwrap(),
        ][(uniform() * 4.0) as usize];
        let queue = (products * rate * rtt / 8.0 / 1500.0).round().max(4.0);
        let seconds = [4.0, 60.0][(uniform() * 2.0) as usize];
        let text = format!(
            "[forward]\nrate = \"{:.0}bit/s\"\ndelay = \"{:.0}us\"\nqueue = {{ kind = \"drop-tail\", limit = \"{queue}packets\" }}\n{}[hosts]\nmtu=1500\ncongestion=\"cubic\"\nsend_buffer_max = \"64MiB\"\nreceive_buffer_max = \"64MiB\"\n",
            rate,
            rtt / 2.0 * 1e6,
            if has_loss {
                format!("loss = {{ kind = \"random\", rate = {loss:e} }}\n")
            } else {
                String::new()
            }
        );
        let spec = PathSpec::from_toml("x", &text).unwrap();
        let mut scenario = Scenario::of(spec, control);
        scenario.streams = streams;
        scenario.duration = Span::from_secs_f64(seconds);
        scenario.window = Some(Bytes::from_mib(32));
        let began = std::time::Instant::now();
        let mut truth = Vec::new();
        let mut lost_true = 0.0;
        for seed in 1..=2 {
            scenario.seed = seed;
            let result = sim::run(&scenario).unwrap();
            truth.push(
                result
                    .streams
                    .iter()
                    .map(|s| s.acknowledged.as_f64())
                    .sum::<f64>()
                    * 8.0
                    / seconds,
            );
            lost_true += result
                .streams
                .iter()
                .map(|s| s.retransmitted as f64)
                .sum::<f64>()
                / 2.0;
        }
        t_sim += began.elapsed().as_secs_f64();
        let truth = (truth[0] + truth[1]) / 2.0;
        let path = Path {
            rate: rate * 1448.0 / 1500.0,
            rtt,
            queue: queue * 1448.0,
            standing: 1.0,
            loss,
            run: 1.0,
            others: 0.0,
            swing: 0.0,
            swing_every: 1.0,
            window: 32e6,
            per_stream: f64::INFINITY,
            hosts: f64::INFINITY,
            segment: 1448.0,
        };
        let kind = if control == Variant::of_kernel("cubic").unwrap() {
            Control::Cubic
        } else if control == Variant::of_kernel("reno").unwrap() {
            Control::Reno
        } else {
            Control::Rate
        };
        let one = Run {
            streams,
            joined: 0,
            window: None,
            control: kind,
            pacing: None,
            seconds,
        };
        let began = std::time::Instant::now();
        let traces: Vec<_> = (0..10).map(|seed| run(&path, &one, 6, seed)).collect();
        t_rounds += began.elapsed().as_secs_f64() / 10.0;
        let ours = traces.iter().map(|t| t.goodput(0)).sum::<f64>() / 10.0;
        let lost = traces.iter().map(|t| t.lost(0)).sum::<f64>() / 10.0;
        let label = format!(
            "{kind:?} n={streams} {:.0}Mbit {:.0}ms q={products:.2}bdp({queue}) p={loss:.1e} {seconds}s lost {lost_true:.0} ours {lost:.0} util {:.2} ours {:.2}",
            rate / 1e6,
            rtt * 1e3,
            truth / path.rate,
            ours / path.rate
        );
        rows.push((label, ours / truth, truth, lost / lost_true.max(0.5)));
        let _ = number;
    }
    rows.sort_by(|a, b| a.1.total_cmp(&b.1));
    for row in &rows {
        println!("{:.2}  {}", row.1, row.0);
    }
    let within = |share: f64| {
        rows.iter()
            .filter(|r| (r.1.ln()).abs() < (1.0f64 + share).ln())
            .count() as f64
            / rows.len() as f64
    };
    println!(
        "within 10 %: {:.2}, 20 %: {:.2}, 40 %: {:.2}; rounds {t_rounds:.3} s, packets {t_sim:.1} s",
        within(0.1),
        within(0.2),
        within(0.4)
    );
}
