//! Lines that fit.

/// Columns that every text keeps to.
pub const COLUMNS: usize = 80;

/// Whether to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paint {
    /// Plain characters only: for files, pipes and `NO_COLOR`.
    Plain,
    /// ANSI escapes for bold and colour.
    Ansi,
}

/// Text under construction.
pub struct Lines {
    paint: Paint,
    text: String,
}

const BOLD: &str = "1";
const DIM: &str = "2";
/// Least width of the names in front of facts.
const NAMES_MIN: usize = 12;

impl Lines {
    pub fn new(paint: Paint) -> Self {
        Lines {
            paint,
            text: String::new(),
        }
    }

    pub fn finish(self) -> String {
        self.text
    }

    fn line(&mut self, style: Option<&str>, text: &str) {
        let text = text.trim_end();
        match (self.paint, style) {
            (Paint::Ansi, Some(code)) => {
                self.text.push_str(&format!("\x1b[{code}m{text}\x1b[0m\n"))
            }
            _ => self.text.push_str(&format!("{text}\n")),
        }
    }

    pub fn gap(&mut self) {
        self.line(None, "");
    }

    /// Bold sentences.
    pub fn strong(&mut self, text: &str) {
        self.lines(Some(BOLD), wrap(text, COLUMNS));
    }

    pub fn sentence(&mut self, text: &str) {
        self.lines(None, wrap(text, COLUMNS));
    }

    /// What the headings of the table above mean.
    pub fn legend(&mut self, text: &str) {
        self.lines(Some(DIM), wrap(text, COLUMNS));
    }

    /// Lines that are laid out already.
    pub fn block(&mut self, text: &str) {
        self.lines(None, text.lines().map(str::to_owned).collect());
    }

    /// Names and phrases in two columns.
    pub fn pairs(&mut self, pairs: &[(String, String)]) {
        let names = pairs.iter().map(|(name, _)| name.chars().count() + 2);
        let names = names.fold(NAMES_MIN, usize::max);
        for (name, phrase) in pairs {
            self.lines(None, hang(&format!("{name:names$}"), phrase));
        }
    }

    /// One of a list: a dash, and the lines below it indented.
    pub fn item(&mut self, text: &str) {
        self.lines(None, hang("- ", text));
    }

    /// A command, broken at spaces with a backslash so that it can be pasted, and below it what to
    /// know about it.
    pub fn command(&mut self, command: &str, note: &str) {
        let lines = wrap(command, COLUMNS - 6);
        for (index, line) in lines.iter().enumerate() {
            let indent = if index == 0 { "  " } else { "    " };
            let more = if index + 1 < lines.len() { " \\" } else { "" };
            self.line(None, &format!("{indent}{line}{more}"));
        }
        for line in wrap(note, COLUMNS - 6) {
            self.line(Some(DIM), &format!("    # {line}"));
        }
    }

    fn lines(&mut self, style: Option<&str>, lines: Vec<String>) {
        lines.iter().for_each(|line| self.line(style, line));
    }
}

/// `head` with `text` beside it, in lines that fit; those after the first are indented.
pub fn hang(head: &str, text: &str) -> Vec<String> {
    let indent = head.chars().count();
    let mut head = head.to_owned();
    let line = |text: String| {
        let line = format!("{head}{text}");
        head = " ".repeat(indent);
        line
    };
    wrap(text, COLUMNS.saturating_sub(indent))
        .into_iter()
        .map(line)
        .collect()
}

/// Breaks `text` at spaces into lines of at most `columns` characters; a longer word stands alone,
/// and a number stays with its unit.
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
        let mut page = Lines::new(Paint::Plain);
        let command = ["word"; 40].join(" ");
        page.command(&command, "");
        let text = page.finish();
        assert!(text.lines().count() > 1);
        let joined = text.replace("\\\n", " ");
        assert_eq!(
            joined.split_whitespace().collect::<Vec<_>>().join(" "),
            command
        );
    }
}
