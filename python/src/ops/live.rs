//! What measures a target: one setting, a search, a path, round trips under load.

use pyo3::prelude::*;
use trunkline::TargetName;
use trunkline::ask;
use trunkline::datagrams::{DatagramPlan, DatagramRate};
use trunkline::examine::{Plan, Wanted, Way};
use trunkline::measure::{Amount, Moving, SamplePlan, Setting, StreamCount, Window};
use trunkline::tune::{self, Axis, Budget, Controls, Ended, Objective, TunePlan};
use trunkline::units::Bytes;

use crate::asked::{
    Keep, Leaving, LoginAsked, TargetAsked, direction, exclusive, no_mover, number, open, optional,
    transport, value, with_words,
};
use crate::call::Call;
use crate::error::Failure;
use crate::result::Done;

/// What all of these are asked.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Common<'py> {
    target: TargetAsked<'py>,
    port: u16,
    leaving: Leaving,
    login: LoginAsked,
    seed: u64,
    history: Keep,
    command: String,
}

impl Common<'_> {
    /// The target, reached as it was asked.
    fn name(&self) -> Result<TargetName, Failure> {
        let name = self.target.name(self.port)?;
        Ok(name.leaving(self.leaving.via()?)?)
    }
}

/// What the kernel is asked to use, and which end sends.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Tcp {
    reverse: bool,
    bidir: bool,
    congestion: Option<String>,
    set_mss: Option<String>,
}

impl Tcp {
    fn setting(self) -> Result<Setting, Failure> {
        Ok(Setting {
            direction: direction(self.reverse, self.bidir)?,
            congestion: self.congestion,
            mss: self.set_mss.as_deref().map(mss).transpose()?,
            ..Setting::new(StreamCount::ONE, Window::Auto)
        })
    }
}

/// A segment's payload, as the program bounds it.
pub(super) fn mss(text: &str) -> Result<u16, Failure> {
    value("set_mss", text, |text| {
        let size = text.parse::<u16>().ok();
        let size = size.filter(|size| (88..=32767).contains(size));
        size.ok_or_else(|| format!("{text} is not in 88..=32767"))
    })
}

fn streams(text: &str) -> Result<StreamCount, Failure> {
    number("streams", text)
}

#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Measure {
    streams: String,
    window: String,
    transport: String,
    mptcp: bool,
    duration: Option<String>,
    bytes: Option<String>,
    pacing: Option<String>,
    requests: Option<String>,
    block: Option<String>,
    mover_option: Vec<String>,
    udp: Option<String>,
    length: Option<String>,
}

impl Measure {
    /// What only streams of bulk data have is refused beside datagrams, and their size without
    /// them.
    fn check_datagrams(&self, tcp: &Tcp) -> Result<(), Failure> {
        let streams = [
            ("window", self.window != "auto"),
            ("transport", self.transport != "tcp"),
            ("mptcp", self.mptcp),
            ("bytes", self.bytes.is_some()),
            ("pacing", self.pacing.is_some()),
            ("congestion", tcp.congestion.is_some()),
            ("set_mss", tcp.set_mss.is_some()),
            ("requests", self.requests.is_some()),
            ("block", self.block.is_some()),
            ("mover_option", !self.mover_option.is_empty()),
        ];
        let given = streams.iter().find(|(_, is_given)| *is_given);
        match (&self.udp, given, &self.length) {
            (Some(_), Some((argument, _)), _) => Err(exclusive("udp", argument)),
            (None, _, Some(length)) => Err(Failure::request(
                format!("`length={length}` is the size of datagrams, and this run sends none"),
                "add `udp=\"50M\"`, or leave it out",
            )),
            _ => Ok(()),
        }
    }

    /// What only other programs have.
    fn moving(&self, name: &TargetName) -> Result<Moving, Failure> {
        let asked = [("requests", &self.requests), ("block", &self.block)];
        if !matches!(name, TargetName::Mover { .. })
            && let Some((argument, Some(text))) = asked.iter().find(|(_, text)| text.is_some())
        {
            return Err(no_mover(&format!("{argument}={text}")));
        }
        Ok(Moving {
            pipelining: optional("requests", self.requests.as_deref(), requests)?,
            block: optional("block", self.block.as_deref(), ask::block)?,
            ..Moving::default()
        })
    }
}

