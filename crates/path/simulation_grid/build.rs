//! A digest of the sources that decide what a simulation shows, so that kept runs of another
//! simulator are never taken for this one's.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

/// The simulator and what it is made of.
const CRATES: [&str; 5] = [
    "base/units",
    "base/stats",
    "path/netpath",
    "path/link",
    "path/sim",
];

fn main() -> Result<(), Box<dyn Error>> {
    let mut files = vec![PathBuf::from("../../../Cargo.lock")];
    for name in CRATES {
        gather(&Path::new("../..").join(name).join("src"), &mut files)?;
    }
    files.sort();
    let mut hasher = blake3::Hasher::new();
    for file in &files {
        println!("cargo::rerun-if-changed={}", file.display());
        hasher.update(file.to_string_lossy().as_bytes());
        hasher.update(&fs::read(file)?);
    }
    println!(
        "cargo::rustc-env=TRUNKLINE_ENGINE={}",
        hasher.finalize().to_hex()
    );
    Ok(())
}

/// All files below `folder`. Cargo looks into folders by itself for those that are new.
fn gather(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={}", folder.display());
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        match path.is_dir() {
            true => gather(&path, files)?,
            false => files.push(path),
        }
    }
    Ok(())
}
