//! Points of our own documents.

use std::path::Path;

use units::Rate;

use super::{Point, PointsError};
use crate::{AnyDocument, Campaign, Direction, Setting, Sweep, Tune, Window};

pub(super) const WINDOWS: &str = "windows";
pub(super) const SERIES: &str = "paths, directions or kinds of TCP";

/// The points of a document, and the window that counts where none is asked for.
pub(super) fn points(
    file: &Path,
    document: &AnyDocument,
) -> Result<(Vec<Point>, Option<Window>), PointsError> {
    match document {
        AnyDocument::Tune(document) => Ok(of_tune(&document.body)),
        AnyDocument::Demo(document) => Ok(of_tune(&document.body.tune)),
        AnyDocument::Campaign(document) => Ok((of_campaign(&document.body), None)),
        AnyDocument::Sweep(document) => Ok((of_sweep(&document.body), None)),
        other => Err(PointsError::Kind {
            file: file.to_owned(),
            kind: other.schema().kind(),
        }),
    }
}

/// Samples of another congestion control or of a paced rate lie on curves of their own.
fn of_tune(tune: &Tune) -> (Vec<Point>, Option<Window>) {
    // What a recommendation does not name, the sample has as the host's own.
    let chosen = tune.answer.as_ref();
    let chosen = chosen.and_then(|answer| tune.samples.get(answer.recommended.sample));
    let chosen = chosen.or(tune.samples.first());
    let congestion = chosen.map(|sample| &sample.run.setting.congestion);
    let alike = |sample: &&crate::Sample| {
        let setting = &sample.run.setting;
        Some(&setting.congestion) == congestion && setting.pacing.is_none()
    };
    let samples = tune.samples.iter().filter(alike);
    let points = samples.map(|sample| Point {
        streams: sample.run.setting.streams.into(),
        window: Some(sample.run.setting.window),
        series: String::new(),
        rate: Rate::from_bits_per_second(sample.run.goodput_bits_per_second),
    });
    (points.collect(), tune.window())
}

fn of_campaign(campaign: &Campaign) -> Vec<Point> {
    let point = |cell: &crate::simulate::Cell| Point {
        streams: cell.setting.streams,
        window: Some(cell.setting.window),
        series: cell.setting.variant.clone(),
        rate: Rate::from_bits_per_second(cell.figures.aggregate.goodput_bits_per_second),
    };
    campaign.cells.iter().map(point).collect()
}

/// Every visit that was measured is a point.
fn of_sweep(sweep: &Sweep) -> Vec<Point> {
    let point = |cell: &crate::SweepCell| {
        let figures = cell.figures.as_ref()?;
        Some(Point {
            streams: cell.setting.streams.into(),
            window: Some(cell.setting.window),
            series: series(&cell.setting),
            rate: Rate::from_bits_per_second(figures.goodput_bits_per_second),
        })
    };
    sweep.cells.iter().filter_map(point).collect()
}

fn series(setting: &Setting) -> String {
    let direction = match setting.direction {
        Direction::Forward => "forward",
        Direction::Reverse => "reverse",
        Direction::Both => "both",
    };
    match &setting.congestion {
        Some(name) => format!("{direction} {name}"),
        None => direction.to_owned(),
    }
}
