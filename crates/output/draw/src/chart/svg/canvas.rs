//! The sheet that plots are drawn on, and the frame of axes.

use plotters::chart::{ChartBuilder, ChartContext};
use plotters::coord::Shift;
use plotters::coord::cartesian::Cartesian2d;
use plotters::drawing::{DrawingArea, IntoDrawingArea};
use plotters::prelude::SVGBackend;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, IntoFont, RGBColor, TextStyle};

use crate::chart::ChartError;
use crate::chart::axis::Axis;
use crate::chart::palette::{GRID, INK};

/// Width of every plot, in units of the drawing: two to a pixel as shown on a wide screen.
pub const WIDTH: u32 = 1640;
/// Size of all text, in the drawing library's measure: 1.24 units to a pixel of font size.
pub const TEXT: f64 = 33.0;
/// Room for the labels and the title of the upright axis.
const LEFT: u32 = 124;
/// Room for the labels and the title of the level axis.
const BELOW: u32 = 92;
/// Room for the labels of an axis without a title.
const LABELS_ONLY: u32 = 24;
const MARGIN_TOP: u32 = 16;
const MARGIN_RIGHT: u32 = 36;
const MARGIN_LEFT: u32 = 4;

pub(super) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
pub(super) type Drawing<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<Axis, Axis>>;

/// Draws on a sheet `height` units high and gives back the SVG.
pub(super) fn draw(
    height: u32,
    paint: impl FnOnce(&Area<'_>) -> Result<(), ChartError>,
) -> Result<String, ChartError> {
    let mut svg = String::new();
    let sheet = SVGBackend::with_string(&mut svg, (WIDTH, height)).into_drawing_area();
    paint(&sheet)?;
    sheet.present().map_err(ChartError::from_drawing)?;
    drop(sheet);
    Ok(svg)
}

/// Text in `colour`, anchored at its `horizontal` end and vertical middle.
pub(super) fn text(colour: &'static RGBColor, horizontal: HPos) -> TextStyle<'static> {
    let style = TextStyle::from(("sans-serif", TEXT).into_font()).color(colour);
    style.pos(Pos::new(horizontal, VPos::Center))
}

/// About how wide `words` will be: no font is measured, so a little too wide on purpose.
pub(super) fn text_width(words: &str) -> i32 {
    let count = i32::try_from(words.chars().count()).unwrap_or(i32::MAX);
    count.saturating_mul(16)
}

/// The axes of one plot.
pub(super) struct Frame<'a> {
    pub x: &'a Axis,
    /// What is along it; `None` leaves its labels to a plot below.
    pub x_title: Option<&'a str>,
    pub y: &'a Axis,
    pub y_title: &'a str,
}

fn below(has_title: bool) -> u32 {
    match has_title {
        true => BELOW,
        false => LABELS_ONLY,
    }
}

/// Where the data lie in a panel that begins at `top` and is `height` high.
pub(super) fn inner(top: u32, height: u32, has_title: bool) -> crate::chart::Frame {
    crate::chart::Frame {
        left: MARGIN_LEFT + LEFT,
        right: WIDTH - MARGIN_RIGHT,
        top: top.saturating_add(MARGIN_TOP),
        bottom: top.saturating_add(height.saturating_sub(below(has_title))),
    }
}

/// Draws grid, axes and labels; the data come on top.
pub(super) fn frame<'a, 'b>(
    area: &'a Area<'b>,
    frame: &Frame<'_>,
    behind: impl FnOnce(&mut Drawing<'a, 'b>) -> Result<(), ChartError>,
) -> Result<Drawing<'a, 'b>, ChartError> {
    let mut chart = ChartBuilder::on(area)
        .margin_top(MARGIN_TOP)
        .margin_right(MARGIN_RIGHT)
        .margin_left(MARGIN_LEFT)
        .y_label_area_size(LEFT)
        .x_label_area_size(below(frame.x_title.is_some()))
        .build_cartesian_2d(frame.x.clone(), frame.y.clone())
        .map_err(ChartError::from_drawing)?;
    behind(&mut chart)?;
    grid(&mut chart, frame)?;
    Ok(chart)
}

fn grid(chart: &mut Drawing<'_, '_>, frame: &Frame<'_>) -> Result<(), ChartError> {
    let words = TextStyle::from(("sans-serif", TEXT).into_font()).color(&INK);
    let x_label = |value: &f64| match frame.x_title {
        Some(_) => frame.x.label(*value),
        None => String::new(),
    };
    let y_label = |value: &f64| frame.y.label(*value);
    let mut mesh = chart.configure_mesh();
    mesh.disable_x_mesh()
        .max_light_lines(0)
        .bold_line_style(GRID.stroke_width(2))
        .axis_style(INK.stroke_width(2))
        .label_style(words.clone())
        .axis_desc_style(words)
        .x_labels(frame.x.ticks.len())
        .y_labels(frame.y.ticks.len())
        .x_label_formatter(&x_label)
        .y_label_formatter(&y_label)
        .y_desc(frame.y_title);
    if let Some(title) = frame.x_title {
        mesh.x_desc(title);
    }
    mesh.draw().map_err(ChartError::from_drawing)
}
