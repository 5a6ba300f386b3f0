//! The page of one setting by the fluid model.

use draw::format::{self, or_absent};
use draw::page::{Block, Fact, Page};
use draw::words::sentence;
use record::FluidSimulation;

use crate::text::simulated;

pub fn page(body: &FluidSimulation) -> Page {
    let believe = "A fluid model in place of packets: without `--fluid` the same command simulates \
        them. A figure that was not found within 5 % of theirs is left out.";
    let reasons = body.outside.iter().map(|reason| sentence(reason));
    let blocks = vec![
        Block::About(body.path.description.clone()),
        Block::About(simulated::terms(&body.scenario)),
        Block::Facts(facts(body)),
        Block::Sentences([believe.to_owned()].into_iter().chain(reasons).collect()),
    ];
    Page::new("fluid", &body.path.name, blocks).subtitled(simulated::setting(&body.setting))
}

fn facts(body: &FluidSimulation) -> Vec<Fact> {
    let rate = |rate: Option<u64>| or_absent(rate, format::rate);
    let own = body.aggregate.goodput_bits_per_second;
    let each = own.map(|all| (all as f64 / f64::from(body.setting.streams.max(1))) as u64);
    let cross = &body.cross;
    let shared = (!cross.groups.is_empty()).then(|| {
        let all = rate(body.delivered_bits_per_second);
        let goodput = rate(cross.goodput_bits_per_second);
        Fact::new("cross", goodput).after(format!("; with the streams {all}"))
    });
    let taken = cross.taken_ratio.map(|share| {
        let alone = rate(cross.alone_bits_per_second);
        let after = format!(" of what the cross traffic gets alone, {alone}");
        Fact::new("taken", simulated::taken_share(share)).after(after)
    });
    let lost = body.lost_ratio.map(format::percent);
    let rtt = body.rtt.map(|rtt| format::milliseconds(rtt.mean_seconds));
    let queue = body
        .queue
        .map(|queue| format::three_digits(queue.mean_packets));
    let facts = [
        Some(Fact::new("goodput", rate(own)).after(format!(", {} each", rate(each)))),
        shared,
        taken,
        lost.map(|share| Fact::new("lost", share).after(" of the packets")),
        rtt.map(|mean| Fact::new("round trip", format!("{mean} ms")).after(" mean")),
        queue.map(|mean| Fact::new("queue", format!("{mean} packets")).after(" on average")),
        Some(Fact::new("cost", format::time(body.cost.cpu_seconds)).after(" of processor time")),
    ];
    facts.into_iter().flatten().collect()
}
