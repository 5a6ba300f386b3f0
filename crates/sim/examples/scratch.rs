use sim::*;
use std::collections::HashMap;
fn main() {
    let o: HashMap<String, String> = std::env::args()
        .skip(1)
        .map(|a| {
            let (k, v) = a.split_once('=').unwrap();
            (k.into(), v.into())
        })
        .collect();
    let g = |k: &str, d: f64| o.get(k).map_or(d, |v| v.parse().unwrap());
    let compat = g("compat", 1.0) > 0.0;
    let hdr = if compat { 40 } else { 52 };
    let mut text = format!(
        "[forward]\nrate=\"{}bit/s\"\ndelay=\"{}us\"\nqueue={{kind=\"drop-tail\",limit=\"{}packets\"}}\n",
        g("rate", 100e6),
        g("rtt", 0.04) / 2.0 * 1e6,
        g("q", 100.0)
    );
    if g("p", 0.0) > 0.0 {
        text += &format!("loss={{kind=\"random\",rate={}}}\n", g("p", 0.0));
    }
    text += &format!(
        "[hosts]\nmtu={}\nsend_buffer_max=\"1GiB\"\nreceive_buffer_max=\"1GiB\"\n",
        g("mss", 1460.0) + hdr as f64
    );
    if g("ncross", 0.0) > 0.0 {
        text += &format!(
            "[[cross]]\nstreams={}\nwindow=\"64KiB\"\n",
            g("ncross", 0.0)
        );
    }
    let path = path::PathSpec::from_toml("x", &text).unwrap();
    let mut s = Scenario::new(path.clone()).unwrap();
    s.streams = g("n", 1.0) as u32;
    if g("win", 0.0) > 0.0 {
        s.window = Some(units::Bytes::new((g("win", 0.0) * g("mss", 1460.0)) as u64));
    }
    s.variant = o.get("tcp").map_or(Variant::Sack, |v| v.parse().unwrap());
    s.duration = units::Span::from_secs_f64(g("dur", 100.0));
    s.warmup = units::Span::from_secs_f64(g("warm", 20.0));
    if g("xfer", 0.0) > 0.0 {
        s.work = Work::Striped(units::Bytes::new(g("xfer", 0.0) as u64));
        s.warmup = units::Span::ZERO;
        s.duration = units::Span::from_secs(20000);
    }
    s.tcp = if compat {
        TcpSettings::ns2(&path)
    } else {
        TcpSettings::linux(&path)
    };
    if o.contains_key("jitter") {
        s.tcp.send_jitter = units::Span::from_micros(g("jitter", 0.0) as u64);
    }
    if o.contains_key("access") {
        s.tcp.access = None;
    }
    if o.contains_key("keep") {
        s.tcp.timeout_forgets = false;
    }
    let seeds: Vec<u64> = o.get("seeds").map_or(vec![1], |v| {
        v.split(',').map(|x| x.parse().unwrap()).collect()
    });
    let n = seeds.len() as f64;
    let (mut gp, mut gp2, mut cr, mut dr, mut to, mut c, mut c2, mut rx) =
        (0., 0., 0., 0., 0., 0., 0., 0.);
    let mut jain = 0.0;
    let mut last = None;
    for seed in seeds {
        s.seed = seed;
        let r = run(&s).unwrap();
        let per: Vec<f64> = r.streams.iter().map(|x| x.goodput.as_f64() / 1e6).collect();
        let sum: f64 = per.iter().sum();
        gp += sum / n;
        gp2 += sum * sum / n;
        cr += r
            .cross
            .iter()
            .map(|x| x.goodput.as_f64() / 1e6)
            .sum::<f64>()
            / n;
        dr += r.drops.total() as f64 / n;
        to += r.streams.iter().map(|x| x.timeouts as f64).sum::<f64>() / n;
        rx += r
            .streams
            .iter()
            .map(|x| x.retransmitted as f64)
            .sum::<f64>()
            / n;
        jain += stats::jain_index(&per).unwrap_or(0.0) / n;
        let done = r.completion.map_or(f64::NAN, |x| x.as_secs_f64());
        c += done / n;
        c2 += done * done / n;
        last = Some(r);
    }
    let r = last.unwrap();
    println!(
        "goodput={gp:.3} sd={:.3} cross={cr:.3} jain={jain:.4} drops={dr:.1} rexmit={rx:.1} timeouts={to:.1} completion={c:.3} sd={:.3} packets={} events={} util={:.4}",
        (gp2 - gp * gp).max(0.).sqrt(),
        (c2 - c * c).max(0.).sqrt(),
        r.work.data_packets,
        r.work.events,
        r.utilisation
    );
}
