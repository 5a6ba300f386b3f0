//! Which of what the sources have is copied: rules, and lists of names.

use std::io::{self, Read};
use std::path::Path;
use std::{fs, mem};

use wire::copy::{CopyDirection, LISTED_MAX, Selection};

use crate::args::Copy;
use crate::failure::Failure;

/// Most bytes of a list: some millions of names.
const LIST_MAX: u64 = 1 << 30;

/// What the arguments say of it.
pub(super) fn of(arguments: &Copy, direction: CopyDirection) -> Result<Selection, Failure> {
    let listed = match &arguments.files_from {
        None => None,
        Some(file) => Some(listed(file, arguments, direction)?),
    };
    Ok(Selection {
        rules: arguments.rules.0.clone(),
        listed,
    })
}

fn listed(
    file: &Path,
    arguments: &Copy,
    direction: CopyDirection,
) -> Result<Vec<Vec<u8>>, Failure> {
    let text = read(file).map_err(|error| Failure::unreadable(file, &error))?;
    let names = match arguments.from0 {
        true => names(&text, 0, &[]),
        false => names(&text, b'\n', b"#;"),
    };
    let bytes: usize = names.iter().map(Vec::len).sum();
    let (count_max, bytes_max) = LISTED_MAX;
    let is_too_much = names.len() > count_max || bytes > bytes_max;
    match names.is_empty() {
        true => Err(Failure::wrong_request(
            &format!("{} lists no names", file.display()),
            "write one name a line, as it is below the source; `-0` is for lists whose names end with a zero byte",
        )),
        false if is_too_much && direction == CopyDirection::Get => Err(Failure::wrong_request(
            &format!(
                "{} lists {} names of {bytes} bytes; a far end takes at most {count_max} of {bytes_max} bytes together",
                file.display(),
                names.len()
            ),
            "split the list, start the copy at the other host, or choose with `--include` and `--exclude`",
        )),
        false => Ok(names),
    }
}

fn read(file: &Path) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    let source: Box<dyn Read> = match file.as_os_str() == "-" {
        true => Box::new(io::stdin()),
        false => Box::new(fs::File::open(file)?),
    };
    source.take(LIST_MAX).read_to_end(&mut text)?;
    Ok(text)
}

/// Names between `end`s; empty ones, and those that begin with one of `remarks`, are none.
fn names(text: &[u8], end: u8, remarks: &[u8]) -> Vec<Vec<u8>> {
    let mut names: Vec<Vec<u8>> = text
        .split(|byte| *byte == end)
        .map(<[u8]>::to_vec)
        .collect();
    if end == b'\n' {
        for name in &mut names {
            // A list from another system.
            let kept = name.strip_suffix(b"\r").map(<[u8]>::to_vec);
            *name = kept.unwrap_or_else(|| mem::take(name));
        }
    }
    names.retain(|name| name.first().is_some_and(|first| !remarks.contains(first)));
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_a_name_a_line_or_ends_each_with_a_zero_byte() {
        let text = b"a\n# no name\n\n;neither\nb/c d\r\n./#e\n";
        assert_eq!(names(text, b'\n', b"#;"), [&b"a"[..], b"b/c d", b"./#e"]);
        assert_eq!(names(b"#a\0b\nc\0", 0, &[]), [&b"#a"[..], b"b\nc"]);
    }
}
