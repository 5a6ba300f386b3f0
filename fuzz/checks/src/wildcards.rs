//! Any bytes as names with wildcards at the far end: refused with a hint, or names that are there
//! and below the root.

use std::fs;
use std::sync::OnceLock;

use copy_protocol::{Attributes, Kind};
use files::Root;
use files::source::{Found, Source, SourceSpec};
use tempfile::TempDir;

/// Longer patterns only take longer.
const LENGTH_MAX: usize = 48;
const ENTRIES_MAX: usize = 2_000;

/// The check of this target.
pub fn check(bytes: &[u8]) {
    let Some((choice, text)) = bytes.split_first() else {
        return;
    };
    let text = &text[..text.len().min(LENGTH_MAX)];
    let paths: Vec<Vec<u8>> = text
        .split(|byte| *byte == b'\n')
        .map(<[u8]>::to_vec)
        .collect();
    let spec = SourceSpec {
        paths,
        wildcards: choice & 1 == 0,
        recursive: choice & 2 == 0,
        attributes: Attributes {
            permissions: true,
            times: true,
            links: choice & 4 == 0,
            kept: copy_protocol::Kept::NOTHING,
        },
        selection: copy_protocol::Selection::default(),
    };
    match Source::new(root(), spec) {
        Ok(source) => {
            for found in source.walk().take(ENTRIES_MAX) {
                is_ours(&found);
            }
        }
        Err(problem) => assert!(!problem.what.is_empty()),
    }
}

/// What is told as left out repeats the name that was asked for; entries are what would be copied.
fn is_ours(found: &Found) {
    if let Found::Entry(entry, _) = found {
        let last = entry.name.components().next_back().unwrap_or_default();
        let is_out = last == b"out" && !matches!(entry.kind, Kind::Link(_));
        assert!(
            !is_out && last != b"OUTSIDE",
            "not below the root: {entry:?}"
        );
    }
}

/// A few names in folders, a link out and a link round; made once.
fn root() -> &'static Root {
    static ROOT: OnceLock<(TempDir, Root)> = OnceLock::new();
    let (_, root) = ROOT.get_or_init(|| {
        let folder = make().expect("a temporary folder can be made");
        let root = Root::beneath(&folder.path().join("root")).expect("it was just made");
        (folder, root)
    });
    root
}

fn make() -> std::io::Result<TempDir> {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir()?;
    let root = folder.path().join("root");
    fs::create_dir_all(root.join("run7/raw"))?;
    fs::create_dir(root.join(".cache"))?;
    for name in [
        "a.root",
        "b.root",
        "[x]",
        "a b",
        ".hidden",
        "run7/hits",
        "run7/raw/{1}",
    ] {
        fs::write(root.join(name), name)?;
    }
    fs::write(folder.path().join("OUTSIDE"), "nobody may see this")?;
    symlink("../OUTSIDE", root.join("out"))?;
    symlink("..", root.join("up"))?;
    symlink(".", root.join("run7/round"))?;
    Ok(folder)
}
