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
            return Err(ambiguous(&self.name, &any_of));
        }
        self.items += 1;
        Ok(Tally::Item(Item {
            name: line.name,
            line: Some(number),
            sums: vec![Sum {
                any_of,
                digest: line.digest,
                list: Arc::clone(&self.none),
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
                return Some(self.improper(number, "it is longer than any name"));
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
    let names: Vec<&str> = any_of.iter().map(|one| one.name()).collect();
    let what = format!(
        "the checksums of `{list}` have 8 digits, which may be {}",
        names.join(", ")
    );
    let hint = "say which: `--algorithm crc32c`, `--algorithm crc32` or `--algorithm adler32`";
    with_hint(problem(ProblemKind::Request, what), hint)
}
