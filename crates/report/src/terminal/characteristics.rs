//! The text of a characteristics document.

use record::Characteristics;

use super::Paint;
use super::layout::Page;

pub(super) fn characteristics(document: &Characteristics, paint: Paint) -> String {
    let mut page = Page::new(paint);
    page.sentence(&document.target.name);
    page.finish()
}
