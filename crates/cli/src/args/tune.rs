//! `trunkline tune`: the target, what is sought, and what the search may spend.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use trunkline::ask::tune::{Budget, added_rtt, budget, loss, share};
use trunkline::measure::StreamCount;
use trunkline::units::Span;

use super::{Carrier, Keep, MoverOptions, Output, Target, Tcp, Way};

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

    /// Share of the highest goodput that the fewest streams must reach, for `--objective knee`; 0.9
    /// without this
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub knee: Option<f64>,

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

    /// What the search may vary; the rest stays as the hosts have it. Without this streams and
    /// window, and bbr where losses hold the default congestion control back and the sender may use
    /// it: `-C cubic` keeps a control, `--axes streams,window` that of the sending host
    #[arg(long, value_enum, value_name = "AXIS", value_delimiter = ',')]
    pub axes: Option<Vec<Axis>>,

    /// Write the path that explains the samples as a path file, for `simulate`, `predict`,
    /// `emulate`, `sim:` and `emu:`
    #[arg(long, value_name = "FILE")]
    pub path_file: Option<PathBuf>,

    #[command(flatten)]
    pub carrier: Carrier,
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

#[cfg(test)]
mod tests {
    use super::*;
    use trunkline::units::Bytes;

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
