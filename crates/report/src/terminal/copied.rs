//! The text of a copy: some lines.

use record::Copy;

use super::Paint;
use super::layout::Page;
use crate::copied;

pub(super) fn copy(copy: &Copy, paint: Paint) -> String {
    let mut page = Page::new(paint);
    page.title(&copied::title(copy));
    page.facts(&copied::facts(copy));
    for sentence in copied::sentences(copy) {
        page.sentence(&sentence);
    }
    if let Some(title) = copied::failures_title(copy) {
        page.strong(&format!("{title}:"));
        for failure in copied::failures(copy) {
            page.item(&failure);
        }
    }
    page.finish()
}