/// Requests without an answer, as the program bounds them.
fn requests(text: &str) -> Result<u16, String> {
    let count = text.parse::<u16>().ok().filter(|count| *count >= 1);
    count.ok_or_else(|| format!("{text} is not in 1..=65535"))
}

/// Starts a measurement of one setting.
#[pyfunction]
pub fn start_measure(asked: &Bound<'_, PyAny>) -> PyResult<Call> {
    let (common, tcp): (Common<'_>, Tcp) = (asked.extract()?, asked.extract()?);
    let own: Measure = asked.extract()?;
    own.check_datagrams(&tcp)?;
    if let Some(rate) = &own.udp {
        let rate = value("udp", rate, ask::datagram_rate)?;
        return start_datagrams(common, tcp, &own, rate);
    }
    let (name, seed) = (common.name()?, common.seed);
    let name = match own.mptcp {
        true => name.over_multipath().map_err(Failure::from)?,
        false => name,
    };
    let setting = Setting {
        moving: own.moving(&name)?,
        transport: transport(&own.transport)?,
        streams: streams(&own.streams)?,
        window: value("window", &own.window, ask::window)?,
        pacing: optional("pacing", own.pacing.as_deref(), ask::pacing)?,
        ..tcp.setting()?
    };
    if own.duration.is_some() && own.bytes.is_some() {
        return Err(exclusive("bytes", "duration").into());
    }
    let duration = value(
        "duration",
        own.duration.as_deref().unwrap_or("10s"),
        ask::duration,
    )?;
    let mut plan = SamplePlan::lasting(duration);
    if let Some(bytes) = optional("bytes", own.bytes.as_deref(), ask::bytes)? {
        plan.amount = Amount::Bytes(bytes);
    }
    let name = with_words(name, own.mover_option)?;
    let login = common.login.at(&name)?;
    let history = common.history.history();
    Call::start("measure", common.command, move |cancel, tell| {
        let mut target = open(name, seed, login)?;
        let on_progress = &mut |event: trunkline::Progress<'_>| tell.tell(event.into());
        let measured = trunkline::measure(&mut target, &setting, &plan, cancel, on_progress)?;
        Ok(Done::of(measured.document).kept_in(&history))
    })
}

/// Starts a measurement of datagrams.
fn start_datagrams(
    common: Common<'_>,
    tcp: Tcp,
    own: &Measure,
    rate: DatagramRate,
) -> PyResult<Call> {
    let (name, seed) = (common.name()?, common.seed);
    let duration = own.duration.as_deref().unwrap_or("10s");
    let plan = DatagramPlan::new(None, value("duration", duration, ask::duration)?);
    let plan = DatagramPlan {
        direction: direction(tcp.reverse, tcp.bidir)?,
        streams: streams(&own.streams)?,
        size: optional("length", own.length.as_deref(), length)?.unwrap_or(plan.size),
        ..plan
    };
    let login = common.login.at(&name)?;
    let history = common.history.history();
    Call::start("measure", common.command, move |cancel, tell| {
        let mut target = open(name, seed, login)?;
        let on_progress = &mut |event: trunkline::Progress<'_>| tell.tell(event.into());
        let document = trunkline::datagrams(&mut target, &plan, rate, cancel, on_progress)?;
        Ok(Done::of(document).kept_in(&history))
    })
}

/// The data of a datagram, as the program bounds it.
fn length(text: &str) -> Result<Bytes, String> {
    let length = text.parse::<u64>().ok();
    let length = length.filter(|length| (16..=65_507).contains(length));
    let length = length.map(Bytes::new);
    length.ok_or_else(|| format!("{text} is not between 16 and 65507"))
}

#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Tune {
    objective: String,
    knee: String,
    added_rtt: Option<String>,
    loss: Option<String>,
    streams_max: String,
    budget: Option<String>,
    axes: Option<Vec<String>>,
    transport: String,
    mover_option: Vec<String>,
}

