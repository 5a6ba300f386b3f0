//! Any text as a result document, ours or iperf3's: refused with the next step, or shown as text,
//! plots and a page without control characters and without a tag that the document brought.

use std::path::Path;

use draw::Paint;
use errors::Hint;
use record::AnyDocument;

/// The check of this target.
pub fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let path = Path::new("fuzz.json");
    match record::parse(path, text) {
        Ok(document) => show(&document),
        Err(error) => assert!(!error.to_string().is_empty() && error.hint().is_some()),
    }
    if record::iperf3::is_iperf3(text) {
        match record::iperf3::read(path, text) {
            Ok(document) => show(&AnyDocument::Measure(Box::new(document))),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
}

fn show(document: &AnyDocument) {
    let text = report::text(document, Paint::Plain);
    let is_stray = |c: char| c.is_control() && c != '\n';
    assert!(!text.contains(is_stray), "{text:?}");
    if let Ok(page) = report::html(document, None) {
        assert!(!page.contains("<script>alert"), "a tag of the document's");
    }
    let _ = report::charts(document, None);
}
