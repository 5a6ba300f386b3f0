//! Versions as programs print them.

use std::fmt;

/// Numbers between dots.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(Vec<u32>);

impl Version {
    /// A version by its numbers.
    pub fn new(numbers: &[u32]) -> Self {
        Version(numbers.to_vec())
    }

    /// The first word of `text` behind `mark` that begins like a version: `v5.5.3`, `9.2p1`.
    pub fn behind(mark: &str, text: &str) -> Option<Self> {
        let at = text.find(mark)? + mark.len();
        let rest = text
            .get(at..)?
            .trim_start_matches(|c: char| c == 'v' || c.is_whitespace());
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.');
        let numbers = rest.get(..end.unwrap_or(rest.len()))?.trim_end_matches('.');
        let numbers = numbers.split('.').map(str::parse);
        numbers.collect::<Result<Vec<u32>, _>>().ok().map(Version)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<String> = self.0.iter().map(u32::to_string).collect();
        f.pad(&numbers.join("."))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_as_programs_print_them() {
        let found = |mark, text| Version::behind(mark, text).map(|version| version.to_string());
        assert_eq!(
            found("version", "iperf version 2.1.8 (12 August)").as_deref(),
            Some("2.1.8")
        );
        assert_eq!(
            found("OpenSSH_", "OpenSSH_9.2p1 Debian").as_deref(),
            Some("9.2")
        );
        assert_eq!(found("", "v5.5.3\n").as_deref(), Some("5.5.3"));
        assert_eq!(found("version", "a program"), None);
        assert_eq!(found("version", "version unknown"), None);
    }

    #[test]
    fn versions_are_ordered_by_their_numbers() {
        assert!(Version::new(&[2, 1, 10]) > Version::new(&[2, 1, 8]));
        assert!(Version::new(&[9]) < Version::new(&[9, 1]));
    }
}
