//! A collector that listens.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use copy_net::{ListenError, Listener};
use copy_protocol::{Key, KeyName, Rights};
use errors::Hint;
use observe::Fault;
use trunkline::serve::TokensFile;
use trunkline::{Cancel, Error};
use units::Span;
use watch_run::collector::{Allowed, Collector, CollectorOptions};
use watch_run::link::{Answer, Report, Reports};
use watch_store::{DatabaseName, Name, Store};
use watch_web::{WebOptions, WebServer};

use super::alerting::{AlertDesk, load_alerting};
use super::collector_event::{CollectorEvent, OnCollectorEvent, now};
use super::flow_listener::FlowListener;
use super::live::Known;
use super::plan::PlanFile;
use super::rejections::Rejections;

/// How often roll-ups are computed and silent paths looked for.
const TEND_EVERY: Duration = Duration::from_secs(60);
/// How soon a stop is noticed.
const TICK: Duration = Duration::from_millis(100);

/// What `trunkline watch serve` is given.
#[derive(Debug, Clone)]
pub struct CollectOptions {
    /// Where results are stored.
    pub database: DatabaseName,
    /// The file of the agents' tokens.
    pub tokens: PathBuf,
    /// TCP port for agents; 0 takes any free one.
    pub port: u16,
    /// How long raw values are kept.
    pub keep_raw: Span,
    /// Who is told of changes; without, no alerts are sent.
    pub alerts: Option<AlertFiles>,
    /// Where pages are served; nowhere without.
    pub pages: Option<PageServer>,
}

/// The files of alerts.
#[derive(Debug, Clone)]
pub struct AlertFiles {
    /// Who is told what.
    pub rules: PathBuf,
    /// What was told already.
    pub state: PathBuf,
}

/// The server of pages.
#[derive(Debug, Clone)]
pub struct PageServer {
    /// Where it listens.
    pub listen: SocketAddr,
    /// Who knows it may silence alerts.
    pub token: Option<String>,
}

/// A collector that is bound to its port.
pub struct CollectorServer {
    collector: Arc<Collector>,
    listener: Listener,
    tokens: TokensFile,
    alerts: Option<Arc<AlertDesk>>,
    pages: Option<SocketAddr>,
    flows: Option<FlowListener>,
    _web: Arc<OnceLock<WebServer>>,
    on_event: Arc<OnCollectorEvent>,
}

impl CollectorServer {
    /// Opens the database and binds the port.
    ///
    /// # Errors
    /// When the database or the tokens cannot be used, or a port is taken.
    pub fn bind(
        plan: &PlanFile,
        options: &CollectOptions,
        on_event: Arc<OnCollectorEvent>,
    ) -> Result<Self, Error> {
        let tokens = TokensFile::open(&options.tokens)?;
        let listener = listen(options.port)?;
        let alerts = match &options.alerts {
            Some(files) => {
                let rules = load_alerting(&files.rules)?;
                let desk = AlertDesk::open(rules, &plan.plan, files.state.clone())?;
                Some(Arc::new(desk))
            }
            None => None,
        };
        let web: Arc<OnceLock<WebServer>> = Arc::default();
        // The pages know the collector: with a strong reference back none of them would be
        // dropped, and SQLite ends its log when the last connection closes.
        let (tell, desk, pages) = (Arc::clone(&on_event), alerts.clone(), Arc::downgrade(&web));
        let collector = Collector::open(
            CollectorOptions {
                database: options.database.clone(),
                plan: plan.text.clone(),
                timetable: plan.timetable.clone(),
                allowed: Allowed::of(&plan.plan),
                keep_raw: options.keep_raw,
                listening_since: now(),
            },
            Box::new(move |events| {
                for event in events {
                    tell(&CollectorEvent::Changed(Box::new(event.clone())));
                }
                if let Some(desk) = &desk {
                    desk.insert(events, &*tell);
                }
                if let Some(pages) = pages.upgrade().as_ref().and_then(|pages| pages.get()) {
                    pages.notify();
                }
            }),
        )?;
        let collector = Arc::new(collector);
        if let Some(desk) = &alerts {
            desk.catch_up(&mut Store::open(&options.database)?, &*on_event)?;
        }
        let flows = plan.plan.flows();
        let flows = flows.map(|flows| FlowListener::bind(flows, &options.database));
        let flows = flows.transpose()?;
        let mut address = None;
        if let Some(pages) = &options.pages {
            let at = pages.options(&options.database);
            let known = known(&collector, plan, alerts.clone(), &at.database, &on_event)?;
            let server = WebServer::start(at, Arc::new(known))?;
            address = Some(server.address());
            let _ = web.set(server);
        }
        Ok(CollectorServer {
            collector,
            listener,
            tokens,
            alerts,
            pages: address,
            flows,
            _web: web,
            on_event,
        })
    }

