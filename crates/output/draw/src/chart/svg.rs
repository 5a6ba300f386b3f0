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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::axis::Axis;
    use crate::chart::palette::BLUE;
    use crate::chart::{Layer, Shape};

    fn panel(title: Option<&str>, shape: Shape) -> Axes {
        Axes {
            height: 400,
            x: Axis::labelled(0.0, 10.0, vec![(5.0, "noon".to_owned())]),
            x_title: title.map(str::to_owned),
            y: Axis::whole(0.0, 10.0, 5),
            y_title: "height".to_owned(),
            layers: vec![Layer::new(BLUE, shape)],
        }
    }

    #[test]
    fn frames_are_where_the_data_are_drawn() {
        let diagonal = || Shape::Levels(vec![(0.0, 10.0, 0.0), (0.0, 10.0, 10.0)]);
        let panels = [panel(None, diagonal()), panel(Some("time"), diagonal())];
        let chart = Chart::new(Vec::new(), panels);
        let svg = chart.svg().unwrap();
        let frames = chart.frames();
        assert_eq!((frames.len(), chart.size()), (2, (WIDTH, 800)));
        for Frame {
            left,
            right,
            top,
            bottom,
        } in frames
        {
            for y in [top, bottom] {
                // The drawing library ends a pixel before the edge.
                let drawn = (y.saturating_sub(1)..=y).any(|y| {
                    let ends = (right - 1..=right).map(|right| format!("{left},{y} {right},{y}"));
                    ends.into_iter().any(|line| svg.contains(&line))
                });
                assert!(drawn, "{left} to {right} at {y}: {svg}");
            }
        }
        assert_eq!(svg.matches("noon").count(), 1);
    }

    #[test]
    fn areas_upon_each_other_are_faint_and_crosses_have_two_strokes() {
        let area = Shape::FaintArea(vec![(0.0, 1.0, 2.0), (10.0, 1.0, 2.0)]);
        let svg = Chart::new(Vec::new(), [panel(None, area)]).svg().unwrap();
        assert!(
            svg.contains("<polygon opacity=\"0.13\" fill=\"#0072B2\""),
            "{svg}"
        );
        let strokes = |crosses| {
            let crosses = Shape::Crosses(crosses);
            let svg = Chart::new(Vec::new(), [panel(None, crosses)])
                .svg()
                .unwrap();
            svg.matches("stroke=\"#0072B2\"").count()
        };
        assert_eq!(strokes(vec![(5.0, 5.0), (6.0, 5.0)]), 4);
    }
}
