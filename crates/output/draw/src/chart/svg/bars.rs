//! Rows of labelled bars.

use plotters::element::{PathElement, Rectangle};
use plotters::style::text_anchor::HPos;
use plotters::style::{Color, RGBColor};

use super::canvas::{Area, WIDTH, text, text_width};
use crate::chart::palette::{GREY, INK};
use crate::chart::{BarRow, ChartError};
use crate::format;

const ROW: i32 = 96;
const BAR: i32 = 52;
/// Room for the value to the right of the longest bar.
const VALUE: i32 = 360;
/// Longer names are cut.
const NAME_CHARACTERS: usize = 34;
/// More rows than this are not drawn.
const ROWS_MAX: usize = 64;

impl BarRow {
    /// The height of all `rows`, in units of the drawing.
    pub(super) fn height(rows: &[BarRow]) -> i32 {
        i32::try_from(rows.len().clamp(1, ROWS_MAX)).unwrap_or(1) * ROW + 16
    }

    /// The largest value that is drawn.
    fn reach(&self) -> f64 {
        let ends = self.bars.iter().map(|(_, to, _)| *to);
        let ends = ends.chain(self.whisker.map(|(_, high)| high));
        ends.chain(self.mark.map(|(at, _)| at)).fold(0.0, f64::max)
    }
}

/// Where things stand across the sheet.
struct Layout {
    left: i32,
    units_per_value: f64,
}

pub(super) fn draw(area: &Area<'_>, rows: &[BarRow]) -> Result<(), ChartError> {
    let layout = Layout::of(rows);
    let mut rows = rows.iter().take(ROWS_MAX).zip(0_i32..);
    rows.try_for_each(|(row, place)| layout.row(area, row, place * ROW + ROW / 2))
}

impl Layout {
    fn of(rows: &[BarRow]) -> Self {
        let widest = rows.iter().map(|row| text_width(&short(&row.name))).max();
        let left = widest.unwrap_or(0) + 30;
        let longest = rows.iter().map(BarRow::reach).fold(1.0, f64::max);
        Layout {
            left,
            units_per_value: f64::from(WIDTH as i32 - left - VALUE) / longest,
        }
    }

    fn x(&self, value: f64) -> i32 {
        self.left + (value * self.units_per_value) as i32
    }

    fn row(&self, area: &Area<'_>, row: &BarRow, y: i32) -> Result<(), ChartError> {
        for ((from, to, colour), half) in row.bars.iter().zip([BAR / 2, BAR / 3, BAR / 3]) {
            let (from, to) = (self.x(*from), self.x(*to));
            let corners = [(from, y - half), (to.max(from + 4), y + half)];
            let bar = Rectangle::new(corners, colour.filled());
            area.draw(&bar).map_err(ChartError::from_drawing)?;
        }
        if let Some((low, high)) = row.whisker {
            self.whisker(area, (self.x(low), self.x(high)), y)?;
        }
        if let Some((at, colour)) = row.mark {
            let (x, half) = (self.x(at), BAR / 2 + 8);
            stroke(area, vec![(x, y - half), (x, y + half)], colour, 6)?;
        }
        let write = |words: &str, place, at| {
            let drawn = area.draw_text(words, &text(&INK, place), at);
            drawn.map_err(ChartError::from_drawing)
        };
        write(&short(&row.name), HPos::Right, (self.left - 18, y))?;
        write(&row.value, HPos::Left, (self.x(row.reach()) + 22, y))
    }

    fn whisker(&self, area: &Area<'_>, (low, high): (i32, i32), y: i32) -> Result<(), ChartError> {
        let cap = |x: i32| vec![(x, y - 10), (x, y + 10)];
        let mut lines = [vec![(low, y), (high, y)], cap(low), cap(high)].into_iter();
        lines.try_for_each(|line| stroke(area, line, GREY, 4))
    }
}

fn stroke(
    area: &Area<'_>,
    line: Vec<(i32, i32)>,
    colour: RGBColor,
    width: u32,
) -> Result<(), ChartError> {
    let path = PathElement::new(line, colour.stroke_width(width));
    area.draw(&path).map_err(ChartError::from_drawing)
}

fn short(name: &str) -> String {
    format::shortened(name, NAME_CHARACTERS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::palette::BLUE;
    use crate::chart::{Chart, Panel};

    fn row(name: &str, end: f64) -> BarRow {
        BarRow {
            name: name.to_owned(),
            bars: vec![(0.0, end, BLUE)],
            whisker: Some((end * 0.9, end * 1.1)),
            mark: None,
            value: "26.8 \u{b1} 1.2 Mbit/s".to_owned(),
        }
    }

    #[test]
    fn values_stay_on_the_sheet() {
        let rows = [row(&"x".repeat(500), 3.0), row("short", 7.0)];
        let layout = Layout::of(&rows);
        for row in &rows {
            let end = layout.x(row.reach()) + 22 + text_width(&row.value);
            assert!(end <= WIDTH as i32, "{end}");
        }
    }

    #[test]
    fn no_bars_and_endless_bars_are_drawn() {
        for rows in [Vec::new(), vec![row("a", 1.0), row("b", u64::MAX as f64)]] {
            let panels = vec![Panel::Bars(rows)];
            let legend = Vec::new();
            assert!(Chart { legend, panels }.svg().is_ok());
        }
    }
}
