//! The text of a sweep document.

use record::Sweep;

use super::Paint;
use super::layout::Page;

pub(super) fn sweep(document: &Sweep, paint: Paint) -> String {
    let mut page = Page::new(paint);
    page.sentence(&document.target.name);
    page.finish()
}
