//! The plots of measurements, searches, predictions and examined paths, as their pages have them.

use record::{AnyDocument, Run, StreamDirection, Tune};

use super::{PlotError, against_streams, compare, loaded, predicted, round_trips, throughput};
use crate::comparison;

/// Plots with the names of their files.
type Named = Vec<(String, String)>;

/// Every plot of the document's page; simulations, campaigns and sweeps have theirs elsewhere.
pub(super) fn all(document: &AnyDocument) -> Result<Named, PlotError> {
    let named = |name: &str, svg: String| (name.to_owned(), svg);
    Ok(match document {
        AnyDocument::Measure(document) => of_run(&document.body.run)?,
        AnyDocument::Tune(document) => of_tune(&document.body)?,
        AnyDocument::Demo(document) => {
            let settings = comparison::settings(&document.body);
            let mut drawn = vec![named("settings.svg", compare(&settings)?)];
            drawn.extend(of_tune(&document.body.tune)?);
            drawn
        }
        AnyDocument::Predict(document) => vec![
            named("throughput.svg", predicted::throughput(&document.body)?),
            named("round-trip.svg", predicted::round_trip(&document.body)?),
        ],
        AnyDocument::Fit(document) => vec![named("curves.svg", predicted::curves(&document.body)?)],
        AnyDocument::Characteristics(document) => {
            let rates = loaded::rates(&document.body)?.map(|svg| named("rates.svg", svg));
            let hops = loaded::hops(&document.body)?.map(|svg| named("hops.svg", svg));
            rates.into_iter().chain(hops).collect()
        }
        _ => Vec::new(),
    })
}

fn of_tune(tune: &Tune) -> Result<Named, PlotError> {
    let mut drawn = vec![("streams.svg".to_owned(), against_streams(tune)?)];
    if let Some(sample) = tune.recommended_sample() {
        drawn.extend(of_run(&sample.run)?);
    }
    Ok(drawn)
}

fn of_run(run: &Run) -> Result<Named, PlotError> {
    let mut drawn = Named::new();
    for direction in &run.directions {
        let way = match direction.direction {
            StreamDirection::Sending => "sending",
            StreamDirection::Receiving => "receiving",
        };
        let svg = throughput(run, direction)?;
        drawn.extend(svg.map(|svg| (format!("over-time-{way}.svg"), svg)));
    }
    drawn.extend(round_trips(run)?.map(|svg| ("round-trips.svg".to_owned(), svg)));
    Ok(drawn)
}
