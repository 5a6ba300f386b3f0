//! The text of a path document.

use record::Characteristics;
use record::characteristics::LeftOut;

use super::Paint;
use super::layout::Page;
use super::predicted::table;
use crate::{characteristic, text};

pub(super) fn characteristics(document: &Characteristics, paint: Paint) -> String {
    let mut page = Page::new(paint);
    page.title(&text::plain(&document.target.name));
    page.strong(&characteristic::verdict(document));
    page.gap();
    page.pairs(&characteristic::facts(document));
    for group in characteristic::trace_groups(document) {
        page.gap();
        page.strong(&characteristic::group_title(&group));
        page.block(&table(
            &characteristic::hops(group[0], &document.loads),
            paint,
        ));
    }
    for sentence in characteristic::queues(document) {
        page.sentence(&sentence);
    }
    for buffers in &document.buffers {
        page.gap();
        page.strong(&format!("Socket buffers {}", buffers.way.name()));
        page.block(&table(&characteristic::buffers(buffers), paint));
    }
    if !document.buffers.is_empty() {
        page.legend(characteristic::BUFFERS_LEGEND);
    }
    left_out(&mut page, &document.left_out);
    page.gap();
    page.sentence(&characteristic::cost(document));
    page.finish()
}

/// What could not be measured, and what would make it possible.
pub(super) fn left_out(page: &mut Page, left_out: &[LeftOut]) {
    if left_out.is_empty() {
        return;
    }
    page.gap();
    page.strong("Left out");
    for left in characteristic::left_out(left_out) {
        page.item(&left);
    }
}
