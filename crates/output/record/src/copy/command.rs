//! A command as it can be pasted into a shell.

use std::ffi::OsString;

/// The words of a command, quoted where a shell needs it.
///
/// ```
/// use record::copy::shown_command;
/// let words = ["trunkline", "copy", "it's here", "dtn:/store"];
/// assert_eq!(shown_command(words.map(Into::into)), r"trunkline copy 'it'\''s here' dtn:/store");
/// ```
pub fn shown_command(words: impl IntoIterator<Item = OsString>) -> String {
    let shown = words
        .into_iter()
        .map(|word| quoted(&word.to_string_lossy()));
    shown.collect::<Vec<_>>().join(" ")
}

fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-:@%+=,".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}
