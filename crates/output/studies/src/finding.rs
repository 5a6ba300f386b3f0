//! Whether what was found then is found again.

use std::fmt;

/// A statement of the document, the rule that decides about it, and what the rule saw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What the document says, in our words.
    pub claim: &'static str,
    /// What has to be seen for it to hold, with every threshold.
    pub rule: &'static str,
    /// What was seen: one check for each part of the rule.
    pub checks: Vec<Check>,
}

/// One part of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// Whether what was seen is what the rule wants.
    pub holds: bool,
    /// What was seen, with its figures.
    pub words: String,
}

/// What the rule says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Every check holds.
    Holds,
    /// Some do.
    InPart,
    /// None does.
    DoesNotHold,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Verdict::Holds => "holds",
            Verdict::InPart => "holds in part",
            Verdict::DoesNotHold => "does not hold",
        })
    }
}

impl Check {
    /// What was seen, and whether that is what the rule wants.
    pub fn new(holds: bool, words: String) -> Self {
        Check { holds, words }
    }

    /// The same from what may be missing: figures that are not there hold nothing.
    pub(crate) fn of(seen: Option<(bool, String)>) -> Self {
        match seen {
            Some((holds, words)) => Check { holds, words },
            None => Check::new(false, "the runs have no figures for this".to_owned()),
        }
    }
}

impl Finding {
    /// A statement, the rule that decides, and what each part of the rule saw: whether it holds,
    /// and the words.
    pub(crate) fn new(
        claim: &'static str,
        rule: &'static str,
        seen: impl IntoIterator<Item = Option<(bool, String)>>,
    ) -> Self {
        let checks = seen.into_iter().map(Check::of).collect();
        Finding {
            claim,
            rule,
            checks,
        }
    }

    /// What the rule says.
    pub fn verdict(&self) -> Verdict {
        let held = self.checks.iter().filter(|check| check.holds).count();
        match held {
            0 => Verdict::DoesNotHold,
            held if held == self.checks.len() => Verdict::Holds,
            _ => Verdict::InPart,
        }
    }

    /// What was seen: what holds before what does not.
    pub fn seen(&self) -> String {
        match self.verdict() {
            Verdict::Holds => self.words(true),
            Verdict::InPart => format!("{}; but {}", self.words(true), self.words(false)),
            Verdict::DoesNotHold => self.words(false),
        }
    }

    fn words(&self, holds: bool) -> String {
        let checks = self.checks.iter().filter(|check| check.holds == holds);
        let words: Vec<&str> = checks.map(|check| check.words.as_str()).collect();
        words.join("; ")
    }
}

/// One of the document's numbers beside ours, which holds within `tolerance` either way.
pub(crate) fn beside(
    what: &str,
    unit: &str,
    ours: f64,
    printed: f64,
    tolerance: f64,
) -> (bool, String) {
    let words = format!(
        "{what} {} {unit}, printed {}",
        digits(ours),
        digits(printed)
    );
    ((ours - printed).abs() <= tolerance, words)
}

/// `10, 8 and 3`.
pub(crate) fn list(words: impl IntoIterator<Item = String>) -> String {
    let mut words: Vec<String> = words.into_iter().collect();
    match words.pop() {
        None => String::new(),
        Some(last) if words.is_empty() => last,
        Some(last) => format!("{} and {last}", words.join(", ")),
    }
}

/// Three significant digits, or all of the integer part.
pub(crate) fn digits(value: f64) -> String {
    match value.abs() {
        v if v >= 99.95 => format!("{value:.0}"),
        v if v >= 9.995 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_seen_tells_what_holds_before_what_does_not() {
        let checks = vec![
            Check::new(false, "the second moves to 9".to_owned()),
            Check::new(true, "the first lies at 8".to_owned()),
        ];
        let finding = Finding {
            claim: "",
            rule: "",
            checks,
        };
        let seen = "the first lies at 8; but the second moves to 9";
        assert_eq!(finding.seen(), seen);
        assert_eq!(finding.verdict().to_string(), "holds in part");
    }

    #[test]
    fn a_finding_holds_where_every_check_does() {
        let seen = |holds| Check::new(holds, "the peak lies at 8 streams".to_owned());
        let verdict = |checks| {
            let (claim, rule) = ("", "");
            let finding = Finding {
                claim,
                rule,
                checks,
            };
            finding.verdict()
        };
        assert_eq!(verdict(vec![seen(true), seen(true)]), Verdict::Holds);
        assert_eq!(verdict(vec![seen(true), seen(false)]), Verdict::InPart);
        assert_eq!(verdict(vec![]), Verdict::DoesNotHold);
    }

    #[test]
    fn missing_figures_hold_nothing() {
        assert!(!Check::of(None).holds);
    }

    #[test]
    fn lists_end_with_and() {
        let words = |words: &[&str]| list(words.iter().map(|word| (*word).to_owned()));
        assert_eq!(words(&["1"]), "1");
        assert_eq!(words(&["1", "2", "3"]), "1, 2 and 3");
    }
}
