//! A plot as a file of its own: with a background and colours for light and dark screens.

use std::borrow::Cow;

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
    "<rect id=\"paper\" width=\"100%\" height=\"100%\"/>",
);

/// `svg` with a margin, a background and both colour schemes; `title` is what a reader of screens hears.
pub fn standalone<'a>(svg: &'a str, title: Option<&str>) -> Cow<'a, str> {
    let Some(head) = svg
        .find("<svg")
        .and_then(|at| Some(at + svg[at..].find('>')? + 1))
    else {
        return Cow::Borrowed(svg);
    };
    let title = title.map(|title| format!("<title>{}</title>", escaped(title)));
    let (before, after) = svg.split_at(head);
    Cow::Owned(format!(
        "{before}{}{STYLE}{after}",
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
    use crate::plot::palette::{BLUE, GRID, INK, SHADE};

    #[test]
    fn the_colours_that_follow_the_screen_are_restyled() {
        for colour in [INK, GRID, SHADE, BLUE] {
            let name = format!("=\"#{:02X}{:02X}{:02X}\"]", colour.0, colour.1, colour.2);
            assert!(STYLE.contains(&name), "{name}");
        }
    }

    #[test]
    fn a_file_has_its_style_before_the_drawing() {
        let file = standalone("<svg width=\"2\">\n<g/></svg>", Some("1 < 2 & 3"));
        assert!(file.starts_with("<svg width=\"2\"><title>1 &lt; 2 &amp; 3</title><style>"));
        assert!(file.ends_with("height=\"100%\"/>\n<g/></svg>"));
    }
}
