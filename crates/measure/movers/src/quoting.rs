//! Words as a shell takes them.

/// Characters that no shell minds.
fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-_./:,=@%+[]".contains(c)
}

/// A word in single quotes where it needs them.
pub(crate) fn quoted(word: &str) -> String {
    match !word.is_empty() && word.chars().all(is_plain) && !word.contains('[') {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// `%20` and the like for what a URL's path does not hold.
pub(crate) fn in_url(path: &str) -> String {
    let one = |byte: &u8| match *byte {
        plain if plain.is_ascii_alphanumeric() || b"/-_.~+,=:@".contains(&plain) => {
            char::from(plain).to_string()
        }
        other => format!("%{other:02X}"),
    };
    path.as_bytes().iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_shell_takes_apart_is_quoted() {
        assert_eq!(quoted("/store/a-b_c.dat"), "/store/a-b_c.dat");
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted("$(reboot)"), "'$(reboot)'");
        assert_eq!(quoted(""), "''");
    }

    #[test]
    fn a_path_in_a_url_holds_no_space() {
        assert_eq!(in_url("/a b/c%d"), "/a%20b/c%25d");
    }
}
