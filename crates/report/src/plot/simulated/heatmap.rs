//! Streams down, windows across, a colour for each setting.

use plotters::element::{PathElement, Rectangle};
use plotters::style::text_anchor::HPos;
use plotters::style::{Color, RGBColor};

use crate::figure;
use crate::grid::Grid;
use crate::plot::PlotError;
use crate::plot::canvas::{Area, WIDTH, draw, text, text_width};
use crate::plot::palette::{ACCENT, GREY, INK, SERIES};

/// What the lowest and the highest are filled with; between them it is a mixture.
const PALE: RGBColor = RGBColor(0xE3, 0xEE, 0xF6);
const DEEP: RGBColor = RGBColor(0x00, 0x4E, 0x7C);
/// Numbers on pale fields; not the ink, which follows the screen.
const DARK: RGBColor = RGBColor(0x1B, 0x1F, 0x24);
const LIGHT: RGBColor = RGBColor(0xFF, 0xFF, 0xFE);
/// Around the knee: it nearly always lies on a deep colour.
const KNEE: RGBColor = SERIES[6];
const TOP: i32 = 118;
const LEFT: i32 = 170;
const RIGHT: i32 = 36;
const BELOW: i32 = 20;
/// Rows of numbers are this high; with more rows than fit, they get lower and lose their numbers.
const ROW_MAX: i32 = 58;
const ROW_WITH_TEXT: i32 = 36;
const HEIGHT_MAX: i32 = 1700;
/// With more rows than this a row would not be seen.
const ROWS_MAX: usize = 850;

/// The settings of one variant as a map; best and knee framed.
///
/// # Errors
/// When the drawing library fails. `Ok(None)` for fewer than two windows or numbers of streams, and for
/// more rows than can be told apart.
pub fn heatmap(grid: &Grid<'_>, title: &str) -> Result<Option<String>, PlotError> {
    if grid.windows.len() < 2 || !(2..=ROWS_MAX).contains(&grid.streams.len()) {
        return Ok(None);
    }
    let map = Map::of(grid);
    let height = TOP + map.row * map.rows + BELOW;
    draw(height.unsigned_abs(), |sheet| {
        map.titles(sheet, grid, title)?;
        for (row, streams) in (0..).zip(&grid.streams) {
            map.label_row(sheet, row, *streams)?;
            for (column, window) in (0..).zip(&grid.windows) {
                let value = grid.throughput(*streams, *window);
                map.field(sheet, (row, column), value, &grid.number(*streams, *window))?;
            }
        }
        map.frames(sheet, grid)
    })
    .map(Some)
}

/// Where things are, and what their colours go by.
struct Map {
    rows: i32,
    row: i32,
    column: i32,
    low: f64,
    high: f64,
}