    /// The port for agents.
    pub fn port(&self) -> u16 {
        self.listener.port()
    }

    /// Its tokens, which can be read again while it runs.
    pub fn tokens(&self) -> &TokensFile {
        &self.tokens
    }

    /// What it knows.
    pub fn collector(&self) -> Arc<Collector> {
        Arc::clone(&self.collector)
    }

    /// Serves agents until `cancel`, then saves what the detectors know.
    ///
    /// # Errors
    /// When that cannot be saved; the next start then reads more visits again.
    pub fn run(self, cancel: &Cancel) -> Result<(), Error> {
        (self.on_event)(&CollectorEvent::Listening(self.port()));
        if let Some(address) = self.pages {
            (self.on_event)(&CollectorEvent::Pages(address));
        }
        if let Some(flows) = &self.flows {
            (self.on_event)(&CollectorEvent::TakingFlows(flows.address()));
        }
        let relearned = self.collector.relearned();
        if relearned > 0 {
            (self.on_event)(&CollectorEvent::Relearned(relearned));
        }
        let reports = Arc::new(Taking {
            collector: Arc::clone(&self.collector),
            tokens: self.tokens,
            rejections: Mutex::default(),
            refusals: Mutex::default(),
            on_event: Arc::clone(&self.on_event),
        });
        let taking = Arc::clone(&reports);
        let (listener, flows) = (self.listener, self.flows);
        thread::scope(|scope| {
            if let Some(flows) = flows {
                scope.spawn(|| flows.run(&*self.on_event, cancel));
            }
            scope.spawn(|| watch_run::link::serve(listener, reports, &|| cancel.is_cancelled()));
            if let Some(alerts) = &self.alerts {
                scope.spawn(|| alerts.run(&*self.on_event, cancel));
            }
            tend(&self.collector, &taking, cancel);
        });
        Ok(self.collector.save()?)
    }
}

/// What the pages show beside the database.
fn known(
    collector: &Arc<Collector>,
    plan: &PlanFile,
    alerts: Option<Arc<AlertDesk>>,
    database: &DatabaseName,
    on_event: &Arc<OnCollectorEvent>,
) -> Result<Known, Error> {
    let (collector, table) = (Arc::clone(collector), plan.timetable.clone());
    let known = Known::open(collector, table, alerts, database, Arc::clone(on_event));
    Ok(known?)
}

/// Listens for agents. The words of copies, which have many ports, do not fit.
fn listen(port: u16) -> Result<Listener, Error> {
    let bound = Listener::bind((port > 0).then_some(port..=port));
    bound.map_err(|error| match error {
        ListenError::Range { source, .. } if source.kind() == io::ErrorKind::AddrInUse => {
            let what = format!("port {port} for agents is in use");
            let hint = "another collector may run here: end it, or name another with `--port`";
            let source = io::Error::new(source.kind(), what);
            Error::of(Fault::Run, source, Some(hint.to_owned()))
        }
        other => other.into(),
    })
}

