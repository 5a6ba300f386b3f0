//! Pages as blocks, and drawing them: terminal text, one-file HTML pages, SVG charts.
//!
//! A [`Page`] says what is shown, as blocks in order; [`render`] draws it for a terminal or a
//! browser. Texts may come from anywhere, so they are escaped or stripped of control characters.
//! What a page of a document or of a watch has is for `report` and `watch_web` to say.
//!
//! Reading order: [`mod@format`] and [`words`], [`page`] and its tables, [`chart`], [`render`].

pub mod chart;
pub mod format;
pub mod page;
pub mod render;
mod table;
pub mod words;

pub use chart::ChartError;
pub use page::Page;
pub use render::Paint;
