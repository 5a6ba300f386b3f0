//! iperf 2: streams, window, block.
//!
//! Read for this: `iperf --help` of 2.1.8. `-w` sets the buffers of the client alone; its server
//! has an option of its own.

use observe::{Direction, MoverAxes, MoverCommand, Setting};
use units::{Bytes, Rate};

use crate::client::{Client, refuse_unknown, streams_only};
use crate::job::{Invocation, Job, Removal, Unable, block, fixed};
use crate::printed::{Printed, amount, lines};
use crate::{Far, Version};

pub(crate) struct Iperf2;

const PROGRAM: &str = "iperf";
/// Above what a server takes by default in one go, below what its threads bear.
const STREAMS_MAX: u64 = 128;

impl Iperf2 {
    fn with_setting(far: &Far, options: &[String], setting: &Setting) -> Invocation {
        let invocation = Invocation::of(PROGRAM)
            .words(options)
            .flag("-c", &far.host)
            .flag_of("-p", far.port)
            .flag("-P", setting.streams)
            .flag_of("-w", fixed(setting))
            .flag_of("-l", block(setting))
            .flag_of("-Z", setting.congestion.as_ref())
            .flag_of("-M", setting.mss)
            .flag_of("--fq-rate", setting.pacing.map(Rate::bits_per_second));
        match setting.direction {
            Direction::Reverse => invocation.word("-R"),
            _ => invocation,
        }
    }
}

impl Client for Iperf2 {
    fn program(&self) -> &'static str {
        PROGRAM
    }

    fn package(&self) -> &'static str {
        "iperf"
    }

    fn ask_version(&self) -> Invocation {
        Invocation::of(PROGRAM).word("-v")
    }

    fn version(&self, answer: &str) -> Option<Version> {
        Version::behind("iperf version", answer)
    }

    /// `-R` and `--fq-rate` came with 2.1.
    fn oldest(&self) -> Version {
        Version::new(&[2, 1])
    }

    fn axes(&self) -> MoverAxes {
        MoverAxes {
            window: true,
            pacing: true,
            block: vec![Bytes::from_mib(1)],
            ..streams_only(STREAMS_MAX)
        }
    }

    fn invocation(&self, job: &Job<'_>) -> Result<Invocation, Unable> {
        refuse_unknown(self, job.setting)?;
        let seconds = job.lasting.as_secs_f64().ceil() as u64 + 1;
        let invocation = Iperf2::with_setting(job.far, job.options, job.setting);
        Ok(invocation.flag("-t", seconds).flag("-i", 1).flag("-f", "m"))
    }

    fn removal(&self, _: &Far, _: &[String], _: Direction) -> Result<Removal, Unable> {
        Ok(Removal::Nothing)
    }

    fn command(&self, far: &Far, options: &[String], setting: &Setting) -> MoverCommand {
        let note = fixed(setting).map(|window| {
            format!("-w sets this end only; start the server with `iperf -s -w {window}`")
        });
        Iperf2::with_setting(far, options, setting).command(note)
    }

    /// The intervals of all streams; the lines of `[SUM]` repeat them.
    fn printed(&self, text: &str) -> Option<Printed> {
        let moved: Vec<Bytes> = lines(text).filter_map(interval).collect();
        let bytes = moved.iter().copied().sum();
        (!moved.is_empty()).then_some(Printed { bytes })
    }
}

/// The longest time of a line that is one of an interval, and not of the whole test.
const INTERVAL_MAX: f64 = 1.5;

/// `[  1] 0.0000-1.0000 sec  12.5 MBytes   105 Mbits/sec`.
fn interval(line: &str) -> Option<Bytes> {
    let (_, rest) = line
        .split_once(']')
        .filter(|(who, _)| !who.contains("SUM"))?;
    let mut words = rest.split_whitespace();
    let (from, to) = words.next()?.split_once('-')?;
    let length = to.parse::<f64>().ok()? - from.parse::<f64>().ok()?;
    let is_time = words.next()? == "sec" && length <= INTERVAL_MAX;
    let moved = amount(words.next()?, words.next()?, true)?;
    is_time.then_some(moved)
}
