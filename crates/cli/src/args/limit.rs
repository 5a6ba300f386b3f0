//! `trunkline limit`.

use clap::Args;
use trunkline::units::Rate;

use trunkline::ask::copy::rate_within;

/// Bound the rate of a copy while it runs
///
/// Without a rate, lists the copies that you are running on this host. The bound holds for all
/// streams of a copy together, from now on, and also where the far end sends.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  trunkline limit\n  \
    trunkline limit 50M\n  \
    trunkline limit 4711 50M\n  \
    trunkline limit none")]
pub(crate) struct Limit {
    /// The copy, as the list numbers it, where there is more than one; and the rate, like `50M`, or
    /// `none`
    #[arg(value_names = ["COPY", "RATE"], num_args = 0..=2)]
    words: Vec<String>,
}

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LimitOf {
    /// Which copies there are.
    List,
    /// Another bound, for this copy or for the only one.
    Bound {
        copy: Option<u32>,
        rate: Option<Rate>,
    },
}

impl Limit {
    /// The words as they are meant.
    pub(crate) fn meaning(&self) -> Result<LimitOf, String> {
        let (copy, rate) = match self.words.as_slice() {
            [] => return Ok(LimitOf::List),
            [rate] => (None, rate),
            [copy, rate, ..] => {
                let number = copy.parse();
                let number = number.map_err(|_| format!("`{copy}` is not the number of a copy"))?;
                (Some(number), rate)
            }
        };
        let rate = match rate.as_str() {
            "none" => None,
            text => Some(rate_within(text)?),
        };
        Ok(LimitOf::Bound { copy, rate })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meant(words: &[&str]) -> Result<LimitOf, String> {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        Limit { words }.meaning()
    }

    #[test]
    fn a_rate_alone_is_for_the_only_copy() {
        let rate = Some(Rate::from_bits_per_second(50_000_000));
        let copy = None;
        assert_eq!(meant(&["50M"]), Ok(LimitOf::Bound { copy, rate }));
        let bound = LimitOf::Bound {
            copy: Some(4711),
            rate: None,
        };
        assert_eq!(meant(&["4711", "none"]), Ok(bound));
        assert_eq!(meant(&[]), Ok(LimitOf::List));
    }

    #[test]
    fn a_wrong_word_is_named() {
        assert!(meant(&["x", "50M"]).unwrap_err().contains("`x`"));
        assert!(meant(&["0"]).unwrap_err().contains("`0`"));
        assert!(
            meant(&["50"]).is_err(),
            "50 bit/s is nothing that a copy can keep"
        );
    }
}
