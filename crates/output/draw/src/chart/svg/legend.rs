//! What the colours mean, in rows above the data.

use plotters::element::{Circle, Cross, PathElement, Rectangle};
use plotters::style::Color;
use plotters::style::text_anchor::HPos;

use super::canvas::{Area, WIDTH, text, text_width};
use crate::chart::palette::INK;
use crate::chart::{ChartError, Entry, Mark};

const ROW: i32 = 46;
const LEFT: i32 = 128;
const SWATCH: i32 = 44;
const GAP: i32 = 36;

/// Where each entry goes: left end and row.
fn places(entries: &[Entry]) -> Vec<(i32, i32)> {
    let (mut x, mut row) = (LEFT, 0);
    let mut place = |entry: &Entry| {
        let width = SWATCH + text_width(&entry.words) + GAP;
        if x > LEFT && x.saturating_add(width) > WIDTH as i32 {
            (x, row) = (LEFT, row + 1);
        }
        let here = (x, row);
        x = x.saturating_add(width);
        here
    };
    entries.iter().map(&mut place).collect()
}

/// How high the legend of `entries` is.
pub(super) fn height(entries: &[Entry]) -> i32 {
    places(entries).last().map_or(0, |(_, row)| row + 1) * ROW
}

/// Draws `entries` at the top of `area` and gives back what is left below them.
pub(super) fn legend<'a>(area: &Area<'a>, entries: &[Entry]) -> Result<Area<'a>, ChartError> {
    for (entry, (x, row)) in entries.iter().zip(places(entries)) {
        draw(area, entry, (x, row * ROW + ROW / 2))?;
    }
    let (_, below) = area.split_vertically(height(entries));
    Ok(below)
}

fn draw(area: &Area<'_>, entry: &Entry, (x, y): (i32, i32)) -> Result<(), ChartError> {
    let middle = (x + 16, y);
    let drawn = match entry.mark {
        Mark::Area(colour) => area.draw(&Rectangle::new(
            [(x, y - 13), (x + 32, y + 13)],
            colour.filled(),
        )),
        Mark::Line(colour) => {
            let line = vec![(x, y), (x + 32, y)];
            area.draw(&PathElement::new(line, colour.stroke_width(5)))
        }
        Mark::Dashes(colour) => {
            let dash = |from: i32| {
                let line = vec![(x + from, y), (x + from + 8, y)];
                area.draw(&PathElement::new(line, colour.stroke_width(4)))
            };
            [0, 12, 24].into_iter().try_for_each(dash)
        }
        Mark::Dot(colour) => area.draw(&Circle::new(middle, 9, colour.filled())),
        Mark::Cross(colour) => area.draw(&Cross::new(middle, 8, colour.stroke_width(4))),
        Mark::Ring(colour) => area.draw(&Circle::new(middle, 13, colour.stroke_width(5))),
    };
    drawn.map_err(ChartError::from_drawing)?;
    let style = text(&INK, HPos::Left);
    area.draw_text(&entry.words, &style, (x + SWATCH, y))
        .map_err(ChartError::from_drawing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_wrap_before_the_edge() {
        let entries = vec![Entry::new(Mark::Line(INK), "x".repeat(30)); 8];
        let places = places(&entries);
        for ((x, _), entry) in places.iter().zip(&entries) {
            assert!(x + SWATCH + text_width(&entry.words) <= WIDTH as i32);
        }
        assert!(places.last().unwrap().1 > 0);
    }
}