impl Tune {
    fn objective(&self) -> Result<Objective, Failure> {
        let added_rtt = optional("added_rtt", self.added_rtt.as_deref(), ask::tune::added_rtt)?;
        let loss = optional("loss", self.loss.as_deref(), ask::tune::loss)?;
        let knee = value("knee", &self.knee, ask::tune::share)?;
        let sought = match self.objective.as_str() {
            "knee" => Objective::Knee { share: knee },
            "max" => Objective::Max,
            "power" => Objective::Power,
            "gentle" => {
                return Ok(Objective::Gentle {
                    added_rtt_max: added_rtt.unwrap_or(Objective::ADDED_RTT_MAX),
                    loss_max: loss.unwrap_or(Objective::LOSS_MAX),
                });
            }
            other => {
                let known = "possible values: knee, max, power, gentle";
                return Err(Failure::value("objective", other, known));
            }
        };
        match (added_rtt.is_some(), loss.is_some()) {
            (false, false) => Ok(sought),
            (of_rtt, _) => Err(Failure::request(
                format!(
                    "`{}` is a bound of `objective=\"gentle\"`, and this search is for `{}`",
                    if of_rtt { "added_rtt" } else { "loss" },
                    sought.name()
                ),
                "add `objective=\"gentle\"`, or leave the bound out",
            )),
        }
    }

    /// What varies from sample to sample, and which congestion controls are tried.
    fn axes(&self, congestion: Option<&str>) -> Result<(Vec<Axis>, Controls), Failure> {
        const CONGESTION: &str = "congestion";
        let Some(asked) = &self.axes else {
            let usual = TunePlan::default();
            return Ok((usual.axes, usual.controls));
        };
        let named = |name: &str| Axis::ALL.into_iter().find(|axis| axis.name() == name);
        let is_known = |name: &&String| *name == CONGESTION || named(name).is_some();
        if let Some(unknown) = asked.iter().find(|name| !is_known(name)) {
            let known = Axis::ALL.map(Axis::name).join(", ");
            let known = format!("possible values: {known}, {CONGESTION}");
            return Err(Failure::value("axes", unknown, &known));
        }
        let controls = match asked.iter().any(|name| name == CONGESTION) {
            true => Controls::All,
            false => Controls::Kept,
        };
        if let (Some(name), Controls::All) = (congestion, controls) {
            return Err(Failure::request(
                format!("`congestion=\"{name}\"` fixes what the axis `congestion` would vary"),
                "leave out one of the two",
            ));
        }
        let axes = asked.iter().filter_map(|name| named(name));
        Ok((axes.collect(), controls))
    }
}

/// Starts a search.
#[pyfunction]
pub fn start_tune(asked: &Bound<'_, PyAny>) -> PyResult<Call> {
    let (common, tcp): (Common<'_>, Tcp) = (asked.extract()?, asked.extract()?);
    let own: Tune = asked.extract()?;
    let (axes, controls) = own.axes(tcp.congestion.as_deref())?;
    let budget = optional("budget", own.budget.as_deref(), ask::tune::budget)?;
    let budget = budget.unwrap_or_default();
    let mut plan = TunePlan {
        objective: own.objective()?,
        axes,
        controls,
        base: Setting {
            transport: transport(&own.transport)?,
            ..tcp.setting()?
        },
        streams_max: number("streams_max", &own.streams_max)?,
        budget: Budget {
            time: budget.time,
            bytes: budget.bytes,
            ..Budget::default()
        },
        ..TunePlan::default()
    };
    let (name, seed) = (common.name()?, common.seed);
    let name = with_words(name, own.mover_option)?;
    let login = common.login.at(&name)?;
    let history = common.history.history();
    Call::start("tune", common.command, move |cancel, tell| {
        let mut target = open(name, seed, login)?;
        plan.remembered = history.remembered(&target, &plan.base);
        let on_progress = &mut |event: trunkline::Progress<'_>| tell.tell(event.into());
        let tuned: tune::Tuned = trunkline::tune(&mut target, &plan, cancel, on_progress)?;
        let cut = match tuned.tuning.ended {
            Ended::Found(_) => None,
            Ended::Cut(_, error) | Ended::Stopped(error) => {
                Some(Failure::from(error).below("the search ended early"))
            }
        };
        Ok(Done::of(tuned.document).kept_in(&history).cut(cut))
    })
}

fn ways(text: &str) -> Result<Vec<Way>, Failure> {
    match text {
        "forward" => Ok(vec![Way::Forward]),
        "reverse" => Ok(vec![Way::Reverse]),
        "both" => Ok(Way::BOTH.to_vec()),
        other => {
            let known = "possible values: forward, reverse, both";
            Err(Failure::value("ways", other, known))
        }
    }
}

/// What a cancelled examination says.
fn ended(cancel: &trunkline::Cancel) -> Option<Failure> {
    cancel
        .is_cancelled()
        .then(|| Failure::request("ended before everything was measured", "").of_kind("Cancelled"))
}

#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Examine {
    quick: bool,
    no_load: bool,
    ways: String,
    duration: Option<String>,
    path_file: bool,
    hop_capacity: bool,
    flows: Option<String>,
    way_back: bool,
}

