//! Charts drawn as SVG text, on a canvas twice as fine as it is shown: the drawing library rounds
//! to whole units.

mod axes;
mod bars;
mod canvas;
mod legend;
mod map;

use super::{Axes, BarRow, Chart, ChartError, Frame, Map, Panel};
use canvas::Area;

pub use canvas::WIDTH;

pub fn height(chart: &Chart) -> u32 {
    let height = chart.panels.iter().map(Panel::height);
    let height = height.fold(legend::height(&chart.legend), i32::saturating_add);
    height.max(1).unsigned_abs()
}

pub fn frames(chart: &Chart) -> Vec<Frame> {
    let mut top = legend::height(&chart.legend).unsigned_abs();
    let mut frames = Vec::new();
    for panel in &chart.panels {
        let height = panel.height().unsigned_abs();
        if let Panel::Axes(axes) = panel {
            frames.push(canvas::inner(top, height, axes.x_title.is_some()));
        }
        top = top.saturating_add(height);
    }
    frames
}

pub fn draw(chart: &Chart) -> Result<String, ChartError> {
    canvas::draw(height(chart), |sheet| {
        let mut below = legend::legend(sheet, &chart.legend)?;
        for panel in &chart.panels {
            let (here, rest) = below.split_vertically(panel.height());
            panel.draw(&here)?;
            below = rest;
        }
        Ok(())
    })
}

impl Panel {
    fn height(&self) -> i32 {
        match self {
            Panel::Axes(Axes { height, .. }) => i32::try_from(*height).unwrap_or(i32::MAX),
            Panel::Bars(rows) => BarRow::height(rows),
            Panel::Map(map) => Map::height(map),
        }
    }

    fn draw(&self, area: &Area<'_>) -> Result<(), ChartError> {
        match self {
            Panel::Axes(axes) => axes.draw(area),
            Panel::Bars(rows) => bars::draw(area, rows),
            Panel::Map(map) => map::draw(area, map),
        }
    }
}
