//! Texts of predictions and fits.

use comfy_table::{Attribute, Cell, Color};
use record::{Fit, Predict};

use super::Paint;
use super::layout::Page;
use super::table::{align, empty};
use crate::predicted::{self, Rows};
use crate::text;

/// The text of a prediction.
pub fn predict(body: &Predict, paint: Paint) -> String {
    let mut page = Page::new(paint);
    page.title(&text::plain(&body.path.name));
    page.sentence(&text::plain(&body.path.description));
    page.gap();
    page.block(&table(&predicted::points(body), paint));
    page.legend(&predicted::points_legend(body));
    page.gap();
    page.strong(&predicted::recommendation(body));
    for sentence in predicted::assumptions(body) {
        page.sentence(&sentence);
    }
    page.gap();
    page.block(&table(&predicted::one_stream(body), paint));
    page.gap();
    page.title("Buffers per stream");
    page.block(&table(&predicted::buffers(body), paint));
    page.finish()
}

/// The text of curves through measured points.
pub fn fit(body: &Fit, paint: Paint) -> String {
    let mut page = Page::new(paint);
    page.title(&text::plain(&body.file));
    let models = predicted::models(body);
    if !models.rows.is_empty() {
        page.block(&table(&models, paint));
        page.gap();
    }
    page.strong(&predicted::optimum(body));
    for sentence in predicted::remarks(body) {
        page.sentence(&sentence);
    }
    for (index, (form, text)) in predicted::coefficients(body).iter().enumerate() {
        if index == 0 {
            page.gap();
            page.title("Coefficients, goodput in Mbit/s");
        }
        page.sentence(&format!("{form}: {text}"));
    }
    for (index, problem) in predicted::problems(body).iter().enumerate() {
        if index == 0 {
            page.gap();
        }
        page.sentence(problem);
    }
    page.finish()
}

pub(super) fn table(rows: &Rows, paint: Paint) -> String {
    let mut table = empty(paint);
    let bold = |name: &String| Cell::new(name).add_attribute(Attribute::Bold);
    table.set_header(rows.names.iter().map(bold));
    for (marked, cells) in &rows.rows {
        let cell = |text: &String| match marked {
            true => Cell::new(text)
                .fg(Color::Green)
                .add_attribute(Attribute::Bold),
            false => Cell::new(text),
        };
        table.add_row(cells.iter().map(cell));
    }
    let last = rows.names.len();
    let numbers = rows.words..last;
    align(&mut table, numbers);
    table.trim_fmt()
}
