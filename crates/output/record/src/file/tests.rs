use super::*;
use crate::synthetic::{self, Case};

fn refused(text: &str) -> LoadError {
    let error = parse(Path::new("run.json"), text).unwrap_err();
    assert!(!error.hint().unwrap().is_empty());
    error
}

#[test]
fn a_measure_comes_back_as_it_was() {
    let document = synthetic::measure(&Case::streams(3, 1));
    let back = parse(Path::new("x"), &document.to_json()).unwrap();
    assert_eq!(back, AnyDocument::from(document));
}

#[test]
fn a_tune_comes_back_as_it_was() {
    let document = synthetic::tune(2);
    let back = parse(Path::new("x"), &document.to_json()).unwrap();
    assert_eq!(back, AnyDocument::from(document));
}

#[test]
fn simulations_come_back_as_they_were() {
    for document in [synthetic::simulate(8), synthetic::transfer(true)] {
        let back = parse(Path::new("x"), &document.to_json()).unwrap();
        assert_eq!(back, AnyDocument::from(document));
    }
    let document = synthetic::campaign();
    let back = parse(Path::new("x"), &document.to_json()).unwrap();
    assert_eq!(back, AnyDocument::from(document));
}

#[test]
fn a_demo_comes_back_from_the_disk_as_it_was() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("demo.json");
    let document = synthetic::demo(3);
    save(&path, document.to_json()).unwrap();
    let back = load(&path).unwrap();
    assert_eq!(back, AnyDocument::from(document));
}

#[test]
fn saving_replaces_the_old_file_and_leaves_nothing_beside_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run.json");
    save(&path, "old").unwrap();
    save(&path, "new").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
}

#[test]
fn a_failed_save_leaves_nothing_behind() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("taken");
    fs::create_dir(&path).unwrap();
    let error = save(&path, "text").unwrap_err();
    assert!(error.to_string().contains("taken"), "{error}");
    // A directory cannot be replaced by a file, so the rename fails after the write.
    assert!(replace(&path, b"text").is_err());
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
}

#[test]
fn a_link_stays_a_link() {
    let directory = tempfile::tempdir().unwrap();
    let (real, link) = (directory.path().join("real"), directory.path().join("link"));
    save(&real, "old").unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    save(&link, "new").unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(&real).unwrap(), "new");
}

#[test]
fn a_document_cut_anywhere_is_said_to_break_off() {
    let text = synthetic::measure(&Case::streams(1, 4)).to_json();
    for share in [0.01, 0.3, 0.9, 0.999] {
        let cut = &text[..(text.len() as f64 * share) as usize];
        let error = refused(cut);
        assert!(
            matches!(error, LoadError::Truncated { .. }),
            "{share}: {error}"
        );
    }
    assert!(matches!(
        refused(""),
        LoadError::Truncated { line: 1 | 0, .. }
    ));
}

#[test]
fn other_text_is_said_not_to_be_json() {
    let error = refused("Connecting to host example.org, port 5201");
    assert_eq!(
        told(&error),
        "run.json: not JSON: expected value at line 1 column 1"
    );
}

#[test]
fn another_schema_is_named_beside_the_known_ones() {
    assert_eq!(
        refused(r#"{"schema": "other/program"}"#).to_string(),
        "run.json: the schema is `other/program`, not one of \
         trunkline/measure, trunkline/tune, trunkline/demo, trunkline/emulate, trunkline/simulate, \
         trunkline/campaign, trunkline/fluid, trunkline/predict, trunkline/fit, trunkline/sweep, \
         trunkline/path, trunkline/responsiveness, trunkline/datagrams, trunkline/copy"
    );
    let iperf3 = refused(r#"{"start": {}, "end": {}}"#).to_string();
    assert!(iperf3.contains("there is no key `schema`"), "{iperf3}");
    let list = refused("[1, 2]").to_string();
    assert!(list.contains("there is no key `schema`"), "{list}");
    let number = refused(r#"{"schema": 7}"#).to_string();
    assert!(number.contains("the schema is `7`"), "{number}");
}

#[test]
fn a_newer_version_is_named_with_ours() {
    let error = refused(r#"{"schema": "trunkline/measure", "schema_version": 9}"#);
    assert_eq!(
        error.to_string(),
        "run.json: schema version 9 is newer than 3"
    );
}

#[test]
fn a_missing_key_is_named() {
    let text = synthetic::tune(5).to_json();
    let without = text.replace("\"recommended\"", "\"recommends\"");
    let error = told(&refused(&without));
    assert!(error.contains("missing field `recommended`"), "{error}");
}

#[test]
fn deep_nesting_is_refused_without_a_fall() {
    let error = refused(&"[".repeat(100_000));
    assert!(told(&error).contains("recursion limit"), "{error}");
}

#[test]
fn a_target_is_checked_without_a_trace() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.json");
    check_target(&file).unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    fs::write(&file, "old").unwrap();
    check_target(&file).unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), "old");
    check_target(Path::new("/dev/null")).unwrap();
    assert!(check_target(folder.path()).is_err());
    let error = check_target(&folder.path().join("none/run.json")).unwrap_err();
    assert!(error.to_string().contains("none/run.json"), "{error}");
}

#[test]
fn a_missing_file_is_named() {
    let error = load(Path::new("/nowhere/run.json")).unwrap_err();
    assert!(told(&error).starts_with("cannot read /nowhere/run.json: No such file"));
}

/// The message and what caused it, as a user reads them.
fn told(error: &LoadError) -> String {
    match std::error::Error::source(error) {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}
