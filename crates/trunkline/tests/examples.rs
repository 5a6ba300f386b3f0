//! The examples run, and show what they say.

#[path = "../examples/copy_folder.rs"]
mod copy_folder;
#[path = "../examples/read_columns.rs"]
mod read_columns;
#[path = "../examples/tune_and_draw.rs"]
mod tune_and_draw;
#[path = "../examples/two_flows.rs"]
mod two_flows;

use std::fs;

#[test]
fn two_flows_share_a_link() {
    let result = two_flows::run().unwrap();
    let rates = result.streams.iter().map(|stream| stream.goodput.as_f64());
    let rates: Vec<f64> = rates.collect();
    assert_eq!(rates.len(), 2);
    // Neither starves, and together they cannot have more than the link.
    assert!(rates.iter().all(|rate| *rate > 5e6), "{rates:?}");
    assert!(rates.iter().sum::<f64>() < 50e6, "{rates:?}");
    assert!(result.drops.total() > 0);
}

#[test]
fn a_search_is_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let files = tune_and_draw::run(folder.path()).unwrap();
    let text = |file| fs::read_to_string(file).unwrap();
    assert!(text(&files[0]).contains("<html"));
    assert!(files.len() > 1, "{files:?}");
    for chart in &files[1..] {
        assert!(text(chart).starts_with("<svg"), "{}", chart.display());
    }
}

#[test]
fn a_folder_is_copied() {
    let folder = tempfile::tempdir().unwrap();
    let copied = copy_folder::run(folder.path()).unwrap();
    assert_eq!(copied.outcome.files, 2);
    assert_eq!(copied.outcome.bytes.get(), (24 << 20) + 16);
    assert!(copied.cut.is_none());
}

#[test]
fn a_column_of_many_files_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let columns = read_columns::run(folder.path()).unwrap();
    assert_eq!(columns.len(), 10);
    for (number, column) in columns.iter().enumerate() {
        assert!(*column == vec![number as u8; 400_000]);
    }
}
