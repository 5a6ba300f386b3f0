//! The manual pages: every option has text, and the usual sections are there.

mod common;

use std::fs;

use common::{complaint, run};

#[test]
fn every_page_has_the_usual_sections_and_no_option_without_text() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(&["man", "--dir", folder.path().to_str().unwrap()]);
    assert!(output.status.success(), "{}", complaint(&output));
    let mut names = Vec::new();
    for file in fs::read_dir(folder.path()).unwrap() {
        let file = file.unwrap();
        let name = file.file_name().into_string().unwrap();
        let page = fs::read_to_string(file.path()).unwrap();
        for section in ["EXIT STATUS", "ENVIRONMENT", "FILES", "SEE ALSO"] {
            assert!(
                page.contains(&format!(".SH \"{section}\""))
                    || page.contains(&format!(".SH {section}")),
                "{name}: {section}"
            );
        }
        assert!(!page.contains("EXTRA"), "{name}");
        let lines: Vec<&str> = page.lines().collect();
        for (index, line) in lines.iter().enumerate() {
            // The line behind a tag names the option, the next one is its text.
            if *line == ".TP" {
                let text = lines.get(index + 2).unwrap_or(&"");
                assert!(
                    !text.starts_with('.') || text.starts_with("..."),
                    "{name}: {:?}",
                    lines.get(index + 1)
                );
            }
        }
        names.push(name);
    }
    for page in ["trunkline.1", "trunkline-copy.1", "trunkline-watch-serve.1"] {
        assert!(names.iter().any(|name| name == page), "{names:?}");
    }
}
