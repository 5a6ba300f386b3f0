//! nuttcp: streams, window, block.
//!
//! Read for this: `nuttcp -h` of 6.1.2. Ports for the data follow on 5001, one a stream. `-w` sets
//! the buffers of both ends, in units of 1024 bytes.

use observe::{Direction, MoverAxes, MoverCommand, Setting};
use units::Bytes;

use crate::client::{Client, refuse_tcp, refuse_unknown, streams_only};
use crate::job::{Invocation, Job, Removal, Unable, block, fixed};
use crate::printed::{Printed, amount, lines};
use crate::{Far, Version};

pub(crate) struct Nuttcp;

const PROGRAM: &str = "nuttcp";
/// `MAXSTREAM` of its source.
const STREAMS_MAX: u64 = 128;
/// One process writes its streams in turn and waits where a buffer is full. On a link of 50 Mbit/s
/// with a short queue 32 streams of this window carried 25 Mbit/s, 16 automatic ones 3 (2026-11-25,
/// 2 x AMD EPYC, one run each).
const WINDOW_IN_TURN: Bytes = Bytes::from_mib(1);

impl Nuttcp {
    fn with_setting(options: &[String], setting: &Setting) -> Invocation {
        let way = match setting.direction {
            Direction::Reverse => "-r",
            _ => "-t",
        };
        let window = fixed(setting).map(|bytes| format!("-w{}k", bytes.div_ceil(1024)));
        let block = block(setting).map(|bytes| format!("-l{bytes}"));
        let flags = [window, block].into_iter().flatten();
        let invocation = Invocation::of(PROGRAM).words(options).word(way);
        let invocation = invocation.word(format!("-N{}", setting.streams));
        flags.fold(invocation, Invocation::word)
    }

    fn to(invocation: Invocation, far: &Far) -> Invocation {
        let port = far.port.map(|port| format!("-P{port}"));
        port.into_iter()
            .fold(invocation, Invocation::word)
            .word(&far.host)
    }
}

impl Client for Nuttcp {
    fn program(&self) -> &'static str {
        PROGRAM
    }

    fn package(&self) -> &'static str {
        "nuttcp"
    }

    fn ask_version(&self) -> Invocation {
        Invocation::of(PROGRAM).word("-V")
    }

    fn version(&self, answer: &str) -> Option<Version> {
        Version::behind("nuttcp-", answer)
    }

    fn oldest(&self) -> Version {
        Version::new(&[6])
    }

    fn axes(&self) -> MoverAxes {
        MoverAxes {
            window: true,
            window_in_turn: Some(WINDOW_IN_TURN),
            block: vec![Bytes::from_mib(1)],
            ..streams_only(STREAMS_MAX)
        }
    }

    fn invocation(&self, job: &Job<'_>) -> Result<Invocation, Unable> {
        let setting = job.setting;
        refuse_unknown(self, setting)?;
        refuse_tcp(self, setting)?;
        let seconds = job.lasting.as_secs_f64().ceil() as u64 + 1;
        let invocation = Nuttcp::with_setting(job.options, setting);
        // A server that has just lost a client refuses for a moment, and `-a` asks again.
        let invocation = invocation.word("-a");
        let invocation = invocation.word(format!("-T{seconds}")).word("-i1");
        Ok(Nuttcp::to(invocation, job.far))
    }

    fn removal(&self, _: &Far, _: &[String], _: Direction) -> Result<Removal, Unable> {
        Ok(Removal::Nothing)
    }

    fn command(&self, far: &Far, options: &[String], setting: &Setting) -> MoverCommand {
        Nuttcp::to(Nuttcp::with_setting(options, setting), far).command(None)
    }

    /// `  112.0000 MB /   1.00 sec =  939.5012 Mbps     0 retrans`, an interval a line; the last
    /// line of a test has the processor's share, too, and repeats them all.
    fn printed(&self, text: &str) -> Option<Printed> {
        let moved: Vec<Bytes> = lines(text).filter_map(interval).collect();
        let bytes = moved.iter().copied().sum();
        (!moved.is_empty()).then_some(Printed { bytes })
    }
}

fn interval(line: &str) -> Option<Bytes> {
    let is_interval = !line.contains("%TX");
    let mut words = line.split_whitespace();
    let moved = amount(words.next()?, words.next()?, true)?;
    let is_amount = words.next()? == "/" && line.contains(" sec = ");
    (is_interval && is_amount).then_some(moved)
}
