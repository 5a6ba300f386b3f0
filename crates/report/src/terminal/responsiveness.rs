//! The text of a responsiveness document.

use record::Responsiveness;

use super::Paint;
use super::characteristics::left_out;
use super::layout::Page;
use crate::{responsive, text};

pub(super) fn responsiveness(document: &Responsiveness, paint: Paint) -> String {
    let mut page = Page::new(paint);
    page.title(&text::plain(&document.target.name));
    for way in &document.ways {
        page.gap();
        page.strong(&responsive::title(way));
        page.facts(&responsive::facts(way));
        for sentence in responsive::sentences(way) {
            page.sentence(&sentence);
        }
    }
    left_out(&mut page, &document.left_out);
    page.gap();
    page.sentence(responsive::NOT_FOLLOWED);
    page.finish()
}
