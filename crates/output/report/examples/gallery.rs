//! Writes the page and the terminal text of made-up documents into a directory, to look at.
//!
//! `cargo run -p trunkline-report --example gallery -- DIRECTORY`

use std::env;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use draw::Paint;
use record::synthetic::{
    Case, SweepCase, campaign, characteristics, copy, demo, fit, measure, predict, responsiveness,
    simulate, sweep, transfer, tune,
};
use record::{AnyDocument, Direction, Window};

/// Further arguments are documents to show beside the made-up ones.
fn main() -> Result<(), Box<dyn Error>> {
    let directory = PathBuf::from(env::args().nth(1).ok_or("name a directory")?);
    fs::create_dir_all(&directory)?;
    let measured = |streams| AnyDocument::from(measure(&Case::streams(streams, 7)));
    let documents = [
        ("one-stream", measured(1)),
        ("eight-streams", measured(8)),
        ("all-streams", measured(128)),
        ("tune", AnyDocument::from(tune(7))),
        ("demo", AnyDocument::from(demo(7))),
        ("simulate", AnyDocument::from(simulate(4))),
        ("simulate-many", AnyDocument::from(simulate(100))),
        ("transfer", AnyDocument::from(transfer(true))),
        ("campaign", AnyDocument::from(campaign())),
        ("path", AnyDocument::from(characteristics())),
        ("responsiveness", AnyDocument::from(responsiveness())),
        ("predict", AnyDocument::from(predict())),
        ("fit", AnyDocument::from(fit())),
        ("copy", AnyDocument::from(copy())),
    ];
    let sweeps = sweeps();
    let sweeps = sweeps.map(|(name, case)| (name, AnyDocument::from(sweep(&case))));
    let mut documents: Vec<_> = documents.into_iter().chain(sweeps).collect();
    let others: Vec<String> = env::args().skip(2).collect();
    for file in &others {
        let name = Path::new(file).file_stem().and_then(|stem| stem.to_str());
        documents.push((name.unwrap_or("other"), record::load(Path::new(file))?));
    }
    for (name, document) in documents {
        fs::write(
            directory.join(format!("{name}.html")),
            report::html(&document, None)?,
        )?;
        fs::write(directory.join(format!("{name}.json")), document.to_json())?;
        for (file, svg) in report::charts(&document, None)? {
            fs::write(directory.join(format!("{name}-{file}")), svg)?;
        }
        println!("== {name}\n{}", report::text(&document, Paint::Plain));
    }
    Ok(())
}

/// Sweeps of every shape that a person may ask for.
fn sweeps() -> [(&'static str, SweepCase); 6] {
    let usual = SweepCase::windows_against_streams(7);
    let kib = |kib: u64| Window::Fixed(units::Bytes::from_kib(kib));
    [
        ("sweep", usual.clone()),
        (
            "sweep-both-directions",
            SweepCase {
                directions: vec![Direction::Forward, Direction::Reverse],
                durations: vec![10.0, 20.0, 40.0, 80.0],
                failing: 17,
                ..usual.clone()
            },
        ),
        (
            "sweep-one-window",
            SweepCase {
                windows: vec![Window::Auto],
                streams: vec![1, 2, 4, 8, 16, 32, 64, 128],
                ..usual.clone()
            },
        ),
        (
            "sweep-one-count",
            SweepCase {
                streams: vec![8],
                cycles: 1,
                ..usual.clone()
            },
        ),
        (
            "sweep-many-windows",
            SweepCase {
                windows: (1..=20).map(|i| kib(i * i)).collect(),
                streams: (1..=128).step_by(3).collect(),
                cycles: 2,
                ..usual.clone()
            },
        ),
        (
            "sweep-one-setting",
            SweepCase {
                windows: vec![Window::Auto],
                streams: vec![4],
                cycles: 21,
                ..usual
            },
        ),
    ]
}
