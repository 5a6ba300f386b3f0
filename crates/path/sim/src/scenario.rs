//! What a simulation is asked for.

use errors::{Fault, Hint};
use netpath::{Class, PathSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use units::{Bytes, Rate, Span, Way};

use crate::Variant;
use crate::round_trip::TimeoutFloor;

/// One run: a path, the streams on it, and the seed that decides everything left to chance.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// The path with its cross traffic.
    pub path: PathSpec,
    /// Parallel streams; 0 leaves the path to its cross traffic, if it has any, for the whole
    /// duration.
    pub streams: u32,
    /// The most that each stream keeps outstanding; `None` leaves it to the hosts' buffers.
    pub window: Option<Bytes>,
    /// How the streams find their rate.
    pub variant: Variant,
    /// The most that each stream may send at, headers included (`SO_MAX_PACING_RATE`); `None` sets
    /// no bound.
    pub pacing: Option<Rate>,
    /// The class of service that their packets ask for.
    pub class: Class,
    /// What they carry.
    pub work: Work,
    /// How long the path is left to its cross traffic before the streams start.
    pub idle: Span,
    /// When the run ends at the latest.
    pub duration: Span,
    /// What is not counted at the beginning.
    pub warmup: Span,
    /// Decides start times, losses and cross traffic.
    pub seed: u64,
    /// How the hosts' TCP is set up.
    pub tcp: TcpSettings,
    /// How often windows, queue and goodput are recorded; `None` records nothing over time.
    pub series_interval: Option<Span>,
    /// Whether every packet is recorded; see [`crate::Simulation::take_events`].
    pub log: bool,
}

/// What the streams carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// Data without end.
    Endless,
    /// This much on each stream.
    PerStream(Bytes),
    /// This much in all, in equal shares.
    Striped(Bytes),
}

/// How the hosts' TCP is set up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TcpSettings {
    /// Segments sent before the first acknowledgement.
    pub initial_window: u32,
    /// IP and TCP headers with options, of data and of acknowledgements alike.
    pub header: Bytes,
    /// Whether every acknowledgement measures a round trip (RFC 7323); otherwise one segment at a
    /// time is timed, and none that was sent twice (Karn's rule, RFC 6298 section 3).
    pub timestamps: bool,
    /// The least retransmission timeout.
    pub timeout_floor: TimeoutFloor,
    /// How long an acknowledgement may wait for a second segment; `None` acknowledges each one.
    pub delayed_ack: Option<Span>,
    /// What makes the window grow.
    pub growth: Growth,
    /// Whether Explicit Congestion Notification is used (RFC 3168).
    pub ecn: bool,
    /// The upper bound of a random delay before sending; breaks the lockstep of a simulator.
    pub send_jitter: Span,
    /// Links between each group of hosts and the bottleneck; `None` joins them without one.
    pub access: Option<Access>,
    /// The streams start at random within this time.
    pub start_within: Span,
    /// Whose generator draws the start times.
    pub starts: Starts,
    /// Whether a timeout forgets what was selectively acknowledged (RFC 2018 section 8 allows
    /// both).
    pub timeout_forgets: bool,
    /// Whether what arrives later tells that a repeated segment was lost again (RFC 8985, RACK), or
    /// only a timeout does (RFC 6675).
    pub watches_repairs: bool,
    /// Whether hosts also do what Linux does and older TCP does not: a loss reduces the window in
    /// proportion to what arrives (PRR, RFC 9937), holes are judged by time and a silent tail is
    /// probed (RACK-TLP, RFC 8985), and the first segments are acknowledged each.
    pub kernel_hosts: bool,
}

/// What makes a window grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Growth {
    /// Each acknowledgement, however much it covers (RFC 5681 as ns-2 does it).
    PerAcknowledgement,
    /// Each acknowledged byte (RFC 3465), as Linux does it.
    PerByte,
}

/// How start times are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Starts {
    /// From the run's generator.
    Seeded,
    /// By Park and Miller's generator from the run's seed, as the scripts for ns-2 do.
    ParkMiller,
}

/// A link between a group of hosts and the bottleneck.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Access {
    /// How fast it is.
    #[serde(rename = "rate_bits_per_second")]
    pub rate: Rate,
    /// Its propagation delay.
    #[serde(rename = "delay_seconds")]
    pub delay: Span,
}

