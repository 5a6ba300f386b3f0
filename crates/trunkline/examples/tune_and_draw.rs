//! Finds the operating point of a simulated path, and draws it: an SVG chart and an HTML page.
//!
//! `cargo run -p trunkline --example tune_and_draw -- FOLDER`

use std::env;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use trunkline::tune::TunePlan;
use trunkline::{AnyDocument, Cancel, Progress, Target, report, tune};

#[allow(dead_code)] // A test calls `run`.
fn main() -> Result<(), Box<dyn Error>> {
    let folder = env::args_os().nth(1).unwrap_or_else(|| ".".into());
    for file in run(Path::new(&folder))? {
        println!("wrote {}", file.display());
    }
    Ok(())
}

/// Writes the files into `folder` and gives their names.
pub fn run(folder: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut target = Target::open("sim:slac-cern", 1)?;
    let tuned = tune(&mut target, &TunePlan::default(), &Cancel::new(), &mut tell)?;
    let answer = tuned.answer().ok_or("nothing is recommended")?;
    let setting = &answer.recommended.setting;
    println!("use {} streams, window {}", setting.streams, setting.window);

    let document = AnyDocument::from(tuned.document);
    let page = folder.join("tune.html");
    fs::write(&page, report::html(&document, None)?)?;
    let mut files = vec![page];
    for (name, svg) in report::charts(&document, None)? {
        let file = folder.join(name);
        fs::write(&file, svg)?;
        files.push(file);
    }
    Ok(files)
}

/// One line for each sample.
fn tell(progress: Progress<'_>) {
    if let Progress::SampleDone { number, sample } = progress {
        let (streams, window) = (sample.setting.streams, sample.setting.window);
        let goodput = sample.summary.goodput().mean.human();
        println!("sample {number}: {streams} x {window} carried {goodput}");
    }
}
