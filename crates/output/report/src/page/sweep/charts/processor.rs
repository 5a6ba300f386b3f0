//! What the processors of both ends had to do.

use draw::chart::palette::RGBColor;

use super::curves::Curves;
use super::delay::each_dot;
use super::{CLOUD_MAX, Drawing, figure};
use crate::page::sweep::groups::Group;
use crate::page::sweep::metric::{COST, FAR_KERNEL, FAR_USER, GOODPUT, KERNEL, Metric, USER};
use draw::chart::axis::Axis;
use draw::chart::palette::{self, BLUE};
use draw::chart::{Axes, Chart, Layer, Shape};
use draw::chart::{Entry, Mark};
use draw::format::{RateUnit, three_digits};

const USER_COLOUR: RGBColor = palette::SERIES[3];
const FAR_KERNEL_COLOUR: RGBColor = palette::SERIES[2];
const FAR_USER_COLOUR: RGBColor = palette::SERIES[5];

fn left_out(against: &str) -> Drawing {
    Drawing::LeftOut(format!(
        "No figure of the processor against {against}: no visit tells how much of it was used, as \
            on simulated paths."
    ))
}

/// Visits in the axes' units, and the line through them.
struct Cloud {
    name: &'static str,
    colour: RGBColor,
    places: Vec<(f64, f64)>,
    line: Option<stats::Line>,
}

impl Cloud {
    fn of(group: &Group<'_>, metric: &Metric, unit: RateUnit, colour: RGBColor) -> Option<Self> {
        let pairs = group.pairs((&GOODPUT, metric), CLOUD_MAX);
        let places = pairs.iter().map(|(_, (x, y))| (x / unit.factor, y * 100.0));
        let places: Vec<(f64, f64)> = places.collect();
        (!places.is_empty()).then(|| Cloud {
            name: metric.title,
            colour,
            line: stats::fit_line(&places).filter(|_| places.len() > 2),
            places,
        })
    }

    fn words(&self, unit: RateUnit) -> Option<String> {
        let line = self.line?;
        let quality = line
            .r_squared
            .map(|r| format!(", R\u{b2} = {r:.2}"))
            .unwrap_or_default();
        Some(format!(
            "{} {} % for each {}{quality}",
            self.name,
            fine(line.slope),
            unit.name
        ))
    }
}

/// Three digits, also far below one.
fn fine(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        v if v >= 0.1 => three_digits(value),
        v if v >= 1e-6 => {
            let decimals = (2.0 - v.log10().floor()).clamp(2.0, 9.0) as usize;
            format!("{value:.decimals$}")
        }
        _ => format!("{value:.1e}"),
    }
}

/// Kernel and program against goodput, with the lines through them.
pub(super) fn against_goodput(group: &Group<'_>) -> Drawing {
    let top = group
        .all()
        .filter_map(|(_, _, figures)| (GOODPUT.of)(figures));
    let top = top.fold(0.0, f64::max);
    let unit = RateUnit::fitting(top);
    let kinds = [
        (&KERNEL, BLUE),
        (&USER, USER_COLOUR),
        (&FAR_KERNEL, FAR_KERNEL_COLOUR),
        (&FAR_USER, FAR_USER_COLOUR),
    ];
    let clouds = kinds.map(|(metric, colour)| Cloud::of(group, metric, unit, colour));
    let clouds: Vec<Cloud> = clouds.into_iter().flatten().collect();
    if clouds.is_empty() {
        return left_out("goodput");
    }
    let x = Axis::whole(0.0, top / unit.factor, 8);
    let words: Vec<String> = clouds
        .iter()
        .filter_map(|cloud| cloud.words(unit))
        .collect();
    let lines = match words.as_slice() {
        [] => String::new(),
        words => format!(" The lines: {}.", words.join("; ")),
    };
    let far = match group
        .all()
        .any(|(_, _, f)| f.cpu_far_kernel_ratio.is_some())
    {
        true => ", and the far end's,",
        false => "",
    };
    let caption = format!(
        "What this end's processor spent in the kernel and in the program{far} against goodput, \
            {}; 100 % is one processor.{lines}",
        each_dot(group),
    );
    let chart = chart(clouds, x, unit);
    figure(group, "processor-goodput", chart, caption)
}

fn chart(clouds: Vec<Cloud>, x: Axis, unit: RateUnit) -> Chart {
    let mut entries = Vec::new();
    let mut layers = Vec::new();
    let highest = clouds.iter().flat_map(|cloud| &cloud.places);
    let highest = highest.map(|(_, y)| *y).fold(0.0, f64::max);
    for cloud in &clouds {
        entries.push(Entry::new(Mark::Dot(cloud.colour), cloud.name));
    }
    for cloud in &clouds {
        if let Some(line) = cloud.line {
            entries.push(Entry::new(
                Mark::Dashes(cloud.colour),
                format!("{}, fitted", cloud.name),
            ));
            let ends = [x.low, x.high].map(|at| (at, line.at(at)));
            layers.push(Layer {
                colour: cloud.colour,
                shape: Shape::Dashes(ends.into()),
            });
        }
    }
    let dots = clouds.into_iter().map(|cloud| Layer {
        colour: cloud.colour,
        shape: Shape::PaleDots(7, cloud.places),
    });
    let axes = Axes {
        height: 720,
        x,
        x_title: Some(format!("goodput [{}]", unit.name)),
        y: Axis::whole(0.0, highest, 5),
        y_title: "processor [%]".to_owned(),
        layers: dots.chain(layers).collect(),
    };
    Chart::new(entries, [axes])
}

/// Kernel, program, and both over the rate, against streams.
pub(super) fn against_streams(group: &Group<'_>) -> Drawing {
    let metrics = [&KERNEL, &USER, &COST];
    let Some(curves) = Curves::of(group).filter(|curves| curves.tells(&metrics)) else {
        return left_out("streams");
    };
    let caption = format!(
        "What this end's processor spent in the kernel and in the program against {}, and both \
            over the goodput: median of the visits with its quartiles; 100 % is one processor.{}",
        curves.along(),
        curves.selection(),
    );
    figure(group, "processor-streams", curves.chart(&metrics), caption)
}
