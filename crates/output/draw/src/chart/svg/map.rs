//! A table as a map: a colour for each field, deeper for more.

use plotters::element::{PathElement, Rectangle};
use plotters::style::text_anchor::HPos;
use plotters::style::{Color, RGBColor};

use super::canvas::{Area, WIDTH, text, text_width};
use crate::chart::palette::{ACCENT, GREY, INK, SERIES};
use crate::chart::{ChartError, Field, Framed, Map};

/// What the lowest and the highest are filled with; between them it is a mixture.
const PALE: RGBColor = RGBColor(0xE3, 0xEE, 0xF6);
const DEEP: RGBColor = RGBColor(0x00, 0x4E, 0x7C);
/// Numbers on pale fields; not the ink, which follows the screen.
const DARK: RGBColor = RGBColor(0x1B, 0x1F, 0x24);
const LIGHT: RGBColor = RGBColor(0xFF, 0xFF, 0xFE);
/// For a frame on a deep colour.
const OTHER: RGBColor = SERIES[6];
const TOP: i32 = 118;
const LEFT: i32 = 170;
const RIGHT: i32 = 36;
const BELOW: i32 = 20;
/// Rows of numbers are this high; with more rows than fit, they get lower and lose their numbers.
const ROW_MAX: i32 = 58;
const ROW_WITH_TEXT: i32 = 36;
const HEIGHT_MAX: i32 = 1700;
/// Draws `map` on `sheet`.
pub(super) fn draw(sheet: &Area<'_>, map: &Map) -> Result<(), ChartError> {
    let layout = Layout::of(map);
    layout.title(sheet, map)?;
    layout.label_columns(sheet, map)?;
    for ((row, name), fields) in (0..).zip(&map.rows).zip(&map.fields) {
        layout.label_row(sheet, row, name)?;
        for (column, field) in (0..).zip(fields) {
            layout.field(sheet, (row, column), field)?;
        }
    }
    layout.frames(sheet, map)
}

impl Map {
    /// Its height, in units of the drawing.
    pub(super) fn height(map: &Map) -> i32 {
        let layout = Layout::of(map);
        TOP + layout.row * layout.rows + BELOW
    }
}

/// Where things are, and what their colours go by.
struct Layout {
    rows: i32,
    row: i32,
    column: i32,
    low: f64,
    high: f64,
}

impl Layout {
    fn of(map: &Map) -> Self {
        let count = |length: usize| i32::try_from(length).unwrap_or(i32::MAX).max(1);
        let (rows, columns) = (count(map.rows.len()), count(map.columns.len()));
        let fields = map.fields.iter().flatten();
        let values: Vec<f64> = fields.filter_map(|field| field.value).collect();
        Layout {
            rows,
            row: (HEIGHT_MAX / rows).clamp(1, ROW_MAX),
            column: ((WIDTH as i32 - LEFT - RIGHT) / columns).max(1),
            low: values.iter().copied().fold(f64::INFINITY, f64::min),
            high: values.iter().copied().fold(0.0, f64::max),
        }
    }

    fn corner(&self, (row, column): (i32, i32)) -> (i32, i32) {
        (LEFT + column * self.column, TOP + row * self.row)
    }