/// How many flows look for branches.
fn flows(text: &str) -> Result<u8, Failure> {
    value("flows", text, |text| {
        let count = text.parse::<u8>().ok();
        let count = count.filter(|count| (2..=Wanted::FLOWS_MAX).contains(count));
        count.ok_or_else(|| format!("{text} is not in 2..={}", Wanted::FLOWS_MAX))
    })
}

/// Starts an examination of a path.
#[pyfunction]
pub fn start_examine(asked: &Bound<'_, PyAny>) -> PyResult<Call> {
    let (common, own): (Common<'_>, Examine) = (asked.extract()?, asked.extract()?);
    let has_load = !own.quick && !own.no_load;
    if own.quick && own.no_load {
        return Err(exclusive("no_load", "quick").into());
    }
    if own.duration.is_some() && !has_load {
        let other = if own.quick { "quick" } else { "no_load" };
        return Err(exclusive("duration", other).into());
    }
    if own.path_file && !has_load {
        let other = if own.quick { "quick" } else { "no_load" };
        return Err(exclusive("path_file", other).into());
    }
    let duration = optional("duration", own.duration.as_deref(), ask::duration)?;
    let wanted = Wanted {
        ways: ways(&own.ways)?,
        trains: !own.quick,
        load: has_load.then_some(duration.unwrap_or(Wanted::LOAD)),
        hop_capacity: own.hop_capacity,
        flows: own.flows.as_deref().map(flows).transpose()?,
        way_back: own.way_back,
    };
    let (name, seed) = (common.name()?, common.seed);
    let login = common.login.at(&name)?;
    let history = common.history.history();
    Call::start("examine", common.command, move |cancel, tell| {
        let target = open(name, seed, login)?;
        let on_progress = &mut |event: trunkline::Progress<'_>| tell.tell(event.into());
        let document = trunkline::examine(target, &wanted, own.path_file, cancel, on_progress)?;
        Ok(Done::of(document).kept_in(&history).cut(ended(cancel)))
    })
}

#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Responsiveness {
    ways: String,
    duration: Option<String>,
}

/// Starts a measurement of round trips under load.
#[pyfunction]
pub fn start_responsiveness(asked: &Bound<'_, PyAny>) -> PyResult<Call> {
    let (common, own): (Common<'_>, Responsiveness) = (asked.extract()?, asked.extract()?);
    let duration = optional("duration", own.duration.as_deref(), ask::duration)?;
    let plan = Plan {
        ways: ways(&own.ways)?,
        duration_max: duration.unwrap_or(Plan::DURATION_MAX),
    };
    let (name, seed) = (common.name()?, common.seed);
    let login = common.login.at(&name)?;
    let history = common.history.history();
    Call::start("responsiveness", common.command, move |cancel, tell| {
        let mut target = open(name, seed, login)?;
        let on_progress = &mut |event: trunkline::Progress<'_>| tell.tell(event.into());
        let document = trunkline::responsiveness(&mut target, &plan, cancel, on_progress)?;
        Ok(Done::of(document).kept_in(&history).cut(ended(cancel)))
    })
}
