//! `--exclude` and `--include`, in the order in which they were written: the first that fits
//! decides.

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use trunkline::copy::SelectionRule;

const EXCLUDE: &str = "exclude";
const INCLUDE: &str = "include";

/// All rules. Not derived: the order between two flags is known to the matches alone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Rules(pub Vec<SelectionRule>);

impl Args for Rules {
    fn augment_args(command: Command) -> Command {
        let out = "Leave out names that fit, as rsync does: `*.tmp`, `/run7/raw/`, `cache/***`; \
            they are not removed either";
        let nevertheless =
            "Copy names that fit, whatever a later `--exclude` says; the first that fits decides";
        command
            .arg(rule(EXCLUDE, out))
            .arg(rule(INCLUDE, nevertheless))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

fn rule(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name)
        .long(name)
        .value_name("PATTERN")
        .action(ArgAction::Append)
        .value_parser(pattern)
        .help(help)
}

fn pattern(text: &str) -> Result<String, String> {
    trunkline::copy::check_pattern(text).map(|()| text.to_owned())
}

impl FromArgMatches for Rules {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut rules = Vec::new();
        for name in [EXCLUDE, INCLUDE] {
            let places = matches.indices_of(name).into_iter().flatten();
            let patterns = matches.get_many::<String>(name).into_iter().flatten();
            rules.extend(places.zip(patterns).map(|(at, pattern)| {
                let leaves_out = name == EXCLUDE;
                let pattern = pattern.clone();
                (
                    at,
                    SelectionRule {
                        leaves_out,
                        pattern,
                    },
                )
            }));
        }
        rules.sort_by_key(|(at, _)| *at);
        Ok(Rules(rules.into_iter().map(|(_, rule)| rule).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Rules::from_arg_matches(matches)?;
        Ok(())
    }
}
