//! What a peer says to people, made safe to print.

/// `text` without control characters, which could move a terminal's cursor, and of at most `characters_max` characters.
pub(super) fn printable(text: &str, characters_max: usize) -> String {
    let shown = |one: char| if one.is_control() { '\u{FFFD}' } else { one };
    text.chars().map(shown).take(characters_max).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_is_not_steered() {
        assert_eq!(printable("\x1b[2Jhé\n", 6), "\u{FFFD}[2Jhé");
    }
}