    /// 0 for the lowest, 1 for the highest.
    fn share(&self, value: f64) -> f64 {
        match self.high > self.low {
            true => ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0),
            false => 1.0,
        }
    }

    fn title(&self, sheet: &Area<'_>, map: &Map) -> Result<(), ChartError> {
        write(sheet, &map.title, HPos::Left, (LEFT, 26))?;
        let keys = [(&map.chosen, ACCENT), (&map.other, OTHER)];
        let mut x = LEFT + text_width(&map.title) + 60;
        for (framed, colour) in keys {
            let Some(framed) = framed else { continue };
            outline(sheet, [(x, 12), (x + 40, 40)], colour)?;
            write(sheet, framed.name, HPos::Left, (x + 54, 26))?;
            x += 54 + text_width(framed.name) + 40;
        }
        Ok(())
    }

    /// Where columns are narrow, only every so many has its name.
    fn label_columns(&self, sheet: &Area<'_>, map: &Map) -> Result<(), ChartError> {
        let widest = map.columns.iter().map(|name| text_width(name)).max();
        let every = (widest.unwrap_or(0) + self.column - 1) / self.column;
        for (column, name) in (0..).zip(&map.columns) {
            if column % every.max(1) == 0 {
                let (x, _) = self.corner((0, column));
                let at = (x + self.column / 2, TOP - 30);
                write(sheet, name, HPos::Center, at)?;
            }
        }
        Ok(())
    }

    fn label_row(&self, sheet: &Area<'_>, row: i32, name: &str) -> Result<(), ChartError> {
        // Low rows have a label where one fits.
        let every = (ROW_WITH_TEXT + self.row - 1) / self.row;
        if row % every != 0 {
            return Ok(());
        }
        let (x, y) = self.corner((row, 0));
        write(sheet, name, HPos::Right, (x - 16, y + self.row / 2))
    }

    fn field(&self, sheet: &Area<'_>, place: (i32, i32), field: &Field) -> Result<(), ChartError> {
        let (x, y) = self.corner(place);
        let gap = if self.row > 8 { 2 } else { 0 };
        let share = field.value.map(|value| self.share(value));
        let colour = share.map_or(GREY, mixture);
        let corners = [(x, y), (x + self.column - gap, y + self.row - gap)];
        let shape = Rectangle::new(corners, colour.filled());
        sheet.draw(&shape).map_err(ChartError::from_drawing)?;
        if self.row < ROW_WITH_TEXT || text_width(&field.number) > self.column {
            return Ok(());
        }
        let ink = if share.unwrap_or(0.0) > 0.5 {
            &LIGHT
        } else {
            &DARK
        };
        let middle = (x + self.column / 2, y + self.row / 2);
        sheet
            .draw_text(&field.number, &text(ink, HPos::Center), middle)
            .map_err(ChartError::from_drawing)
    }

    /// Last, so that no field covers them: the chosen one inside the other where they are the same.
    fn frames(&self, sheet: &Area<'_>, map: &Map) -> Result<(), ChartError> {
        let place = |framed: &Option<Framed>| {
            let (row, column) = framed.as_ref()?.place;
            Some((i32::try_from(row).ok()?, i32::try_from(column).ok()?))
        };
        let (chosen, other) = (place(&map.chosen), place(&map.other));
        if let Some(other) = other {
            self.frame(sheet, other, 3, OTHER)?;
        }
        let inset = if chosen == other { 9 } else { 3 };
        match chosen {
            Some(chosen) => self.frame(sheet, chosen, inset, ACCENT),
            None => Ok(()),
        }
    }

    fn frame(
        &self,
        sheet: &Area<'_>,
        place: (i32, i32),
        inset: i32,
        colour: RGBColor,
    ) -> Result<(), ChartError> {
        let (x, y) = self.corner(place);
        let inset = inset.min(self.row / 4);
        let corners = [
            (x + inset, y + inset),
            (x + self.column - inset - 2, y + self.row - inset - 2),
        ];
        outline(sheet, corners, colour)
    }
}

fn write(sheet: &Area<'_>, words: &str, place: HPos, at: (i32, i32)) -> Result<(), ChartError> {
    sheet
        .draw_text(words, &text(&INK, place), at)
        .map_err(ChartError::from_drawing)
}

/// A thick frame; the library draws rectangles with hairlines only.
fn outline(
    sheet: &Area<'_>,
    [(left, top), (right, bottom)]: [(i32, i32); 2],
    colour: RGBColor,
) -> Result<(), ChartError> {
    let corners = vec![
        (left, top),
        (right, top),
        (right, bottom),
        (left, bottom),
        (left, top),
        (right, top),
    ];
    let frame = PathElement::new(corners, colour.stroke_width(6));
    sheet.draw(&frame).map_err(ChartError::from_drawing)
}

fn mixture(share: f64) -> RGBColor {
    let mix = |pale: u8, deep: u8| {
        (f64::from(pale) + (f64::from(deep) - f64::from(pale)) * share).round() as u8
    };
    RGBColor(
        mix(PALE.0, DEEP.0),
        mix(PALE.1, DEEP.1),
        mix(PALE.2, DEEP.2),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::Chart;

    fn table(rows: usize, columns: usize) -> Map {
        let names = |count: usize| (1..=count).map(|number| format!("{number}KiB")).collect();
        let field = |row: usize, column: usize| Field {
            value: Some((row * column) as f64),
            number: format!("{}", row * column),
        };
        let fields = |row| (0..columns).map(|column| field(row, column)).collect();
        Map {
            title: "goodput [Mbit/s]".to_owned(),
            rows: names(rows),
            columns: names(columns),
            fields: (0..rows).map(fields).collect(),
            chosen: None,
            other: None,
        }
    }

    fn drawn(map: &Map) -> String {
        Chart::map(map.clone()).unwrap().svg().unwrap()
    }

    #[test]
    fn what_is_not_marked_is_not_in_the_key() {
        let mut table = table(3, 3);
        let plain = drawn(&table);
        assert!(!plain.contains("knee") && !plain.contains("<polyline"));
        table.chosen = Some(Framed {
            name: "best",
            place: (2, 2),
        });
        let marked = drawn(&table);
        assert_eq!(marked.matches("<polyline").count(), 2);
        assert!(marked.contains("best") && !marked.contains("knee"));
    }

    #[test]
    fn narrow_columns_have_a_name_where_one_fits() {
        let svg = drawn(&table(2, 40));
        // Names of 5 characters need three of the columns; the two rows have theirs.
        assert_eq!(svg.matches("KiB").count(), 14 + 2);
    }

    #[test]
    fn the_ends_of_the_scale_are_its_colours() {
        assert_eq!((mixture(0.0), mixture(1.0)), (PALE, DEEP));
    }
}
