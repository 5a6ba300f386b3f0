//! The far end of another program, whose own client is run here.
//!
//! A run starts the client with the setting's options, reads its connections ten times a second
//! from the kernel, and ends it when enough was seen. Where the kernel shows none of its
//! connections, what it prints has to do. What a run leaves at the far end is removed when the
//! target is asked to stop, or dropped: each run writes over the one before.
//!
//! Left out: streams that join a run, and the far end's view.
//!
//! Reading order: this page, `running.rs`, `connections.rs`, `assemble.rs`; `data.rs` and
//! `removal.rs` for what is made and removed.

mod assemble;
mod connections;
mod data;
mod errors;
mod removal;
mod running;

use std::net::{SocketAddr, ToSocketAddrs};

use measure_protocol::EchoToken;
use movers::{Client, Far, Invocation, Job, Removal};
use observe::{
    Amount, MoverCommand, Observation, RunObserver, SamplePlan, Setting, Target, TargetError,
    TargetInfo, TargetKind, Transport,
};
use probe_net::round_trips::{LatestTrip, LoadedProbes, ProbeSocket, is_answered, series};
use sockets::child::Child;
use sockets::{Clock, random};
use units::{Bytes, Rate, Span};

use data::TestData;
use running::{NotSeen, Patience, Running, Seen};

/// A client and the far end that it is run against.
pub struct MoverTarget {
    far: Far,
    options: Vec<String>,
    client: &'static dyn Client,
    /// Whether its version is one whose options are those used here.
    is_checked: bool,
    data: Option<TestData>,
    /// What the runs so far have left at the far end.
    to_remove: Option<Removal>,
    left_behind: Option<String>,
    fastest: Rate,
    patience: Patience,
    /// Whether the far end has taken a client before.
    has_run: bool,
    /// The settings of runs that data crossed on another number of connections than they asked for,
    /// with that number.
    carried: Vec<(Setting, usize)>,
}

/// The rate for which test data suffices where none was seen yet.
const RATE_FIRST: Rate = Rate::from_bits_per_second(10_000_000_000);
/// How often a client is started that the far end refuses, though it took one before.
const TRIES: u32 = 4;
/// The time between.
const PAUSE: Span = Span::from_secs(1);
/// The longest run of a given amount of data.
const LASTING_MAX: Span = Span::from_secs(3_600);

impl MoverTarget {
    /// Nothing is run or sent yet.
    pub fn new(far: Far, options: Vec<String>) -> Self {
        MoverTarget {
            client: far.mover.client(),
            far,
            options,
            is_checked: false,
            data: None,
            to_remove: None,
            left_behind: None,
            fastest: Rate::ZERO,
            patience: Patience::default(),
            has_run: false,
            carried: Vec::new(),
        }
    }

    /// Asks the program for its version, once.
    fn check_version(&mut self) -> Result<(), TargetError> {
        if self.is_checked {
            return Ok(());
        }
        let answer = running::ask(
            &self.client.ask_version(),
            self.client,
            self.patience.answer,
        )?;
        let version = self.client.version(&answer);
        let version = version.ok_or_else(|| errors::unknown_version(self.client, &answer))?;
        if version < self.client.oldest() {
            return Err(errors::too_old(self.client, &version));
        }
        self.is_checked = true;
        Ok(())
    }

    /// As much test data as cannot pass in the time.
    fn size(&self, plan: &SamplePlan) -> Bytes {
        match plan.amount {
            Amount::Bytes(bytes) => bytes,
            Amount::Time(time) => {
                let rate = RATE_FIRST.as_f64().max(2.0 * self.fastest.as_f64());
                Rate::from_f64(rate).bytes_in(time + time)
            }
        }
    }

    fn address(&self) -> Option<SocketAddr> {
        let host = Some(self.far.host.as_str()).filter(|host| !host.is_empty())?;
        let mut found = (host, self.far.port.unwrap_or(0)).to_socket_addrs().ok()?;
        found.next()
    }

    /// A way to send echoes to the far host; `None` where there is none.
    fn echo(&self) -> Option<ProbeSocket> {
        let token = EchoToken(random::number().ok()?);
        ProbeSocket::icmp(&self.address()?.into(), token).ok()
    }

