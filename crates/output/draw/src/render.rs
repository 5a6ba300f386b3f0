//! Pages drawn for a terminal and for a browser.

pub mod html;
mod layout;
pub mod terminal;

pub use terminal::Paint;
