//! What can be written after `trunkline simulate`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use trunkline::ask::List;
use trunkline::ask::simulate::{
    class, data, duration, interval, seeds, segments, streams, variants, warmup, windows,
};
use trunkline::measure::Window;
use trunkline::simulate::{Class, Variant};
use trunkline::units::{Bytes, Span};

use super::{Keep, RowsOutput};

/// Ask "what if": TCP over a path, packet by packet, in virtual time
///
/// One setting gives a page of figures; several streams, windows or variants give a table. Runs
/// spread over all processors, and each finished one is kept, so that the same command never
/// computes it twice and an interrupted one goes on where it stopped.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    trunkline simulate slac-cern -P 8 -w 64k --seeds 5\n  \
    trunkline simulate slac-cern -P 1..40 -w auto,64k,256k --report grid.html\n  \
    trunkline simulate my.toml -P 1e6 --fluid\n  \
    trunkline simulate oc3-striping -P 1,10,100 --bytes 500MB --variant sack,cubic")]
pub(crate) struct Simulate {
    /// A named path or a path file; `sim:` before it is taken, too
    pub path: String,

    /// Parallel streams: `8`, `1,2,4` or every count of a range, `1..40`; up to 100000, with
    /// `--fluid` up to 1000000
    #[arg(short = 'P', long, allow_negative_numbers = true, value_name = "COUNTS", default_value = "1", value_parser = streams)]
    pub streams: List<u32>,

    /// The most that each stream keeps outstanding: `auto` leaves it to the hosts' buffers; `64k`,
    /// `auto,64k`, or doubled over a range, `16k..512k`
    #[arg(short, long, alias = "windows", allow_negative_numbers = true, value_name = "SIZES", default_value = "auto", value_parser = windows)]
    pub window: List<Window>,

    /// How the streams find their rate, one or several: tahoe, reno, newreno, sack, fack, vegas,
    /// cubic, highspeed, scalable, fast, ledbat++, bbr, path-model, udt, rbudp, netblt, ensemble
    /// [default: what the path's hosts use; the kernel's `reno` is `sack`]
    #[arg(long, value_name = "NAMES", value_parser = variants)]
    pub variant: Option<List<Variant>>,

    /// The class of service that the streams ask for: scavenger, best-effort or priority. It
    /// matters on a path whose queue tells classes apart, such as classes-ds3
    #[arg(long, value_name = "CLASS", default_value_t, value_parser = class)]
    pub class: Class,

    /// Simulated time; with data to carry, when to give up [default: 30s, with data a day]
    #[arg(short = 't', long, allow_negative_numbers = true, value_name = "TIME", value_parser = duration)]
    pub duration: Option<Span>,

    /// What is not counted at the beginning [default: a fifth of the duration, with data nothing]
    #[arg(long, allow_negative_numbers = true, value_name = "TIME", value_parser = warmup)]
    pub warmup: Option<Span>,

    /// How many seeds to run each setting with
    #[arg(long, allow_negative_numbers = true, value_name = "COUNT", default_value_t = 1, value_parser = seeds)]
    pub seeds: u64,

    /// The first seed; the others count up from it
    #[arg(long, default_value_t = 1)]
    pub seed: u64,

    /// How much to carry in all, in equal shares of the streams; a run ends when it is done
    #[arg(short = 'n', long, value_name = "SIZE", allow_negative_numbers = true, value_parser = data, conflicts_with = "per_stream_bytes")]
    pub bytes: Option<Bytes>,

    /// How much each stream carries; a run ends when all are done
    #[arg(long, allow_negative_numbers = true, value_name = "SIZE", value_parser = data)]
    pub per_stream_bytes: Option<Bytes>,

    /// Set the hosts' TCP up as the comparisons with another simulator have it
    #[arg(long, value_enum, value_name = "SIMULATOR")]
    pub compat: Option<Compat>,

    /// Segments sent before the first acknowledgement [default: 10; with `--compat ns2` 2]
    #[arg(long, allow_negative_numbers = true, value_name = "SEGMENTS", value_parser = segments)]
    pub initial_window: Option<u32>,

