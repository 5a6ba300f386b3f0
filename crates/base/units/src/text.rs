//! What a peer says to people, made safe to print.

use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

/// Whether a character is not shown itself, but steers a terminal or changes how others are shown:
/// control characters, Unicode's format characters (category Cf), and its separators of lines and
/// paragraphs.
///
/// U+202E turns the order of what follows round, so that `exe.txt` can be read where `txt.exe`
/// stands.
/// ```
/// use units::steers;
/// assert!(steers('\u{202E}') && steers('\x1b') && steers('\u{2028}'));
/// assert!(!steers('é') && !steers(' '));
/// ```
pub fn steers(sign: char) -> bool {
    use GeneralCategory::{Control, Format, LineSeparator, ParagraphSeparator};
    matches!(
        sign.general_category(),
        Control | Format | LineSeparator | ParagraphSeparator
    )
}

/// `text` with U+FFFD for characters that steer, and of at most `characters_max` characters.
pub fn printable(text: &str, characters_max: usize) -> String {
    let shown = |one: char| if steers(one) { '\u{FFFD}' } else { one };
    text.chars().map(shown).take(characters_max).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_is_not_steered() {
        assert_eq!(printable("\x1b[2Jhé\n", 6), "\u{FFFD}[2Jhé");
        let turned = "a\u{202E}b\u{2066}\u{200B}\u{FEFF}";
        assert_eq!(printable(turned, 9), "a\u{FFFD}b\u{FFFD}\u{FFFD}\u{FFFD}");
    }
}
