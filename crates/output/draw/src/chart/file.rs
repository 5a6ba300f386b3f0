//! A plot as a file of its own: with a background and colours for light and dark screens.

use std::borrow::Cow;

use super::svg::WIDTH;

/// What a page's style sheet does for the plots in it, for a plot alone.
const STYLE: &str = concat!(
    "<style>",
    "text{font-family:system-ui,-apple-system,\"Segoe UI\",\"Liberation Sans\",sans-serif}",
    "#paper{fill:#ffffff}",
    "@media (prefers-color-scheme:dark){",
    "#paper{fill:#0f141a}",
    "[fill=\"#24292F\"]{fill:#e6edf3}[stroke=\"#24292F\"]{stroke:#e6edf3}",
    "[stroke=\"#D8DEE4\"]{stroke:#343c46}",
    "[fill=\"#0072B2\"]{fill:#3d9be0}[stroke=\"#0072B2\"]{stroke:#3d9be0}",
    "[fill=\"#EAF2F8\"]{fill:#1a2a38}",
    "}</style>",
);

/// Room around a plot, in units of the drawing.
const MARGIN: u32 = 28;

/// `svg` with a margin, a background and both colour schemes; `title` is what a reader of screens
/// hears.
pub fn standalone<'a>(svg: &'a str, title: Option<&str>) -> Cow<'a, str> {
    let split = svg
        .split_once('>')
        .filter(|(head, _)| head.starts_with("<svg"));
    let Some((head, drawing)) = split else {
        return Cow::Borrowed(svg);
    };
    let size = |name: &str| {
        let (_, rest) = head.split_once(&format!(" {name}=\""))?;
        rest.split_once('"')?.0.parse::<u32>().ok()
    };
    let (width, height) = (
        size("width").unwrap_or(WIDTH),
        size("height").unwrap_or(WIDTH),
    );
    let (wide, high) = (width + 2 * MARGIN, height + 2 * MARGIN);
    let title = title.map(|title| format!("<title>{}</title>", escaped(title)));
    Cow::Owned(format!(
        "<svg width=\"{}\" height=\"{}\" viewBox=\"-{MARGIN} -{MARGIN} {wide} {high}\" \
         xmlns=\"http://www.w3.org/2000/svg\">{}{STYLE}<rect id=\"paper\" x=\"-{MARGIN}\" y=\"-{MARGIN}\" \
         width=\"{wide}\" height=\"{high}\"/>{drawing}",
        wide / 2,
        high / 2,
        title.unwrap_or_default()
    ))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::palette::{BLUE, GRID, INK, SHADE, hex};

    #[test]
    fn the_colours_that_follow_the_screen_are_restyled() {
        for colour in [INK, GRID, SHADE, BLUE] {
            let name = format!("=\"{}\"]", hex(colour));
            assert!(STYLE.contains(&name), "{name}");
        }
    }

    #[test]
    fn a_file_has_a_margin_and_half_the_size_of_its_drawing() {
        let svg = "<svg width=\"1640\" height=\"944\" viewBox=\"0 0 1640 944\">\n<g/></svg>";
        let file = standalone(svg, Some("1 < 2 & 3"));
        assert!(
            file.starts_with("<svg width=\"848\" height=\"500\" viewBox=\"-28 -28 1696 1000\"")
        );
        assert!(file.contains("<title>1 &lt; 2 &amp; 3</title>") && file.ends_with("\n<g/></svg>"));
    }

    #[test]
    fn what_is_no_drawing_stays_as_it_is() {
        assert_eq!(standalone("nothing", None), "nothing");
    }
}
