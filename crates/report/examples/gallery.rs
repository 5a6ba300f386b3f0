//! Writes the page and the terminal text of made-up documents into a directory, to look at.
//!
//! `cargo run -p trunkline-report --example gallery -- DIRECTORY`

use std::env;
use std::error::Error;
use std::fs;
use std::path::PathBuf;

use record::AnyDocument;
use record::synthetic::{
    Case, campaign, characteristics, demo, measure, responsiveness, simulate, transfer, tune,
};
use report::Paint;

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
    ];
    for (name, document) in documents {
        fs::write(
            directory.join(format!("{name}.html")),
            report::page(&document)?,
        )?;
        println!("== {name}\n{}", report::text(&document, Paint::Plain));
    }
    Ok(())
}