/// Does what has to be done from time to time, until `cancel`.
fn tend(collector: &Collector, taking: &Taking, cancel: &Cancel) {
    let on_event = &taking.on_event;
    let mut next = Instant::now();
    while !cancel.is_cancelled() {
        thread::sleep(TICK);
        let more = taking.rejections().flush(Instant::now());
        more.iter().for_each(|more| on_event(more));
        if Instant::now() < next {
            continue;
        }
        next = Instant::now() + TEND_EVERY;
        if let Err(error) = collector.tend(now()) {
            on_event(&CollectorEvent::Failed {
                hint: error.hint().unwrap_or_default(),
                what: error.to_string(),
            });
        }
    }
}

/// Reports of agents, with the tokens that they need.
struct Taking {
    collector: Arc<Collector>,
    tokens: TokensFile,
    rejections: Mutex<Rejections>,
    /// Why each agent does not follow the plan, as it was told.
    refusals: Mutex<BTreeMap<Name, String>>,
    on_event: Arc<OnCollectorEvent>,
}

impl Taking {
    /// Tells once that an agent refuses the plan.
    fn note_plan(&self, report: &Report) {
        let Some(host) = report.hosts.first() else {
            return;
        };
        let refused = report
            .plan_wish
            .as_ref()
            .and_then(|wish| wish.refused.clone());
        let mut refusals = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(why) = refused else {
            refusals.remove(host);
            return;
        };
        let why = units::printable(&why, 500);
        if refusals.insert(host.clone(), why.clone()).as_ref() != Some(&why) {
            let host = host.to_string();
            (self.on_event)(&CollectorEvent::PlanRefused { host, why });
        }
    }

    fn rejections(&self) -> MutexGuard<'_, Rejections> {
        // A count is whole at any time.
        self.rejections
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Taking {
    fn drop(&mut self) {
        let more = self.rejections().summary();
        more.iter().for_each(|more| (self.on_event)(more));
    }
}

impl Reports for Taking {
    fn find(&self, name: &KeyName) -> Option<(Key, Rights)> {
        self.tokens.find(name)
    }

    fn take(&self, name: &KeyName, peer: SocketAddr, report: Report) -> Answer {
        let answer = self.collector.take(name, peer, &report, now());
        if let Answer::Taken(_) = &answer {
            self.note_plan(&report);
        }
        if let Answer::Refused(refused) = &answer {
            self.rejected(peer, &format!("{}; {}", refused.what, refused.hint));
        }
        answer
    }

    fn rejected(&self, peer: SocketAddr, reason: &str) {
        let told = self.rejections().take(Instant::now(), peer, reason);
        told.iter().for_each(|event| (self.on_event)(event));
    }
}

impl fmt::Display for CollectorEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CollectorEvent::Listening(port) => write!(f, "taking reports of agents on port {port}"),
            CollectorEvent::Pages(address) => write!(f, "pages on http://{address}/"),
            CollectorEvent::TakingFlows(address) => {
                write!(f, "taking flow records of routers on UDP {address}")
            }
            CollectorEvent::Flows(sentence) => f.write_str(sentence),
            CollectorEvent::Alert(headline) => write!(f, "alert: {headline}"),
            CollectorEvent::NotAlerted(why) => write!(f, "an alert waits: {why}"),
            CollectorEvent::Relearned(count) => write!(
                f,
                "what was saved of {count} detectors cannot be used; they learn again from the \
                 stored visits"
            ),
            CollectorEvent::Changed(event) => f.write_str(&super::words::changed(event)),
            CollectorEvent::PlanRefused { host, why } => write!(
                f,
                "the agent of {host} refuses this plan and goes on with the one before: {why}"
            ),
            CollectorEvent::Rejected { peer, reason } => write!(f, "{peer}: rejected: {reason}"),
            CollectorEvent::RejectedMore {
                count,
                peer,
                reason,
            } => write!(
                f,
                "{count} more rejected within a minute, the latest from {peer}: {reason}"
            ),
            CollectorEvent::Failed { what, hint } => write!(f, "{what}; {hint}"),
        }
    }
}

impl PageServer {
    pub(super) fn options(&self, database: &DatabaseName) -> WebOptions {
        WebOptions {
            listen: self.listen,
            database: database.clone(),
            token: self.token.clone(),
        }
    }
}
