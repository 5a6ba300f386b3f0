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

use movers::{Client, Far, Job, Removal, Version};
use observe::{
    Amount, MoverCommand, Observation, SamplePlan, Setting, Target, TargetError, TargetInfo,
    TargetKind, Watch,
};
use probe_net::round_trips::{LatestTrip, LoadedProbes, ProbeSocket, is_answered, series};
use sockets::child::Child;
use sockets::{Clock, random};
use units::{Bytes, Rate, Span};
use wire::EchoToken;

use data::TestData;
use running::{Patience, Running};

/// A client and the far end that it is run against.
pub struct MoverTarget {
    far: Far,
    options: Vec<String>,
    client: &'static dyn Client,
    version: Option<Version>,
    data: Option<TestData>,
    /// What the runs so far have left at the far end.
    to_remove: Option<Removal>,
    left_behind: Option<String>,
    fastest: Rate,
    patience: Patience,
}

/// The rate for which test data suffices where none was seen yet.
const RATE_FIRST: Rate = Rate::from_bits_per_second(10_000_000_000);
/// The longest run of a given amount of data.
const LASTING_MAX: Span = Span::from_secs(3_600);

impl MoverTarget {
    /// Nothing is run or sent yet.
    pub fn new(far: Far, options: Vec<String>) -> Self {
        MoverTarget {
            client: far.mover.client(),
            far,
            options,
            version: None,
            data: None,
            to_remove: None,
            left_behind: None,
            fastest: Rate::ZERO,
            patience: Patience::default(),
        }
    }

    /// Asks the program for its version, once.
    fn check_version(&mut self) -> Result<(), TargetError> {
        if self.version.is_none() {
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
            self.version = Some(version);
        }
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

    /// A way to send echoes to the far host; `None` where there is none, or nobody answers.
    fn echo(&self) -> Option<ProbeSocket> {
        let token = EchoToken(random::number().ok()?);
        ProbeSocket::icmp(self.address()?, token).ok()
    }

    fn run(
        &mut self,
        setting: &Setting,
        plan: &SamplePlan,
        watch: &mut dyn Watch,
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
        let loading = self
            .echo()
            .and_then(|socket| LoadedProbes::start(socket).ok());
        if removal != Removal::Nothing {
            self.to_remove = Some(removal);
        }
        let child = Child::start(
            &invocation.program,
            &invocation.arguments,
            &invocation.environment,
        );
        let child =
            child.map_err(|source| errors::not_started(self.client, &invocation, source))?;
        let running = Running::new(
            child,
            self.client,
            setting.direction,
            loading,
            self.patience,
        )?;
        let seen = running.until_enough(plan, watch)?;
        self.fastest = self.fastest.max(seen.rate());
        Ok(assemble::observation(setting, seen, unloaded, asked.now()))
    }
}

impl Target for MoverTarget {
    fn describe(&self) -> TargetInfo {
        let mut congestion = sockets::host::congestion_controls();
        if self.far.mover != movers::Mover::Iperf2 {
            congestion.truncate(1);
        }
        let version = self.version.clone();
        let version = version.unwrap_or_else(|| self.client.oldest());
        TargetInfo {
            name: self.far.asked.clone(),
            kind: TargetKind::Live,
            limits: sockets::host::limits(),
            congestion,
            mover: Some(self.client.axes(&version, observe::Direction::Forward)),
        }
    }

    fn observe(
        &mut self,
        setting: &Setting,
        plan: &SamplePlan,
        watch: &mut dyn Watch,
    ) -> Result<Observation, TargetError> {
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
        Some(self.client.command(&self.far, &self.options, setting))
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