    fn run(
        &mut self,
        setting: &Setting,
        plan: &SamplePlan,
        watch: &mut dyn RunObserver,
    ) -> Result<Observation, TargetError> {
        let asked = Clock::start();
        self.check_version()?;
        let unable = |unable| errors::unable(self.client, unable);
        let removal = self
            .client
            .removal(&self.far, &self.options, setting.direction);
        let removal = removal.map_err(unable)?;
        let data = TestData::make(self.size(plan), setting).map_err(errors::no_test_data)?;
        let job = Job {
            far: &self.far,
            setting,
            options: &self.options,
            local: data.local(),
            lasting: match plan.amount {
                Amount::Time(time) => time,
                Amount::Bytes(_) => LASTING_MAX,
            },
        };
        let invocation = self.client.invocation(&job).map_err(unable)?;
        self.data = Some(data);
        let echo = self.echo().filter(is_answered);
        let unloaded = echo.filter(|_| plan.unloaded > Span::ZERO).map(|socket| {
            let is_over = |elapsed| elapsed >= plan.unloaded || watch.is_cancelled();
            series(&socket, &LatestTrip::default(), is_over)
        });
        if removal != Removal::Nothing {
            self.to_remove = Some(removal);
        }
        let seen = self.until_taken(&invocation, setting, plan, watch)?;
        self.has_run = true;
        self.note_carried(setting, seen.connections.carrying().len());
        self.fastest = self.fastest.max(seen.rate());
        Ok(assemble::observation(setting, seen, unloaded, asked.now()))
    }
}

impl MoverTarget {
    /// Of a client whose connections were not seen there is nothing to note.
    fn note_carried(&mut self, setting: &Setting, carried: usize) {
        self.carried.retain(|(noted, _)| noted != setting);
        if carried > 0 && carried != usize::from(setting.streams.get()) {
            self.carried.push((setting.clone(), carried));
        }
    }

    /// Runs the client; again where the far end is not ready yet for another client after one that
    /// was ended.
    fn until_taken(
        &mut self,
        invocation: &Invocation,
        setting: &Setting,
        plan: &SamplePlan,
        watch: &mut dyn RunObserver,
    ) -> Result<Seen, TargetError> {
        let mut tries = if self.has_run { TRIES } else { 1 };
        loop {
            tries -= 1;
            match self.attempt(invocation, setting, plan, watch) {
                Err(NotSeen::Refused(_)) if tries > 0 => {
                    let why = format!("{} was refused", self.client.program());
                    watch.on_wait(&why, PAUSE);
                    running::pause(PAUSE, watch)?;
                }
                Err(NotSeen::Refused(error) | NotSeen::Failed(error)) => return Err(error),
                Ok(seen) => return Ok(seen),
            }
        }
    }

    fn attempt(
        &self,
        invocation: &Invocation,
        setting: &Setting,
        plan: &SamplePlan,
        watch: &mut dyn RunObserver,
    ) -> Result<Seen, NotSeen> {
        let loading = self
            .echo()
            .and_then(|socket| LoadedProbes::start(socket).ok());
        let (arguments, variables) = (&invocation.arguments, &invocation.environment);
        let child = Child::start(&invocation.program, arguments, variables);
        let child = child.map_err(|error| errors::not_started(self.client, invocation, error))?;
        let (client, way) = (self.client, setting.direction);
        Running::new(child, client, way, loading, self.patience)?.until_enough(plan, watch)
    }
}

impl Target for MoverTarget {
    fn describe(&self) -> TargetInfo {
        let mut congestion = sockets::host::congestion_controls();
        if self.far.mover != movers::Mover::Iperf2 {
            congestion.truncate(1);
        }
        TargetInfo {
            name: movers::without_password(&self.far.asked),
            kind: TargetKind::Live,
            limits: sockets::host::limits(),
            congestion,
            mover: Some(self.client.axes()),
        }
    }

    fn observe(
        &mut self,
        setting: &Setting,
        plan: &SamplePlan,
        watch: &mut dyn RunObserver,
    ) -> Result<Observation, TargetError> {
        if setting.transport == Transport::Udp {
            return Err(errors::no_udp(self.client));
        }
        let seen = self.run(setting, plan, watch);
        self.data = None;
        seen
    }

    fn stop(&mut self) {
        if let Some(removal) = self.to_remove.take() {
            self.left_behind = removal::remove(&removal, &self.far).err();
        }
    }

    fn command(&self, setting: &Setting) -> Option<MoverCommand> {
        let shown = self.far.without_password();
        let mut command = self.client.command(&shown, &self.options, setting);
        if let Some((_, carried)) = self.carried.iter().find(|(noted, _)| noted == setting) {
            let seen = format!(
                "of {} streams asked for, {carried} carried data",
                setting.streams
            );
            let known = command.note.take();
            command.note = Some(known.map_or(seen.clone(), |known| format!("{known}; {seen}")));
        }
        Some(command)
    }

    fn left_behind(&self) -> Option<String> {
        self.left_behind.clone()
    }
}

impl Drop for MoverTarget {
    fn drop(&mut self) {
        self.stop();
    }
}

#[cfg(test)]
mod tests;
