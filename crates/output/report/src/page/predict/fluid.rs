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
    let mut sentences = vec![summary(fluid)];
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

fn summary(fluid: &Fluid) -> String {
    let unknown = || "unknown".to_owned();
    let goodput = fluid.goodput.map_or_else(unknown, Rate::human);
    let loss = fluid.loss.map_or_else(unknown, format::percent);
    let wait = fluid
        .wait
        .map(|wait| format::milliseconds(wait.as_secs_f64()));
    let wait = wait.map_or_else(unknown, |wait| format!("{wait} ms"));
    let queue = fluid.queue_packets.map(format::three_digits);
    let queue = queue.map_or_else(unknown, |queue| format!("{queue} packets"));
    format!(
        "All flows together over the second half of {}: goodput {goodput}, loss {loss}, mean queue \
            {queue}, which adds {wait} to a round trip.",
        format::lasting(fluid.duration.as_secs_f64()),
    )
}
