//! `trunkline tune`: the target, what is sought, and what the search may spend.

use clap::{Args, ValueEnum};
use trunkline::measure::StreamCount;
use trunkline::units::{Bytes, Span};

use super::{Keep, MoverOptions, Output, Target, Tcp, Way, within};

/// Find the streams and the window to use, and why those
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  trunkline tune emu:slac-cern\n  \
    trunkline tune sim:slac-cern\n  \
    trunkline tune dtn.example.org --budget 20s,500MB --report tune.html\n  \
    trunkline tune gridftp://dtn.example.org/store/file\n  \
    trunkline tune dtn.example.org --objective gentle --added-rtt 10ms --loss 0.05%")]
pub(crate) struct Tune {
    #[command(flatten)]
    pub target: Target,

    /// What makes one setting better than another
    #[arg(long, value_enum, default_value = "knee")]
    pub objective: Objective,

    /// Share of the highest goodput that the fewest streams must reach, for `--objective knee`
    #[arg(long, value_name = "SHARE", default_value_t = 0.9, value_parser = share)]
    pub knee: f64,

    /// Delay that the setting may add to the round trip, for `--objective gentle`; 30ms without
    /// this
    #[arg(long, value_name = "TIME", value_parser = added_rtt)]
    pub added_rtt: Option<Span>,

    /// Share of the data that may be sent again, for `--objective gentle`: `0.1%` or `0.001`, which
    /// is also what holds without this
    #[arg(long, value_name = "SHARE", value_parser = loss)]
    pub loss: Option<f64>,

    /// The most streams to try, 1 to 128
    #[arg(long, value_name = "COUNT", default_value_t = StreamCount::MAX, visible_alias = "max-streams")]
    pub streams_max: StreamCount,

    /// What the search may spend: a time, an amount of data or both, `20s`, `500MB`, `20s,500MB`
    #[arg(long, value_name = "TIME,SIZE", value_parser = budget)]
    pub budget: Option<Budget>,

    /// What the search may vary; the rest stays as the hosts have it
    #[arg(long, value_enum, value_name = "AXIS", value_delimiter = ',', default_values_t = [Axis::Streams, Axis::Window])]
    pub axes: Vec<Axis>,

    #[command(flatten)]
    pub mover: MoverOptions,
    #[command(flatten)]
    pub way: Way,
    #[command(flatten)]
    pub tcp: Tcp,
    #[command(flatten)]
    pub output: Output,
    #[command(flatten)]
    pub keep: Keep,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Objective {
    /// The fewest streams that reach 90 % of the highest goodput
    Knee,
    /// The highest goodput
    Max,
    /// The highest goodput per round-trip time
    Power,
    /// The highest goodput that adds at most 30 ms of delay and one loss in a thousand
    Gentle,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Axis {
    /// The number of streams
    Streams,
    /// The socket buffers
    Window,
    /// The congestion control, among those that this user may choose
    Congestion,
    /// Each stream's sending rate
    Pacing,
}

/// What a search may spend, as far as the user said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Budget {
    pub time: Option<Span>,
    pub bytes: Option<Bytes>,
}

/// A time, a size or both; which of them a part is, its unit says.
fn budget(text: &str) -> Result<Budget, String> {
    let mut budget = Budget::default();
    for part in text.split(',').map(str::trim) {
        let taken = match part.parse::<Span>() {
            Ok(_) => budget.time.replace(time(part)?).is_some(),
            Err(_) => budget.bytes.replace(size(part)?).is_some(),
        };
        if taken {
            return Err(format!(
                "`{text}` has two bounds of one kind; give one time and one size: `20s,500MB`"
            ));
        }
    }
    Ok(budget)
}

/// One sample needs some seconds; a day is more than any search wants.
fn time(text: &str) -> Result<Span, String> {
    within(text, Span::from_secs(1)..=Span::from_secs(86_400))
}

/// Less than a megabyte shows nothing of a path.
fn size(text: &str) -> Result<Bytes, String> {
    if text.parse::<u64>().is_ok() {
        return Err(format!(
            "`{text}` is neither a time like `20s` nor a size like `500MB`"
        ));
    }
    let bounds = Bytes::new(1_000_000)..=Bytes::new(1_000_000_000_000_000);
    within(text, bounds)
        .map_err(|error| format!("{error}; a time like `20s` or a size like `500MB` is wanted"))
}

fn added_rtt(text: &str) -> Result<Span, String> {
    within(text, Span::ZERO..=Span::from_secs(10))
}

/// A share, as such or in percent.
fn loss(text: &str) -> Result<f64, String> {
    let share = trunkline::units::share(text).filter(|share| *share <= 0.5);
    share
        .ok_or_else(|| format!("`{text}` is not a share between 0 and 0.5, like `0.001` or `0.1%`"))
}

pub(super) fn share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if (0.1..=1.0).contains(&share) => Ok(share),
        _ => Err(format!("`{text}` is not a share between 0.1 and 1")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_a_time_a_size_or_both() {
        let both = Budget {
            time: Some(Span::from_secs(20)),
            bytes: Some(Bytes::new(500_000_000)),
        };
        assert_eq!(budget("20s,500MB"), Ok(both));
        assert_eq!(budget("500MB, 20s"), Ok(both));
        assert_eq!(budget("20s").unwrap().bytes, None);
        assert_eq!(budget("500MB").unwrap().time, None);
    }

    #[test]
    fn a_budget_that_says_too_much_or_too_little_is_refused() {
        assert!(
            budget("20s,30s")
                .unwrap_err()
                .contains("two bounds of one kind")
        );
        assert!(
            budget("20")
                .unwrap_err()
                .contains("neither a time like `20s`")
        );
        assert!(
            budget("10ms")
                .unwrap_err()
                .contains("not between 1s and 86400s")
        );
        assert!(budget("10kB").unwrap_err().contains("not between 1MB"));
        assert!(budget("soon").unwrap_err().contains("`500MB` is wanted"));
        assert!(budget("").is_err());
    }

    #[test]
    fn a_loss_is_a_share_or_a_percentage() {
        assert_eq!(loss("0.001"), Ok(0.001));
        assert_eq!(loss("0.1%"), Ok(0.001));
        assert_eq!(loss("0"), Ok(0.0));
        for wrong in ["60%", "-1", "0.9", "NaN", "much", "%"] {
            assert!(loss(wrong).unwrap_err().contains("not a share"), "{wrong}");
        }
    }
}
