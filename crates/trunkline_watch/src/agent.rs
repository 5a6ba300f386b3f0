//! An agent with real visits, and the far end for those of others.

mod given;
mod login;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;

use changes::{FarHost, Visit};
use copy_protocol::Token;
use units::{Address, Direction, Span, Via};
use watch_plan::{Due, Host, Kind, Pair, Plan, Task};
use watch_run::agent::{AgentOptions, HostClock, OnAgentEvent, Plans, Shown, Visitor};

use super::plan::PlanFile;
use super::settings::Settings;
use super::visit::{Deadline, FarFiles, Order, visit};
use trunkline::serve::{Files, OnServeEvent, ServeOptions, Server};
use trunkline::{Cancel, Error, Target, TargetName};

/// The folder for test files of others, in the agent's.
const RECEIVED: &str = "received";

/// What `trunkline watch run` is given.
#[derive(Debug, Clone)]
pub struct RunOptions {
    /// The host of the plan that this machine is.
    pub host: String,
    /// Where results go.
    pub collector: Address,
    /// What the collector knows this agent by.
    pub token: Token,
    /// The folder for results that wait, settings and test files.
    pub state: PathBuf,
    /// TCP and UDP port for the visits of others.
    pub port: u16,
    /// The tokens of the agents whose test files are taken; none are without.
    pub tokens: Option<PathBuf>,
}

/// Makes the visits of a host, serves those of others, and reports, until `cancel`.
///
/// # Errors
/// When the plan does not have the host, its folder or port cannot be used, or a token cannot be
/// read.
pub fn run(
    plan: Option<&PlanFile>,
    options: RunOptions,
    cancel: &Cancel,
    on_event: &OnAgentEvent<'_>,
    on_serve: Arc<OnServeEvent>,
) -> Result<(), Error> {
    let given = given::GivenPlans::new(&options);
    let (followed, plans): (_, Option<Arc<dyn Plans>>) = match plan {
        Some(plan) => (plan.followed(&options.host)?, None),
        None => match given.first(&options, cancel, on_event)? {
            Some(followed) => (followed, Some(Arc::new(given))),
            None => return Ok(()),
        },
    };
    let visitor = LiveVisitor::new(&options);
    let agent = watch_run::agent::Agent::open(AgentOptions {
        followed,
        plans,
        collector: options.collector.clone(),
        token: options.token.clone(),
        state: options.state.clone(),
        host: this_host(),
        software: copy_net::SOFTWARE.to_owned(),
        clock: Arc::new(HostClock),
    })?;
    let server = Server::bind(&far_end(&options)?, cancel, on_serve)?;
    thread::scope(|scope| {
        scope.spawn(|| server.run());
        agent.run(&visitor, &cancel.flag(), on_event);
    });
    Ok(())
}

/// What a visit of others finds here: tests, and test files below the agent's folder.
fn far_end(options: &RunOptions) -> Result<ServeOptions, Error> {
    let files = match &options.tokens {
        None => None,
        Some(tokens) => {
            let root = options.state.join(RECEIVED);
            fs::create_dir_all(&root).map_err(|error| Error::unwritable(&root, error))?;
            Some(Files {
                takes_links: false,
                removes: false,
                ..Files::new(root, tokens)
            })
        }
    };
    Ok(ServeOptions {
        at: options.port.into(),
        files,
        ..ServeOptions::default()
    })
}

/// Kernel and buffers of this host, for the agents that visit it.
fn this_host() -> FarHost {
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").ok();
    FarHost {
        kernel: kernel.map(|kernel| kernel.trim().to_owned()),
        limits: sockets::host::limits(),
    }
}

/// Visits hosts over the network.
struct LiveVisitor {
    settings: Settings,
    folder: PathBuf,
    /// Where files of others are.
    received: PathBuf,
    port: u16,
}

impl LiveVisitor {
    fn new(options: &RunOptions) -> Self {
        LiveVisitor {
            settings: Settings::open(&options.state),
            folder: options.state.join("copies"),
            received: options.state.join(RECEIVED),
            port: options.port,
        }
    }

