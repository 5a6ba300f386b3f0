//! The figures of a sweep.
//!
//! Reading order: `against.rs` with `curves.rs` (most of them), then one file for each other
//! figure.

mod against;
mod curves;
mod delay;
mod duration;
pub mod goodput;
mod map;
mod price;
mod processor;
mod variability;

pub use curves::streams_axis;

use super::groups::Group;
use draw::chart::Chart;
use draw::page::Block;

/// With more visits than this, clouds of dots show each setting's medians instead.
const CLOUD_MAX: usize = 1500;

/// A figure, or the reason why there is none: a sentence.
enum Drawing {
    Drawn(Block),
    LeftOut(String),
}

/// The figures of one group below its name, and a sentence for each figure that cannot be drawn.
pub fn section(group: &Group<'_>) -> Vec<Block> {
    let mut blocks = Vec::new();
    if group.is_apart() {
        blocks.push(Block::heading(&group.name));
    }
    if group.count() == 0 {
        blocks.push(Block::note(
            "No visit was measured, so there is nothing to draw.",
        ));
        return blocks;
    }
    let drawings = [
        against::goodput_and_its_price(group),
        map::map(group),
        delay::delay(group),
        price::against_goodput(group),
        price::against_streams(group),
        goodput::histogram(group),
        goodput::cumulated(group),
        variability::histogram(group),
        variability::cumulated(group),
        processor::against_goodput(group),
        processor::against_streams(group),
        against::sharing(group),
        duration::duration(group),
    ];
    let is_drawn = |drawing: &Drawing| matches!(drawing, Drawing::Drawn(_));
    let (drawn, left_out): (Vec<Drawing>, Vec<Drawing>) = drawings.into_iter().partition(is_drawn);
    let block = |drawing| match drawing {
        Drawing::Drawn(figure) => figure,
        Drawing::LeftOut(reason) => Block::note(reason),
    };
    blocks.extend(drawn.into_iter().chain(left_out).map(block));
    blocks
}

/// A figure of `group` with its name and caption.
fn figure(group: &Group<'_>, name: &str, chart: Chart, caption: String) -> Drawing {
    let caption = match group.name.as_str() {
        "" => caption,
        apart => format!("{caption} These visits: {apart}."),
    };
    let name = format!("{name}{}", group.suffix);
    Drawing::Drawn(Block::figure(name, caption, chart))
}

#[cfg(test)]
mod tests;
