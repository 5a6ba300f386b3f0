//! Documents of every kind, drawn.

mod html;
mod terminal;

use record::AnyDocument;
use record::synthetic::{self, Case};

#[test]
fn every_chart_of_a_page_is_a_file_with_a_name_of_its_own() {
    let documents: [AnyDocument; 9] = [
        synthetic::measure(&Case::streams(8, 1)).into(),
        synthetic::tune(1).into(),
        synthetic::demo(1).into(),
        synthetic::simulate(4).into(),
        synthetic::campaign().into(),
        synthetic::predict().into(),
        synthetic::fit().into(),
        synthetic::characteristics().into(),
        synthetic::copy().into(),
    ];
    for document in documents {
        let files = crate::charts(&document, None).unwrap();
        let kind = document.schema().name();
        assert!(!files.is_empty(), "{kind}");
        let mut names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), files.len(), "{kind}: {names:?}");
        let is_file = |(name, svg): &(String, String)| {
            name.ends_with(".svg") && !name.contains('/') && svg.starts_with("<svg")
        };
        assert!(files.iter().all(is_file), "{kind}");
    }
}
