//! Bars to compare labelled settings.

use plotters::element::{PathElement, Rectangle};
use plotters::style::text_anchor::HPos;
use plotters::style::{Color, RGBColor};

use super::PlotError;
use super::canvas::{Area, WIDTH, draw, text, text_width};
use super::legend::{self, Entry, Mark, legend};
use super::palette::{ACCENT, BLUE, GREY, INK};
use crate::comparison::{Compared, Role};
use crate::{format, text};

const ROW: i32 = 96;
const BAR: i32 = 52;
/// Room for the value to the right of the longest bar.
const VALUE: i32 = 360;
/// Longer labels are cut.
const LABEL_CHARACTERS: usize = 34;

/// Where things stand across the sheet.
struct Layout {
    left: i32,
    units_per_bit: f64,
}

/// Horizontal bars with their values, whiskers for the interval and a mark for the published value.
///
/// # Errors
/// When the drawing library fails.
pub fn compare(bars: &[Compared<'_>]) -> Result<String, PlotError> {
    let (layout, entries) = (Layout::of(bars), entries(bars));
    let rows = i32::try_from(bars.len()).unwrap_or(i32::MAX).clamp(1, 64);
    draw(
        (rows * ROW + legend::height(&entries) + 16) as u32,
        |sheet| {
            let below = legend(sheet, &entries)?;
            for (bar, row) in bars.iter().zip(0..rows) {
                layout.bar(&below, bar, row * ROW + ROW / 2)?;
            }
            Ok(())
        },
    )
}

fn entries(bars: &[Compared<'_>]) -> Vec<Entry> {
    let published = bars.iter().find_map(|bar| bar.published);
    let published = published.map(|published| {
        let source = short(&text::plain(&published.source));
        Entry::new(Mark::Line(INK), format!("published: {source}"))
    });
    let compared = Entry::new(Mark::Area(BLUE), "goodput here, with its 95 % interval");
    let tuned = Entry::new(Mark::Area(ACCENT), "recommended");
    [compared, tuned].into_iter().chain(published).collect()
}

impl Layout {
    fn of(bars: &[Compared<'_>]) -> Self {
        let widest = bars
            .iter()
            .map(|bar| text_width(&short(&bar.label)))
            .max()
            .unwrap_or(0);
        let left = widest + 30;
        let longest = bars.iter().map(reach).max().unwrap_or(1).max(1);
        Layout {
            left,
            units_per_bit: f64::from(WIDTH as i32 - left - VALUE) / longest as f64,
        }
    }

    fn x(&self, bits_per_second: u64) -> i32 {
        self.left + (bits_per_second as f64 * self.units_per_bit) as i32
    }

    fn bar(&self, area: &Area<'_>, bar: &Compared<'_>, y: i32) -> Result<(), PlotError> {
        let end = self.x(bar.run.goodput_bits_per_second);
        let shape = Rectangle::new(
            [(self.left, y - BAR / 2), (end, y + BAR / 2)],
            colour(bar.role).filled(),
        );
        area.draw(&shape).map_err(PlotError::from_drawing)?;
        self.whisker(area, bar, y)?;
        self.published(area, bar, y)?;
        let name = text(&INK, HPos::Right);
        area.draw_text(&short(&bar.label), &name, (self.left - 18, y))
            .map_err(PlotError::from_drawing)?;
        let value =
            format::rate_with_margin(bar.run.goodput_bits_per_second, bar.run.interval.as_ref());
        let place = (self.x(reach(bar)) + 22, y);
        area.draw_text(&value, &text(&INK, HPos::Left), place)
            .map_err(PlotError::from_drawing)
    }

    fn whisker(&self, area: &Area<'_>, bar: &Compared<'_>, y: i32) -> Result<(), PlotError> {
        let Some(interval) = bar.run.interval else {
            return Ok(());
        };
        let ends = [interval.low_bits_per_second, interval.high_bits_per_second];
        let [low, high] = ends.map(|end| self.x(end));
        let cap = |x: i32| vec![(x, y - 10), (x, y + 10)];
        [vec![(low, y), (high, y)], cap(low), cap(high)]
            .into_iter()
            .try_for_each(|line| stroke(area, line, GREY, 4))
    }

    fn published(&self, area: &Area<'_>, bar: &Compared<'_>, y: i32) -> Result<(), PlotError> {
        let Some(published) = bar.published else {
            return Ok(());
        };
        let x = self.x(published.goodput_bits_per_second);
        stroke(
            area,
            vec![(x, y - BAR / 2 - 8), (x, y + BAR / 2 + 8)],
            INK,
            6,
        )
    }
}

fn stroke(
    area: &Area<'_>,
    line: Vec<(i32, i32)>,
    colour: RGBColor,
    width: u32,
) -> Result<(), PlotError> {
    let path = PathElement::new(line, colour.stroke_width(width));
    area.draw(&path).map_err(PlotError::from_drawing)
}

fn short(label: &str) -> String {
    if label.chars().count() <= LABEL_CHARACTERS {
        return label.to_owned();
    }
    let kept: String = label.chars().take(LABEL_CHARACTERS - 1).collect();
    format!("{kept}\u{2026}")
}

/// How far anything of this bar goes.
fn reach(bar: &Compared<'_>) -> u64 {
    let high = bar
        .run
        .interval
        .map(|interval| interval.high_bits_per_second);
    let published = bar
        .published
        .map(|published| published.goodput_bits_per_second);
    let others = [high, published].into_iter().flatten();
    others.fold(bar.run.goodput_bits_per_second, u64::max)
}

fn colour(role: Role) -> RGBColor {
    match role {
        Role::Usual => BLUE,
        Role::Tuned => ACCENT,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::settings;
    use record::synthetic;

    #[test]
    fn values_stay_on_the_sheet() {
        let demo = synthetic::demo(7).body;
        let mut bars = settings(&demo);
        bars[0].label = "x".repeat(500);
        let layout = Layout::of(&bars);
        for bar in &bars {
            let run = &bar.run;
            let value =
                format::rate_with_margin(run.goodput_bits_per_second, run.interval.as_ref());
            let end = layout.x(reach(bar)) + 22 + text_width(&value);
            assert!(end <= WIDTH as i32, "{end}");
        }
    }

    #[test]
    fn no_bars_and_endless_bars_are_drawn() {
        let demo = synthetic::demo(7).body;
        let mut bars = settings(&demo);
        bars[1].run.to_mut().goodput_bits_per_second = u64::MAX;
        assert!(compare(&bars).is_ok());
        assert!(compare(&[]).is_ok());
    }
}
