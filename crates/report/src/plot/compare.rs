//! Bars to compare labelled settings.

use plotters::element::{PathElement, Rectangle};
use plotters::style::text_anchor::HPos;
use plotters::style::{Color, RGBColor};
use record::{Demo, Interval, Window};

use super::PlotError;
use super::canvas::{Area, WIDTH, draw, text, text_width};
use super::legend::{Entry, Mark, legend};
use super::palette::{ACCENT, BLUE, GREY, INK};
use crate::{figure, words};

const ROW: i32 = 96;
const BAR: i32 = 52;
/// Room for the value to the right of the longest bar.
const VALUE: i32 = 360;
/// Longer labels are cut.
const LABEL_CHARACTERS: usize = 34;

/// One bar.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// Its name.
    pub label: String,
    /// Its length, in bits per second.
    pub goodput_bits_per_second: u64,
    /// Its 95 % interval.
    pub interval: Option<Interval>,
    /// What somebody else measured on the real path.
    pub published_bits_per_second: Option<u64>,
    /// Whether it is one of the settings compared or the tuned one.
    pub role: Role,
}

/// What a bar stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A setting that people have used.
    Compared,
    /// What the tuner recommends.
    Tuned,
}

/// Where things stand across the sheet.
struct Layout {
    left: i32,
    units_per_bit: f64,
}

/// The bars of a demonstration: its settings in order, the tuned one last.
pub fn bars(demo: &Demo) -> Vec<Bar> {
    let compared = demo.runs.iter().map(|labelled| Bar {
        label: words::plain(&labelled.label),
        goodput_bits_per_second: labelled.run.goodput_bits_per_second,
        interval: labelled.run.interval,
        published_bits_per_second: labelled
            .published
            .as_ref()
            .map(|p| p.throughput_bits_per_second),
        role: Role::Compared,
    });
    compared.chain([tuned(demo)]).collect()
}

fn tuned(demo: &Demo) -> Bar {
    let chosen = &demo.tune.recommended;
    Bar {
        label: tuned_label(chosen.streams, chosen.window),
        goodput_bits_per_second: chosen.throughput_bits_per_second,
        interval: chosen.interval,
        published_bits_per_second: None,
        role: Role::Tuned,
    }
}

fn tuned_label(streams: u16, window: Window) -> String {
    format!("tuned: {streams} x {}", figure::window(window))
}

/// Horizontal bars with their values, whiskers for the interval and a mark for the published value.
///
/// # Errors
/// When the drawing library fails.
pub fn compare(bars: &[Bar], source: Option<&str>) -> Result<String, PlotError> {
    let layout = Layout::of(bars);
    let rows = i32::try_from(bars.len()).unwrap_or(i32::MAX).clamp(1, 64);
    draw((rows * ROW + 70) as u32, |sheet| {
        let below = legend(sheet, &entries(source))?;
        for (bar, row) in bars.iter().zip(0..rows) {
            layout.bar(&below, bar, row * ROW + ROW / 2)?;
        }
        Ok(())
    })
}

fn entries(source: Option<&str>) -> Vec<Entry> {
    let published = source.map(|source| {
        Entry::new(
            Mark::Line(INK),
            format!("published: {}", short(&words::plain(source))),
        )
    });
    let tuned = Entry::new(Mark::Area(ACCENT), "recommended");
    let compared = Entry::new(Mark::Area(BLUE), "goodput here, with its 95 % interval");
    [compared, tuned].into_iter().chain(published).collect()
}

impl Layout {
    fn of(bars: &[Bar]) -> Self {
        let widest = bars
            .iter()
            .map(|bar| text_width(&short(&bar.label)))
            .max()
            .unwrap_or(0);
        let left = widest + 30;
        let longest = bars.iter().map(Bar::reach).max().unwrap_or(1).max(1);
        Layout {
            left,
            units_per_bit: f64::from(WIDTH as i32 - left - VALUE) / longest as f64,
        }
    }

    fn x(&self, bits_per_second: u64) -> i32 {
        self.left + (bits_per_second as f64 * self.units_per_bit) as i32
    }

    fn bar(&self, area: &Area<'_>, bar: &Bar, y: i32) -> Result<(), PlotError> {
        let end = self.x(bar.goodput_bits_per_second);
        let shape = Rectangle::new(
            [(self.left, y - BAR / 2), (end, y + BAR / 2)],
            bar.colour().filled(),
        );
        area.draw(&shape).map_err(PlotError::from_drawing)?;
        self.whisker(area, bar, y)?;
        self.published(area, bar, y)?;
        let name = text(&INK, HPos::Right);
        area.draw_text(&short(&bar.label), &name, (self.left - 18, y))
            .map_err(PlotError::from_drawing)?;
        let value = figure::rate_with_margin(bar.goodput_bits_per_second, bar.interval.as_ref());
        let place = (self.x(bar.reach()) + 22, y);
        area.draw_text(&value, &text(&INK, HPos::Left), place)
            .map_err(PlotError::from_drawing)
    }

    fn whisker(&self, area: &Area<'_>, bar: &Bar, y: i32) -> Result<(), PlotError> {
        let Some(interval) = bar.interval else {
            return Ok(());
        };
        let ends = [interval.low_bits_per_second, interval.high_bits_per_second];
        let [low, high] = ends.map(|end| self.x(end));
        let cap = |x: i32| vec![(x, y - 10), (x, y + 10)];
        [vec![(low, y), (high, y)], cap(low), cap(high)]
            .into_iter()
            .try_for_each(|line| stroke(area, line, GREY, 4))
    }

    fn published(&self, area: &Area<'_>, bar: &Bar, y: i32) -> Result<(), PlotError> {
        let Some(published) = bar.published_bits_per_second else {
            return Ok(());
        };
        let x = self.x(published);
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

impl Bar {
    /// How far anything of this bar goes.
    fn reach(&self) -> u64 {
        let high = self.interval.map(|interval| interval.high_bits_per_second);
        let others = [high, self.published_bits_per_second].into_iter().flatten();
        others.fold(self.goodput_bits_per_second, u64::max)
    }

    fn colour(&self) -> RGBColor {
        match self.role {
            Role::Compared => BLUE,
            Role::Tuned => ACCENT,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::synthetic;

    #[test]
    fn the_tuned_setting_is_the_last_bar() {
        let bars = bars(&synthetic::demo(7).body);
        assert_eq!(bars.len(), 4);
        assert_eq!(bars[3].label, "tuned: 8 x auto");
        assert_eq!(bars[1].published_bits_per_second, Some(9_450_000));
    }

    #[test]
    fn values_stay_on_the_sheet() {
        let mut bars = bars(&synthetic::demo(7).body);
        bars[0].label = "x".repeat(500);
        let layout = Layout::of(&bars);
        for bar in &bars {
            let value =
                figure::rate_with_margin(bar.goodput_bits_per_second, bar.interval.as_ref());
            let end = layout.x(bar.reach()) + 22 + text_width(&value);
            assert!(end <= WIDTH as i32, "{end}");
        }
    }

    #[test]
    fn no_bars_and_endless_bars_are_drawn() {
        let mut bars = bars(&synthetic::demo(7).body);
        bars[0].goodput_bits_per_second = u64::MAX;
        assert!(compare(&bars, None).is_ok());
        assert!(compare(&[], None).is_ok());
    }
}
