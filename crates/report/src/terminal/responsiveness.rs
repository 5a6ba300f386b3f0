//! The text of a responsiveness document.

use record::Responsiveness;

use super::Paint;
use super::layout::Page;

pub(super) fn responsiveness(document: &Responsiveness, paint: Paint) -> String {
    let mut page = Page::new(paint);
    page.sentence(&document.target.name);
    page.finish()
}
