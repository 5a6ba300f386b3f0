//! Colours that stay apart for colour-blind eyes.
//!
//! Source: Okabe and Ito, "Color universal design" (2008), without its black and with the yellow
//! last, since it is weak on white.

pub use plotters::style::RGBColor;

/// Text and axes. Written `#24292F` in the SVG.
pub const INK: RGBColor = RGBColor(0x24, 0x29, 0x2F);
/// Grid lines. Written `#D8DEE4` in the SVG.
pub const GRID: RGBColor = RGBColor(0xD8, 0xDE, 0xE4);
/// Behind the steady window. Written `#EAF2F8` in the SVG.
pub const SHADE: RGBColor = RGBColor(0xEA, 0xF2, 0xF8);
/// What is grouped together or not chosen.
pub const GREY: RGBColor = RGBColor(0x9A, 0xA3, 0xAB);
/// The chosen setting, and lost probes.
pub const ACCENT: RGBColor = RGBColor(0xD5, 0x5E, 0x00);
/// The first of the [`SERIES`]. Written `#0072B2` in the SVG.
pub const BLUE: RGBColor = RGBColor(0x00, 0x72, 0xB2);

/// Colours of series, in order.
pub const SERIES: [RGBColor; 7] = [
    BLUE,
    RGBColor(0x56, 0xB4, 0xE9),
    RGBColor(0x00, 0x9E, 0x73),
    RGBColor(0xE6, 0x9F, 0x00),
    RGBColor(0xD5, 0x5E, 0x00),
    RGBColor(0xCC, 0x79, 0xA7),
    RGBColor(0xF0, 0xE4, 0x42),
];

/// The colour of the series `index`; they repeat after seven.
pub fn series(index: usize) -> RGBColor {
    SERIES[index % SERIES.len()]
}

/// The colours of lines: the seventh of the palette, yellow, is too weak for one.
pub fn line_colour(index: usize) -> RGBColor {
    match index % SERIES.len() {
        6 => INK,
        index => series(index),
    }
}

/// The colours of windows: on a dark screen the palette's two blues are much alike, so they stand
/// far apart here, and the accent is left to what is chosen.
pub fn window_colour(index: usize) -> RGBColor {
    let [blue, sky, green, orange, _, pink, _] = SERIES;
    let colours = [blue, orange, green, pink, sky, INK];
    colours[index % colours.len()]
}

/// A colour as SVG and style sheets write it.
pub fn hex(RGBColor(red, green, blue): RGBColor) -> String {
    format!("#{red:02X}{green:02X}{blue:02X}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_style_sheet_restyles_the_colours_that_are_drawn() {
        let style = include_str!("../render/style.css");
        for name in [INK, GRID, SHADE, BLUE].map(hex) {
            assert!(style.contains(&format!("=\"{name}\"]")), "{name}");
        }
    }
}