    /// Let queues that can mark packets instead of dropping them
    #[arg(long)]
    pub ecn: bool,

    /// Record windows, queue and goodput this often; for a single setting. `--report` and `--plots`
    /// do it by themselves
    #[arg(long, value_name = "TIME", value_parser = interval)]
    pub series: Option<Span>,

    /// Write a line for every packet sent, dropped and received, or, to a file that ends in
    /// `.pcapng`, what the sending hosts saw, for Wireshark; for a single setting, of the first
    /// seed
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,

    /// Take a fluid model in place of packets, for one setting of endless data: less than a second,
    /// however many streams. It has sack and cubic
    #[arg(long, conflicts_with_all = ["log", "cache", "plots"])]
    pub fluid: bool,

    /// Where finished runs are kept [default: trunkline/simulate in $XDG_CACHE_HOME or ~/.cache]
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,

    /// Neither keep finished runs nor use kept ones
    #[arg(long, conflicts_with = "cache")]
    pub no_cache: bool,

    /// Write the plots as SVG files into this folder
    #[arg(long, value_name = "DIR")]
    pub plots: Option<PathBuf>,

    #[command(flatten)]
    pub output: RowsOutput,
    #[command(flatten)]
    pub keep: Keep,
}

/// Whose set-up of TCP to take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Compat {
    /// Initial window 2, no timestamps, acknowledgements delayed up to 100 ms, access links of 1 ms
    Ns2,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_counts_lists_and_ranges() {
        assert_eq!(streams("8"), Ok(List(vec![8])));
        assert_eq!(streams("4..8,1,2,4"), Ok(List(vec![1, 2, 4, 5, 6, 7, 8])));
        assert_eq!(streams("1..100000").map(|list| list.0.len()), Ok(100_000));
    }

    #[test]
    fn wrong_streams_are_told_with_the_bound_or_the_way_to_write_them() {
        assert!(
            streams("0")
                .unwrap_err()
                .contains("0 streams are not between 1 and 1000000")
        );
        assert!(
            streams("1..1000001")
                .unwrap_err()
                .contains("1000001 streams are not between")
        );
        assert!(
            streams("40..1")
                .unwrap_err()
                .contains("backwards; write 1..40")
        );
        assert!(
            streams("eight")
                .unwrap_err()
                .contains("write 8, 1,2,4 or 1..40")
        );
        assert_eq!(streams("1e6"), Ok(List(vec![1_000_000])));
        assert!(streams("8.5").is_err() && streams("inf").is_err() && streams("nan").is_err());
        assert!(streams("1,,2").is_err() && streams("").is_err() && streams("1..").is_err());
        assert!(streams("99999999999999999999").is_err());
    }

    #[test]
    fn a_range_of_windows_doubles() {
        let kib = |kib| Window::Fixed(Bytes::from_kib(kib));
        assert_eq!(
            windows("16k..64k,auto"),
            Ok(List(vec![kib(16), kib(32), kib(64), Window::Auto]))
        );
        assert_eq!(windows("128KiB"), Ok(List(vec![kib(128)])));
        assert_eq!(windows("16k..63k"), Ok(List(vec![kib(16), kib(32)])));
        assert!(windows("64k..16k").unwrap_err().contains("backwards"));
        assert!(windows("0").unwrap_err().contains("is not between 1B and"));
    }

    #[test]
    fn the_help_names_every_variant() {
        let help = Simulate::augment_args(clap::Command::new("simulate"));
        let help = help
            .get_arguments()
            .find(|argument| argument.get_id() == "variant");
        let help = help.and_then(clap::Arg::get_help).unwrap().to_string();
        let named = |variant: &Variant| help.split([',', ' ']).any(|word| word == variant.name());
        assert!(Variant::ALL.iter().all(named), "{help}");
    }

    #[test]
    fn an_unknown_variant_is_told_with_the_known_ones() {
        assert_eq!(
            variants("sack,cubic,sack"),
            Ok(List(vec![Variant::Sack, Variant::Cubic]))
        );
        assert!(
            variants("sack,westwood")
                .unwrap_err()
                .contains("known: tahoe")
        );
    }
}