/// A scenario that cannot be run.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{problem}")]
pub struct ScenarioError {
    /// What is wrong, with the value and the bound.
    pub problem: String,
    /// The next step.
    pub hint: String,
}

impl Hint for ScenarioError {
    fn fault(&self) -> Fault {
        Fault::Request
    }

    fn hint(&self) -> Option<String> {
        Some(self.hint.clone())
    }
}

impl Scenario {
    /// One stream without end for 30 s over `path`, of the kind and with the hosts that it
    /// describes.
    ///
    /// # Errors
    /// When the path names a congestion control that nothing here simulates.
    pub fn new(path: PathSpec) -> Result<Self, ScenarioError> {
        let congestion = &path.hosts.congestion;
        let variant = Variant::of_path(congestion).ok_or_else(|| ScenarioError {
            problem: format!("the path asks for `{congestion}`, which is not simulated"),
            hint: "choose a variant yourself, for example `--variant cubic`".to_owned(),
        })?;
        Ok(Scenario::of(path, variant))
    }

    /// The same with streams of one's own choice.
    pub fn of(path: PathSpec, variant: Variant) -> Self {
        Scenario {
            tcp: TcpSettings::linux(&path),
            path,
            streams: 1,
            window: None,
            variant,
            pacing: None,
            class: Class::BestEffort,
            work: Work::Endless,
            idle: Span::ZERO,
            duration: Span::from_secs(30),
            warmup: Span::ZERO,
            seed: 1,
            series_interval: None,
            log: false,
        }
    }
}

/// Hosts that take longer than this to send are not what a path describes.
const JITTER_MAX: Span = Span::from_millis(1);

impl TcpSettings {
    /// As Linux has it: initial window 10 (RFC 6928), timestamps, timeouts from 0.2 s,
    /// acknowledgements delayed by 40 ms at the most, and its repair of losses.
    ///
    /// Hosts take a little while before they send, and never the same: up to what one packet takes
    /// on `path`. Without that, a drop-tail queue may hit the same stream again and again (Floyd,
    /// Jacobson 1992, "On traffic phase effects"), as it never does on a network.
    pub fn linux(path: &PathSpec) -> Self {
        let rate = path.narrowest(Way::Forward).rate;
        let packet = rate.time_to_send(Bytes::new(u64::from(path.mtu())));
        TcpSettings {
            initial_window: 10,
            // TCP's header with timestamps has 32.
            header: Bytes::new((path.hosts.ip_header() + 32).into()),
            timestamps: true,
            timeout_floor: TimeoutFloor::Margin(Span::from_millis(200)),
            delayed_ack: Some(Span::from_millis(40)),
            growth: Growth::PerByte,
            ecn: path.hosts.ecn,
            send_jitter: packet.min(JITTER_MAX),
            access: None,
            start_within: Span::from_millis(10),
            starts: Starts::Seeded,
            timeout_forgets: false,
            watches_repairs: true,
            kernel_hosts: true,
        }
    }

    /// As the comparisons with ns-2 have it: initial window 2, headers of 40 bytes,
    /// acknowledgements delayed by 100 ms at the most, windows that grow with acknowledgements, a
    /// random delay of up to 0.12 ms before sending, access links of ten times the rate of `path`
    /// and 1 ms each.
    pub fn ns2(path: &PathSpec) -> Self {
        TcpSettings {
            initial_window: 2,
            header: Bytes::new(40),
            timestamps: false,
            timeout_floor: TimeoutFloor::Whole(Span::from_millis(200)),
            delayed_ack: Some(Span::from_millis(100)),
            growth: Growth::PerAcknowledgement,
            ecn: path.hosts.ecn,
            send_jitter: Span::from_micros(120),
            access: Some(Access {
                rate: Rate::from_bits_per_second(path.forward.rate.bits_per_second() * 10),
                delay: Span::from_millis(1),
            }),
            start_within: Span::from_secs(1),
            starts: Starts::ParkMiller,
            timeout_forgets: true,
            watches_repairs: false,
            kernel_hosts: false,
        }
    }
}
