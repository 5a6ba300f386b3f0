//! Lists of names that alone are copied.

use std::mem;
use std::path::Path;

use copy_protocol::{CopyDirection, LISTED_MAX};

use crate::Error;

/// The names of a list, one a line; empty lines and those that begin with `#` or `;` are none.
///
/// * `ends_with_zero`: each name ends with a zero byte instead, and may hold anything else.
///
/// ```
/// use trunkline::copy::listed;
/// assert_eq!(listed(b"a\n# no name\n\nb/c d\r\n", false), [&b"a"[..], b"b/c d"]);
/// assert_eq!(listed(b"#a\0b\nc\0", true), [&b"#a"[..], b"b\nc"]);
/// ```
pub fn listed(text: &[u8], ends_with_zero: bool) -> Vec<Vec<u8>> {
    match ends_with_zero {
        true => names(text, 0, &[]),
        false => names(text, b'\n', b"#;"),
    }
}

/// Whether the names of a list from `file` are any, and not too many for a far end.
///
/// # Errors
/// When there are none, or more than a far end takes.
pub fn check_listed(names: &[Vec<u8>], file: &Path, direction: CopyDirection) -> Result<(), Error> {
    let bytes: usize = names.iter().map(Vec::len).sum();
    let (count_max, bytes_max) = LISTED_MAX;
    let is_too_much = names.len() > count_max || bytes > bytes_max;
    if names.is_empty() {
        return Err(Error::wrong_request(
            format!("{} lists no names", file.display()),
            "write one name a line, as it is below the source; `-0` is for lists whose names end \
             with a zero byte",
        ));
    }
    match is_too_much && direction == CopyDirection::Get {
        true => Err(Error::wrong_request(
            format!(
                "{} lists {} names of {bytes} bytes; a far end takes at most {count_max} of \
                 {bytes_max} bytes together",
                file.display(),
                names.len()
            ),
            "split the list, start the copy at the other host, or choose with `--include` and \
             `--exclude`",
        )),
        false => Ok(()),
    }
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
