//! What the fluid model says of many flows by classes.

use draw::format::{self, RateUnit, or_absent};
use draw::page::{Block, Column, Row, Table};
use draw::words::sentence;
use record::predict::{Fluid, FluidClass};
use units::{Rate, Span};

/// What it says of each class, of all together, and of what it says nothing.
pub fn blocks(fluid: &Fluid) -> Vec<Block> {
    let mut blocks = vec![
        Block::heading("Many flows, by a fluid model"),
        Block::Table(classes(fluid)),
        Block::note(
            "Payload of all flows of a class and of one; lost: share of their packets; idle and \
                RTT: round trip without and with the queue; -: outside of what the model was \
                checked for.",
        ),
    ];
    let mut sentences: Vec<String> = summary(fluid).into_iter().collect();
    sentences.extend(fluid.outside.iter().map(|reason| sentence(reason)));
    blocks.push(Block::Sentences(sentences));
    blocks
}

fn classes(fluid: &Fluid) -> Table {
    let rates = fluid.classes.iter().filter_map(|class| class.goodput);
    let unit = RateUnit::fitting(rates.max().unwrap_or(Rate::ZERO).as_f64());
    let row = |class: &FluidClass| {
        let each = class.goodput.map(|all| all.as_f64() / class.flows as f64);
        Row::new([
            class.flows.to_string(),
            class.congestion.clone(),
            or_absent(class.goodput, |rate| unit.number(rate.as_f64())),
            or_absent(each, |rate| Rate::from_f64(rate).human()),
            or_absent(class.loss, format::percent),
            millis(Some(class.idle_rtt)),
            millis(class.rtt),
        ])
    };
    let columns = [
        Column::number("flows"),
        Column::words("control"),
        Column::number(unit.name),
        Column::number("of each"),
        Column::number("lost"),
        Column::number("idle ms"),
        Column::number("RTT ms"),
    ];
    Table::new(columns, fluid.classes.iter().map(row))
}

fn millis(span: Option<Span>) -> String {
    or_absent(span, |span| format::milliseconds(span.as_secs_f64()))
}

/// What is known of all flows together; nothing where no figure is.
fn summary(fluid: &Fluid) -> Option<String> {
    let queue = fluid.queue_packets.zip(fluid.wait).map(|(queue, wait)| {
        let queue = format::three_digits(queue);
        let wait = format::milliseconds(wait.as_secs_f64());
        format!("mean queue {queue} packets, which adds {wait} ms to a round trip")
    });
    let goodput = fluid
        .goodput
        .map(|rate| format!("goodput {}", rate.human()));
    let loss = fluid.loss.map(format::percent);
    let loss = loss.map(|share| format!("loss {share}"));
    let known: Vec<String> = [goodput, loss, queue].into_iter().flatten().collect();
    let over = fluid.duration.human();
    (!known.is_empty()).then(|| {
        format!(
            "All flows together over the second half of {over}: {}.",
            known.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentence_has_only_what_is_known() {
        let mut fluid = Fluid {
            duration: Span::from_secs(60),
            classes: Vec::new(),
            goodput: Some(Rate::from_bits_per_second(600_000_000)),
            loss: None,
            queue_packets: Some(120.0),
            wait: Some(Span::from_millis(15)),
            outside: Vec::new(),
        };
        let after = |fluid: &Fluid| {
            let said = summary(fluid)?;
            Some(said.split_once(": ")?.1.to_owned())
        };
        let both =
            "goodput 600 Mbit/s, mean queue 120 packets, which adds 15.0 ms to a round trip.";
        assert_eq!(after(&fluid).as_deref(), Some(both));
        (fluid.queue_packets, fluid.wait) = (None, None);
        assert_eq!(after(&fluid).as_deref(), Some("goodput 600 Mbit/s."));
        fluid.goodput = None;
        assert_eq!(summary(&fluid), None);
    }
}