    /// The task, the far host, and its address with its port.
    fn planned<'p>(
        &self,
        plan: &'p Plan,
        due: &Due,
    ) -> Result<(&'p Task, &'p Host, TargetName), Error> {
        let task = plan.tasks().iter().find(|task| task.name == due.task);
        let host = plan.hosts().get(due.far());
        let (Some(task), Some(host)) = (task, host) else {
            let what = format!("the plan has no task `{}` to `{}`", due.task, due.far());
            return Err(Error::wrong_request(what, "start the agent again"));
        };
        match TargetName::parse(&host.address, self.port)? {
            TargetName::Live(address) => {
                let address = address.leaving(via(plan, task, due));
                Ok((task, host, TargetName::Live(address)))
            }
            // A plan comes from elsewhere, and must not start programs here.
            TargetName::Mover { far, .. } => Err(Error::wrong_request(
                format!(
                    "a watch runs no other programs, and `{}` asks for one",
                    far.asked
                ),
                "name the host as `HOST:PORT`",
            )),
            name => Ok((task, host, name)),
        }
    }

    fn visit_or_say_why(
        &self,
        plan: &Plan,
        due: &Due,
        begun: &Visit,
        stop: &AtomicBool,
    ) -> Result<Shown, Error> {
        let (task, far, name) = self.planned(plan, due)?;
        let files = match &name {
            TargetName::Live(address) => files(plan, due, address)?,
            _ => None,
        };
        let pair = Pair {
            from: due.from.clone(),
            to: due.to.clone(),
        };
        // A gentle search finds another setting.
        let manner = if task.gentle { ", gentle" } else { "" };
        let version = task.ip.map(|ip| format!(", {ip}")).unwrap_or_default();
        let series = format!("{} to {}{version}{manner}", due.from, due.to);
        let order = Order {
            kind: due.kind,
            direction: match due.is_turned() {
                true => Direction::Reverse,
                false => Direction::Forward,
            },
            duration: due.duration,
            is_gentle: task.gentle,
            rate_max: plan.rate_max(task, &pair),
            setting: self.settings.find(&series),
            files: files.as_ref(),
            folder: self.folder.clone(),
        };
        // Copies have a token.
        let login = far.login.as_ref();
        let login = login.filter(|_| !matches!(due.kind, Kind::Copy { .. }));
        let login = login::login(login, &self.received)?;
        let mut target = Target::open_as(name, 1, login)?;
        let mut deadline = Deadline::after(left(due, begun), stop);
        let visited = visit(&mut target, &order, begun.clone(), &mut deadline);
        if let Some(setting) = visited.found {
            self.settings.remember(&series, setting);
        }
        Ok(visited.shown)
    }
}

/// Where the copies of a visit go; nowhere without a token in the plan.
fn files(plan: &Plan, due: &Due, address: &Address) -> Result<Option<FarFiles>, Error> {
    let host = plan.hosts().get(&due.to);
    let Some(file) = host.and_then(|host| host.token.as_ref()) else {
        return Ok(None);
    };
    let file = Path::new(file.as_str());
    login::check_file(file)?;
    Ok(Some(FarFiles {
        address: address.clone(),
        token: super::read_token(file)?,
        name: format!("from-{}.bin", due.from),
    }))
}

/// How the packets of a visit leave this host.
fn via(plan: &Plan, task: &Task, due: &Due) -> Via {
    let here = plan.hosts().get(&due.by);
    Via {
        family: task.ip,
        source: here.and_then(|host| host.bind.clone()).unwrap_or_default(),
        dscp: task.dscp,
        multipath: false,
    }
}

/// What is left of the time of a visit: one that begins late ends no later.
fn left(due: &Due, begun: &Visit) -> Span {
    let late = begun.at.seconds().cast_signed() - due.at;
    due.duration - Span::from_secs(late.max(0).unsigned_abs())
}

impl Visitor for LiveVisitor {
    fn visit(&self, plan: &Plan, due: &Due, begun: Visit, stop: &AtomicBool) -> Shown {
        self.visit_or_say_why(plan, due, &begun, stop)
            .unwrap_or_else(|error| {
                let mut visit = begun;
                visit.failure = Some(changes::Failure {
                    reason: error.what(),
                });
                Shown {
                    visit,
                    rates: None,
                    document: None,
                }
            })
    }
}
