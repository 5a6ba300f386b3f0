//! Lines that fit.

use super::{COLUMNS, Paint};
use crate::text;

/// Text under construction.
pub struct Page {
    paint: Paint,
    lines: String,
}

const BOLD: &str = "1";
const DIM: &str = "2";
/// Width of the names in front of facts.
const NAMES: usize = 12;

impl Page {
    pub fn new(paint: Paint) -> Self {
        Page {
            paint,
            lines: String::new(),
        }
    }

    pub fn finish(self) -> String {
        self.lines
    }

    fn line(&mut self, style: Option<&str>, text: &str) {
        let text = text.trim_end();
        match (self.paint, style) {
            (Paint::Ansi, Some(code)) => {
                self.lines.push_str(&format!("\x1b[{code}m{text}\x1b[0m\n"))
            }
            _ => self.lines.push_str(&format!("{text}\n")),
        }
    }

    pub fn gap(&mut self) {
        self.line(None, "");
    }

    pub fn title(&mut self, text: &str) {
        self.strong(text);
    }

    /// Bold sentences.
    pub fn strong(&mut self, text: &str) {
        for line in wrap(text, COLUMNS) {
            self.line(Some(BOLD), &line);
        }
    }

    pub fn sentence(&mut self, text: &str) {
        for line in wrap(text, COLUMNS) {
            self.line(None, &line);
        }
    }

    /// What the headings of the table above mean.
    pub fn legend(&mut self, text: &str) {
        for line in wrap(text, COLUMNS) {
            self.line(Some(DIM), &line);
        }
    }

    /// Lines that are laid out already.
    pub fn block(&mut self, text: &str) {
        for line in text.lines() {
            self.line(None, line);
        }
    }

    /// Names and values in two columns.
    pub fn facts(&mut self, facts: &[(&str, String)]) {
        for (name, value) in facts {
            let mut name = *name;
            for line in wrap(value, COLUMNS - NAMES) {
                self.line(None, &format!("{name:NAMES$}{line}"));
                name = "";
            }
        }
    }

    /// Names and values in two columns, the first as wide as its longest name.
    pub fn pairs(&mut self, pairs: &[(String, String)]) {
        let names = pairs.iter().map(|(name, _)| name.chars().count());
        let names = names.max().unwrap_or(0) + 2;
        for (name, value) in pairs {
            let mut name = name.as_str();
            for line in wrap(value, COLUMNS - names) {
                self.line(None, &format!("{name:names$}{line}"));
                name = "";
            }
        }
    }

    /// One of a list: a dash, and the lines below it indented.
    pub fn item(&mut self, text: &str) {
        let mut mark = "- ";
        for line in wrap(text, COLUMNS - mark.len()) {
            self.line(None, &format!("{mark}{line}"));
            mark = "  ";
        }
    }

    /// A command to paste, and below it what to know about it.
    pub fn command(&mut self, command: &str, note: Option<&str>) {
        let lines = wrap(command, COLUMNS - 6);
        for (index, line) in lines.iter().enumerate() {
            let indent = if index == 0 { "  " } else { "    " };
            let more = if index + 1 < lines.len() { " \\" } else { "" };
            self.line(None, &format!("{indent}{line}{more}"));
        }
        for line in wrap(&note.map(text::plain).unwrap_or_default(), COLUMNS - 6) {
            self.line(Some(DIM), &format!("    # {line}"));
        }
    }
}

/// Breaks `text` at spaces into lines of at most `columns` characters; a longer word stands alone, and a number stays
/// with its unit.
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in figures_whole(text) {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= columns => {
                line.push(' ');
                line.push_str(&word);
            }
            _ => lines.push(word),
        }
    }
    lines
}

/// Units that our own figures have.
const UNITS: &str = "bit/s kbit/s Mbit/s Gbit/s Tbit/s B kB MB GB TB ns us ms s min h d %";

/// The words of `text`, those of one figure together: `26.8 \u{b1} 1.2 Mbit/s`.
fn figures_whole(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match words.last_mut() {
            Some(before) if belong_together(before, word) => {
                before.push(' ');
                before.push_str(word);
            }
            _ => words.push(word.to_owned()),
        }
    }
    words
}

fn belong_together(before: &str, word: &str) -> bool {
    if before.ends_with('\u{b1}') {
        return true;
    }
    let bare = word.trim_end_matches(|c: char| c.is_ascii_punctuation() && c != '%');
    let is_unit = bare == "\u{b1}" || UNITS.split(' ').any(|unit| unit == bare);
    is_unit && before.ends_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_at_spaces_and_lose_no_word() {
        let lines = wrap("a bb ccc dddd eeeeeeeeee f", 6);
        assert_eq!(lines, ["a bb", "ccc", "dddd", "eeeeeeeeee", "f"]);
    }

    #[test]
    fn a_figure_stays_on_one_line() {
        let text = "it reaches 26.8 \u{b1} 1.2 Mbit/s, in 90 % of 3 h 20 min (42.5 ms).";
        for columns in 5..60 {
            let lines = wrap(text, columns);
            assert_eq!(lines.join(" "), text);
            for figure in [
                "26.8 \u{b1} 1.2 Mbit/s,",
                "90 %",
                "3 h",
                "20 min",
                "(42.5 ms).",
            ] {
                assert!(lines.iter().any(|line| line.contains(figure)), "{lines:?}");
            }
        }
    }

    #[test]
    fn a_broken_command_joins_again_in_a_shell() {
        let mut page = Page::new(Paint::Plain);
        let command = ["word"; 40].join(" ");
        page.command(&command, None);
        let text = page.finish();
        assert!(text.lines().count() > 1);
        let joined = text.replace("\\\n", " ");
        assert_eq!(
            joined.split_whitespace().collect::<Vec<_>>().join(" "),
            command
        );
    }
}
