//! The paths of `limits/` are valid, and their page names each.

use std::fs;
use std::path::Path;

use netpath::PathSpec;

#[test]
fn each_path_is_valid_and_on_the_page() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/limits");
    let page = fs::read_to_string(folder.join("README.md")).unwrap();
    let files = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let paths: Vec<PathSpec> = files
        .filter(|file| file.extension().is_some_and(|ending| ending == "toml"))
        .map(|file| PathSpec::load(file.to_str().unwrap()).unwrap())
        .collect();
    assert_eq!(paths.len(), page.matches("\n| `").count());
    for path in paths {
        assert!(
            page.contains(&format!("\n| `{}` |", path.name)),
            "{}",
            path.name
        );
    }
}