impl Map {
    fn of(grid: &Grid<'_>) -> Self {
        let count = |length: usize| i32::try_from(length).unwrap_or(i32::MAX).max(1);
        let (rows, columns) = (count(grid.streams.len()), count(grid.windows.len()));
        let settings = grid
            .streams
            .iter()
            .flat_map(|s| grid.windows.iter().map(move |w| (*s, *w)));
        let values: Vec<f64> = settings
            .filter_map(|(s, w)| grid.throughput(s, w))
            .collect();
        Map {
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

    fn titles(&self, sheet: &Area<'_>, grid: &Grid<'_>, title: &str) -> Result<(), PlotError> {
        let write = |words: &str, place: HPos, at: (i32, i32)| {
            sheet
                .draw_text(words, &text(&INK, place), at)
                .map_err(PlotError::from_drawing)
        };
        let words = format!("{title} [{}]: window across, streams down", grid.unit.name);
        write(&words, HPos::Left, (LEFT, 26))?;
        let keys = [("best", ACCENT), ("knee", KNEE)];
        let mut x = LEFT + text_width(&words) + 60;
        for (name, colour) in keys {
            outline(sheet, [(x, 12), (x + 40, 40)], colour)?;
            write(name, HPos::Left, (x + 54, 26))?;
            x += 54 + text_width(name) + 40;
        }
        for (column, window) in (0..).zip(&grid.windows) {
            let (x, _) = self.corner((0, column));
            write(
                &figure::window(*window),
                HPos::Center,
                (x + self.column / 2, TOP - 30),
            )?;
        }
        Ok(())
    }

    fn label_row(&self, sheet: &Area<'_>, row: i32, streams: u32) -> Result<(), PlotError> {
        // Low rows have a label where one fits.
        let every = (ROW_WITH_TEXT + self.row - 1) / self.row;
        if row % every != 0 {
            return Ok(());
        }
        let (x, y) = self.corner((row, 0));
        let at = (x - 16, y + self.row / 2);
        sheet
            .draw_text(&streams.to_string(), &text(&INK, HPos::Right), at)
            .map_err(PlotError::from_drawing)
    }

    fn field(
        &self,
        sheet: &Area<'_>,
        place: (i32, i32),
        value: Option<f64>,
        number: &str,
    ) -> Result<(), PlotError> {
        let (x, y) = self.corner(place);
        let gap = if self.row > 8 { 2 } else { 0 };
        let share = value.map(|value| self.share(value));
        let colour = share.map_or(GREY, mixture);
        let corners = [(x, y), (x + self.column - gap, y + self.row - gap)];
        let field = Rectangle::new(corners, colour.filled());
        sheet.draw(&field).map_err(PlotError::from_drawing)?;
        if self.row < ROW_WITH_TEXT || text_width(number) > self.column {
            return Ok(());
        }
        let ink = if share.unwrap_or(0.0) > 0.5 {
            &LIGHT
        } else {
            &DARK
        };
        let middle = (x + self.column / 2, y + self.row / 2);
        sheet
            .draw_text(number, &text(ink, HPos::Center), middle)
            .map_err(PlotError::from_drawing)
    }

    /// Last, so that no field covers them: the best inside the knee where they are the same.
    fn frames(&self, sheet: &Area<'_>, grid: &Grid<'_>) -> Result<(), PlotError> {
        for (row, streams) in (0..).zip(&grid.streams) {
            for (column, window) in (0..).zip(&grid.windows) {
                let is_knee = grid.is_knee(*streams, *window);
                if is_knee {
                    self.frame(sheet, (row, column), 3, KNEE)?;
                }
                if grid.is_best(*streams, *window) {
                    let inset = if is_knee { 9 } else { 3 };
                    self.frame(sheet, (row, column), inset, ACCENT)?;
                }
            }
        }
        Ok(())
    }

    fn frame(
        &self,
        sheet: &Area<'_>,
        place: (i32, i32),
        inset: i32,
        colour: RGBColor,
    ) -> Result<(), PlotError> {
        let (x, y) = self.corner(place);
        let inset = inset.min(self.row / 4);
        let corners = [
            (x + inset, y + inset),
            (x + self.column - inset - 2, y + self.row - inset - 2),
        ];
        outline(sheet, corners, colour)
    }
}

/// A thick frame; the library draws rectangles with hairlines only.
fn outline(
    sheet: &Area<'_>,
    [(left, top), (right, bottom)]: [(i32, i32); 2],
    colour: RGBColor,
) -> Result<(), PlotError> {
    let corners = vec![
        (left, top),
        (right, top),
        (right, bottom),
        (left, bottom),
        (left, top),
        (right, top),
    ];
    let frame = PathElement::new(corners, colour.stroke_width(6));
    sheet.draw(&frame).map_err(PlotError::from_drawing)
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
    use crate::grid::grids;
    use record::synthetic;

    #[test]
    fn every_setting_is_a_field() {
        let campaign = synthetic::campaign().body;
        let grids = grids(&campaign);
        let svg = heatmap(&grids[0], "goodput").unwrap().unwrap();
        assert_eq!(svg.matches("<rect").count(), 18);
        // Two frames, and what they mean.
        assert_eq!(svg.matches("<polyline").count(), 2 + 2);
        assert!(svg.contains("64KiB") && svg.contains("[Mbit/s]"));
    }

    #[test]
    fn one_window_is_no_map() {
        let mut campaign = synthetic::campaign().body;
        campaign
            .cells
            .retain(|cell| cell.setting.window == record::Window::Auto);
        assert_eq!(heatmap(&grids(&campaign)[0], "goodput"), Ok(None));
    }

    #[test]
    fn the_ends_of_the_scale_are_its_colours() {
        assert_eq!((mixture(0.0), mixture(1.0)), (PALE, DEEP));
    }
}
