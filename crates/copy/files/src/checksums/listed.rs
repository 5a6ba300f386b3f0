//! From the lines of a list to files.

use std::io::BufRead;
use std::sync::Arc;

use copy_protocol::{Problem, ProblemKind};

use super::Algorithm;
use super::check::{Item, Sum, Tally, Trouble, TroubleKind};
use super::list::{self, Line, Lines};
use crate::problems::{failed, problem, with_hint};

/// After so many lines that say nothing it is no list.
const IMPROPER_MAX: u64 = 100;

/// The files of a list of checksums.
pub struct Listed<R> {
    lines: Lines<R>,
    name: String,
    asked: Option<Algorithm>,
    none: Arc<str>,
    items: u64,
    improper: u64,
    is_over: bool,
}

impl<R: BufRead> Listed<R> {
    /// Those that `reader` gives.
    ///
    /// * `name`: what the list is called, which may tell the algorithm.
    /// * `asked`: the algorithm of lines that do not say it.
    pub fn new(reader: R, name: &str, asked: Option<Algorithm>) -> Self {
        Listed {
            lines: Lines::new(reader),
            name: name.to_owned(),
            asked,
            none: Arc::from(""),
            items: 0,
            improper: 0,
            is_over: false,
        }
    }

    fn improper(&mut self, line: u64, why: &str) -> Result<Tally, Problem> {
        self.improper += 1;
        if self.items == 0 && self.improper >= IMPROPER_MAX {
            return Err(self.no_list());
        }
        Ok(Tally::Trouble(Trouble {
            kind: TroubleKind::Improper,
            name: self.name.clone(),
            what: format!("line {line} was not used: {why}"),
            line: Some(line),
        }))
    }

    fn no_list(&self) -> Problem {
        let what = format!("`{}` has no line of a list of checksums", self.name);
        let hint = "lists are `DIGEST  NAME` or `SHA256 (NAME) = DIGEST`, as `sha256sum`, `b3sum` \
            and `xrdadler32` write them";
        with_hint(problem(ProblemKind::Request, what), hint)
    }

    fn used(&mut self, number: u64, line: Line) -> Result<Tally, Problem> {
        let any_of = match list::candidates(&line, self.asked, &self.name) {
            Ok(any_of) => any_of,
            Err(why) => return self.improper(number, &why),
        };
        // A sum of 32 bits fits the wrong algorithm too often for a guess.
        if any_of.len() > 1 && line.digest.len() == 4 {
            return match self.items {
                0 => Err(ambiguous(&self.name, &any_of)),
                _ => self.improper(number, &what_it_may_be(&any_of)),
            };
        }
        self.items += 1;
        Ok(Tally::Item(Item {
            name: line.name,
            sums: vec![Sum {
                any_of,
                digest: line.digest,
                list: Arc::clone(&self.none),
                line: number,
            }],
            fetched_from: None,
        }))
    }

    fn next_tally(&mut self) -> Option<Result<Tally, Problem>> {
        loop {
            let (number, line) = match self.lines.next_line() {
                Ok(Some(line)) => line,
                Ok(None) if self.items == 0 => return Some(Err(self.no_list())),
                Ok(None) => return None,
                Err(error) => return Some(Err(failed("read", &self.name, &error))),
            };
            let Some(line) = line else {
                let why =
                    "it is longer than any name; `--zero` writes such lists, write it without";
                return Some(self.improper(number, why));
            };
            match list::read(&line) {
                Ok(Some(line)) => return Some(self.used(number, line)),
                Ok(None) => {}
                Err(why) => return Some(self.improper(number, why)),
            }
        }
    }
}

impl<R: BufRead> Iterator for Listed<R> {
    type Item = Result<Tally, Problem>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let next = self.next_tally();
        self.is_over = matches!(next, None | Some(Err(_)));
        next
    }
}

fn ambiguous(list: &str, any_of: &[Algorithm]) -> Problem {
    let what = format!(
        "the checksums of `{list}` have 8 digits, which may be {}",
        names(any_of)
    );
    let hint = "say which: `--algorithm crc32c`, `--algorithm crc32` or `--algorithm adler32`";
    with_hint(problem(ProblemKind::Request, what), hint)
}

/// The same of one line among others.
fn what_it_may_be(any_of: &[Algorithm]) -> String {
    let names = names(any_of);
    format!("its checksum has 8 digits, which may be {names}; say which with `--algorithm`")
}

fn names(algorithms: &[Algorithm]) -> String {
    let names: Vec<&str> = algorithms.iter().map(|one| one.name()).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a list gives: names of files, texts of troubles.
    fn told(text: &[u8]) -> Result<Vec<String>, Problem> {
        let told = |tally: Tally| match tally {
            Tally::Item(item) => String::from_utf8(item.name).unwrap(),
            Tally::Trouble(trouble) => trouble.what,
        };
        let listed = Listed::new(text, "list", None);
        listed.map(|tally| tally.map(told)).collect()
    }

    #[test]
    fn a_stray_line_does_not_end_the_list() {
        let long = format!("{}  a\n", "0".repeat(64));
        let list = format!("{long}{long}e3069283 b\n{long}");
        let found = told(list.as_bytes()).unwrap();
        assert_eq!(found.len(), 4);
        assert_eq!([&found[0], &found[1], &found[3]], ["a", "a", "a"]);
        assert!(found[2].contains("line 3"), "{}", found[2]);
        assert!(found[2].contains("crc32c, crc32, adler32"), "{}", found[2]);
        assert!(found[2].contains("`--algorithm`"), "{}", found[2]);
        // Where nothing was found yet, it is about the whole list.
        let refused = told(format!("e3069283 b\n{long}").as_bytes()).unwrap_err();
        assert!(refused.hint.unwrap().contains("--algorithm crc32c"));
    }

    #[test]
    fn a_list_without_ends_of_lines_names_the_option_that_writes_it() {
        let long = format!("{}  a\n", "0".repeat(64));
        let zero = format!("{}  a\0", "0".repeat(64)).repeat(1000);
        let found = told(format!("{long}{zero}").as_bytes()).unwrap();
        assert_eq!(found.len(), 2);
        assert!(found[1].contains("`--zero`"), "{}", found[1]);
    }
}
