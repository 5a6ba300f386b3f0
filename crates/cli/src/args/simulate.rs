//! What can be written after `trunkline simulate`.

use std::ops::RangeInclusive;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use trunkline::measure::Window;
use trunkline::simulate::Variant;
use trunkline::simulate::{Class, DURATION_MAX};
use trunkline::units::{Bytes, Span};

use super::{Keep, RowsOutput, within};

/// Ask "what if": TCP over a path, packet by packet, in virtual time
///
/// One setting gives a page of figures; several streams, windows or variants give a table. Runs
/// spread over all processors, and each finished one is kept, so that the same command never
/// computes it twice and an interrupted one goes on where it stopped.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    trunkline simulate slac-cern -P 8 -w 64k --seeds 5\n  \
    trunkline simulate slac-cern -P 1..40 -w auto,64k,256k --report grid.html\n  \
    trunkline simulate oc3-striping -P 1,10,100 --bytes 500MB --variant sack,cubic")]
pub(crate) struct Simulate {
    /// A named path or a path file; `sim:` before it is taken, too
    pub path: String,

    /// Parallel streams: `8`, `1,2,4` or every count of a range, `1..40`; up to 100000
    #[arg(short = 'P', long, allow_negative_numbers = true, value_name = "COUNTS", default_value = "1", value_parser = streams)]
    pub streams: List<u32>,

    /// The most that each stream keeps outstanding: `auto` leaves it to the hosts' buffers; `64k`,
    /// `auto,64k`, or doubled over a range, `16k..512k`
    #[arg(short, long, alias = "windows", allow_negative_numbers = true, value_name = "SIZES", default_value = "auto", value_parser = windows)]
    pub window: List<Window>,

    /// How the streams find their rate, one or several: tahoe, reno, newreno, sack, fack, vegas,
    /// cubic, highspeed, scalable, fast, ledbat++, bbr, netblt, ensemble [default: what the path's
    /// hosts use; the kernel's `reno` is `sack`]
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

/// Several values of one option, each once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct List<T>(pub Vec<T>);

/// Reads parts between commas, each of which may stand for several values.
pub(super) fn parts<T>(
    text: &str,
    part: impl Fn(&str) -> Result<Vec<T>, String>,
) -> Result<Vec<T>, String> {
    let lists: Result<Vec<Vec<T>>, String> =
        text.split(',').map(|words| part(words.trim())).collect();
    Ok(lists?.into_iter().flatten().collect())
}

impl<T: PartialEq> List<T> {
    /// The values in the order in which they first came.
    pub(super) fn of(values: Vec<T>) -> Self {
        let mut list = Vec::new();
        for value in values {
            if !list.contains(&value) {
                list.push(value);
            }
        }
        List(list)
    }
}

/// As many as `sim` takes; with a bound here, a range cannot fill the memory.
const STREAMS: RangeInclusive<u32> = 1..=100_000;

pub(super) fn streams(text: &str) -> Result<List<u32>, String> {
    let mut counts = parts(text, |part| match part.split_once("..") {
        Some((first, last)) => counts(first, last),
        None => Ok(vec![count(part)?]),
    })?;
    counts.sort_unstable();
    counts.dedup();
    Ok(List(counts))
}

fn counts(first: &str, last: &str) -> Result<Vec<u32>, String> {
    let (first, last) = (count(first)?, count(last)?);
    match first <= last {
        true => Ok((first..=last).collect()),
        false => Err(format!(
            "the range {first}..{last} runs backwards; write {last}..{first}"
        )),
    }
}

/// More is a slip: the spread of ten thousand runs is known to a hundredth.
const SEEDS: RangeInclusive<u64> = 1..=10_000;

fn seeds(text: &str) -> Result<u64, String> {
    let number: u64 = text
        .parse()
        .map_err(|_| format!("`{text}` is not a number of seeds; 5 show how far runs lie apart"))?;
    match SEEDS.contains(&number) {
        true => Ok(number),
        false => Err(format!(
            "{number} seeds are not between {} and {}",
            SEEDS.start(),
            SEEDS.end()
        )),
    }
}

/// What it may be is for `sim` to say.
fn segments(text: &str) -> Result<u32, String> {
    text.parse()
        .map_err(|_| format!("`{text}` is not a number of segments; Linux has 10"))
}

fn count(text: &str) -> Result<u32, String> {
    let text = text.trim();
    let number: u64 = text
        .parse()
        .map_err(|_| format!("`{text}` is not a number of streams; write 8, 1,2,4 or 1..40"))?;
    let within = u32::try_from(number)
        .ok()
        .filter(|count| STREAMS.contains(count));
    within.ok_or_else(|| {
        format!(
            "{number} streams are not between {} and {}",
            STREAMS.start(),
            STREAMS.end()
        )
    })
}

pub(super) fn windows(text: &str) -> Result<List<Window>, String> {
    let windows = parts(text, |part| match (part, part.split_once("..")) {
        ("auto", _) => Ok(vec![Window::Auto]),
        (_, Some((first, last))) => doubled(size(first)?, size(last)?),
        (_, None) => Ok(vec![Window::Fixed(size(part)?)]),
    })?;
    Ok(List::of(windows))
}

/// The largest is what Linux's types can hold.
fn size(text: &str) -> Result<Bytes, String> {
    within(text.trim(), Bytes::new(1)..=Bytes::from_mib(2047))
}

fn doubled(first: Bytes, last: Bytes) -> Result<Vec<Window>, String> {
    if first > last {
        return Err(format!(
            "the range {first}..{last} runs backwards; write {last}..{first}"
        ));
    }
    let sizes = std::iter::successors(Some(first), |size| Some(size.times(2)));
    Ok(sizes
        .take_while(|size| *size <= last)
        .map(Window::Fixed)
        .collect())
}

fn variants(text: &str) -> Result<List<Variant>, String> {
    let variants = parts(text, |name| {
        let variant: Result<Variant, trunkline::sim::VariantError> = name.parse();
        variant
            .map(|variant| vec![variant])
            .map_err(|error| error.to_string())
    })?;
    Ok(List::of(variants))
}

fn class(text: &str) -> Result<Class, String> {
    text.parse()
        .map_err(|error: trunkline::netpath::UnknownClass| {
            let known = Class::ALL.map(Class::name).join(", ");
            format!("{error}; known: {known}")
        })
}

fn duration(text: &str) -> Result<Span, String> {
    time(text, Span::from_millis(1)..=DURATION_MAX)
}

fn warmup(text: &str) -> Result<Span, String> {
    time(text, Span::ZERO..=DURATION_MAX)
}

fn interval(text: &str) -> Result<Span, String> {
    time(text, Span::from_micros(10)..=DURATION_MAX)
}

/// A time; a bare number means seconds.
fn time(text: &str, bounds: RangeInclusive<Span>) -> Result<Span, String> {
    let seconds = text.parse::<u32>().map(|seconds| format!("{seconds}s"));
    within(seconds.as_deref().unwrap_or(text), bounds)
}

/// Something, and no more than takes days to simulate.
fn data(text: &str) -> Result<Bytes, String> {
    within(text, Bytes::new(1)..=Bytes::new(1_000_000_000_000_000))
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
                .contains("0 streams are not between 1 and 100000")
        );
        assert!(
            streams("1..100001")
                .unwrap_err()
                .contains("100001 streams are not between")
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
