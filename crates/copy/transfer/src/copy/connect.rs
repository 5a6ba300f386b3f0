//! Connects to the far end: a server, or a program started through ssh that listens or calls back.

use std::cell::Cell;
use std::io;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use copy_net::{
    AcceptLimits, AcceptedSession, Callbacks, CopyHandler, DialError, Dialed, Dialer, Fingerprint,
    IncomingStreams, KnownPeer, Listener, SentProgram, Ssh, SshError, SshFarEnd, StreamEndpoint,
    may_ask, new_secret,
};
use copy_protocol::{
    COPYING_VERSION, CallBack, Connect, CopyEvent, CopySpec, FarHost, HandshakeError, Key, KeyName,
    Message, Opening, Problem, ProblemKind, Rights, SPOKEN, StartRequest, Token,
};
use errors::Hint;
use observe::Transport;
use units::{Address, AddressPair, Bytes, Via};

use crate::copy_stats::CopyStats;
use crate::preconnect::Preconnected;
use crate::session::SessionEnd;

/// Before another try, where a connection was closed at once or ssh did not get through.
const AGAIN_PAUSE: Duration = Duration::from_millis(300);

/// Connects to the far end, repeatedly.
pub(super) struct Connector<'a> {
    spec: &'a CopySpec,
    started: Option<SshFarEnd>,
    /// The far end was connected.
    was_there: bool,
    port: Option<Port>,
    /// The next step after the last try at a server.
    hint: Option<String>,
    /// Why no program of ours can be started there, where SFTP serves in its place.
    without_program: Option<String>,
    /// Which of the ways to the far end is tried first.
    first_way: Cell<usize>,
}

/// A connection to the far end.
pub(crate) struct Connected {
    pub(super) dialed: Dialed,
    /// Streams come here by themselves.
    pub(super) incoming: Option<IncomingStreams>,
    /// Connections for streams that are being made.
    pub(super) preconnected: Preconnected,
}

/// A port here, for a far end that connects.
struct Port {
    callbacks: Callbacks,
    call_back: CallBack,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl<'a> Connector<'a> {
    pub(super) fn new(spec: &'a CopySpec) -> Self {
        Connector {
            spec,
            started: None,
            was_there: false,
            port: None,
            hint: None,
            without_program: None,
            first_way: Cell::new(0),
        }
    }

    /// What to do when a server cannot be reached.
    pub(super) fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// Why no program of ours can be started at the far end, where SFTP serves in its place.
    pub(super) fn without_program(&self) -> Option<String> {
        self.without_program.clone().filter(|_| !self.was_there)
    }

    /// Whether a far end was started through ssh.
    pub(super) fn has_started(&self) -> bool {
        self.started.is_some()
    }

    /// Connects once.
    pub(super) fn connect(
        &mut self,
        opening: &Opening,
        stats: &mut CopyStats<'_>,
    ) -> Result<Connected, SessionEnd> {
        let connected = self.connect_once(opening, stats).and_then(|connected| {
            check_version(opening, connected.dialed.admitted.version)?;
            Ok(connected)
        });
        self.was_there |= connected.is_ok();
        connected
    }

    fn connect_once(
        &mut self,
        opening: &Opening,
        stats: &mut CopyStats<'_>,
    ) -> Result<Connected, SessionEnd> {
        let control = stats.control();
        let is_stopped = &|| control.is_stopped();
        match &self.spec.far.host {
            FarHost::Server {
                address,
                credentials,
            } => {
                let token = credentials.0.parse().map_err(|error| bad_token(&error))?;
                let places = std::slice::from_ref(address);
                let dialer = self.dialer();
                let dial = || self.dial_any(dialer, places, &token, None, opening, is_stopped);
                let dialed = match dial() {
                    // A server that stops closes what it has not taken up; now it is away or back.
                    Err(DialError::Closed { .. }) => {
                        thread::sleep(AGAIN_PAUSE);
                        dial()
                    }
                    dialed => dialed,
                };
                dialed.map_err(|error| {
                    self.hint = error.hint();
                    why_not(&error)
                })
            }
            FarHost::Ssh { .. } => self.connect_through_ssh(opening, is_stopped, stats),
        }
    }

    /// A started far end stays for a while without a connection; one that is gone is started again.
    /// So is one that was killed before the first connection, once.
    fn connect_through_ssh(
        &mut self,
        opening: &Opening,
        is_stopped: &dyn Fn() -> bool,
        stats: &mut CopyStats<'_>,
    ) -> Result<Connected, SessionEnd> {
        if let Some(started) = &self.started {
            if let Ok(connected) = self.connect_to_started(started, opening, is_stopped) {
                return Ok(connected);
            }
            self.started = None;
        }
        let mut started = self.start(opening, stats)?;
        check_version(opening, started.answer.version)?;
        let mut connected = self.connect_to_started(&started, opening, is_stopped);
        if connected.is_err() && !is_stopped() && started.has_ended() {
            started = self.start(opening, stats)?;
            connected = self.connect_to_started(&started, opening, is_stopped);
        }
        self.started = Some(started);
        connected.map_err(|error| why_not(&error))
    }

    fn connect_to_started(
        &self,
        started: &SshFarEnd,
        opening: &Opening,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Connected, DialError> {
        let dialer = Dialer {
            version: started.answer.version,
            ..self.dialer()
        };
        let (places, token) = (&started.places, &started.token);
        let Some(port) = &self.port else {
            let pin = started.answer.fingerprint.map(Fingerprint);
            return self.dial_any(dialer, places, token, pin, opening, is_stopped);
        };
        let dialed = port.callbacks.control(&dialer, token, is_stopped)?;
        let key = dialed.admitted.session_key.clone();
        Ok(Connected {
            incoming: Some(port.callbacks.expect(key)),
            preconnected: Preconnected::default(),
            dialed,
        })
    }

    /// Connects on one way after the other, from the one behind that which served the last time:
    /// where that is gone, the next one may be there. Only addresses that the user wrote are ways:
    /// at one that the far end told, another host may know the same token.
    fn dial_any(
        &self,
        dialer: Dialer,
        places: &[Address],
        token: &Token,
        pin: Option<Fingerprint>,
        opening: &Opening,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Connected, DialError> {
        let ways = ways(places, &self.spec.pairs);
        let first = self.first_way.get() % ways.len().max(1);
        let (before, behind) = ways.split_at(first);
        let mut last = None;
        for (step, places) in behind.iter().chain(before).enumerate() {
            match dial(dialer, places, token, pin, opening, is_stopped) {
                Err(error) if error.may_pass() && !is_stopped() => last = Some(error),
                // This host has lost an address; the other ways may be there.
                Err(DialError::Option(error)) if ways.len() > 1 && !is_stopped() => {
                    last.get_or_insert(DialError::Option(error));
                }
                connected => {
                    self.first_way.set(first + step + 1);
                    return connected;
                }
            }
        }
        Err(last.unwrap_or(DialError::Unreachable {
            tried: Vec::new(),
            over_udp: None,
            timeout: dialer.timeout,
        }))
    }

    /// The session ended well: the next one begins on the same way.
    pub(super) fn stay(&self) {
        self.first_way.set(self.first_way.get().saturating_sub(1));
    }

    fn dialer(&self) -> Dialer {
        Dialer {
            transport: self.spec.transport,
            ..Dialer::default()
        }
    }

    fn start(
        &mut self,
        opening: &Opening,
        stats: &mut CopyStats<'_>,
    ) -> Result<SshFarEnd, SessionEnd> {
        let (ports, back) = match &self.spec.connect {
            Connect::ToFar(ports) => (ports.clone(), None),
            Connect::FromFar(ports) => {
                if self.port.is_none() {
                    self.port = Some(Port::open(ports.clone())?);
                }
                (None, self.port.as_ref().map(|port| port.call_back))
            }
        };
        let starting = Starting {
            ports,
            back,
            oldest: match opening.newest_options().is_empty() {
                true => SPOKEN.oldest,
                false => COPYING_VERSION,
            },
            ..Starting::default()
        };
        let host = &self.spec.far.host;
        let gives_way = match host {
            FarHost::Ssh { program, .. } => program.gives_way_to_sftp(),
            FarHost::Server { .. } => false,
        };
        let started = start_far_end(host, starting, stats).map_err(|error| {
            let is_without = gives_way && error.is_without_program();
            self.without_program = is_without.then(|| error.to_string());
            not_started(&error)
        });
        started.map_err(|end| match end {
            // Where it once began, it begins again.
            SessionEnd::Problem(problem) if self.was_there => SessionEnd::Lost(problem.what),
            end => end,
        })
    }
}

/// The far end's own places, and behind them its addresses of all pairs. Those that packets leave
/// for in the same way are tried together.
fn ways(places: &[Address], pairs: &[AddressPair]) -> Vec<Vec<Address>> {
    let mut ways = vec![places.to_vec()];
    let Some(own) = places.first() else {
        return ways;
    };
    for pair in pairs {
        let via = Via {
            source: pair.source.clone(),
            ..own.via.clone()
        };
        let place = Address::new(pair.far.to_string(), own.port).leaving(via);
        let is_same = |way: &&mut Vec<Address>| way.iter().all(|one| one.via == place.via);
        match ways.iter_mut().find(is_same) {
            Some(way) => way.push(place),
            None => ways.push(vec![place]),
        }
    }
    ways
}

/// How a far end is started.
#[derive(Debug)]
pub(crate) struct Starting {
    /// Ports that it may listen on.
    pub ports: Option<RangeInclusive<u16>>,
    /// It connects to here instead.
    pub back: Option<CallBack>,
    /// The oldest version of the protocol that will do.
    pub oldest: u16,
    /// It may run programs.
    pub runs_programs: bool,
}

/// For a copy.
impl Default for Starting {
    fn default() -> Self {
        Starting {
            ports: None,
            back: None,
            oldest: SPOKEN.oldest,
            runs_programs: false,
        }
    }
}

/// What the far end's version does not know is refused before anything is written.
fn check_version(opening: &Opening, version: u16) -> Result<(), SessionEnd> {
    let asked = opening.newest_options();
    if asked.is_empty() || version >= COPYING_VERSION {
        return Ok(());
    }
    Err(SessionEnd::Problem(Problem {
        kind: ProblemKind::Request,
        file: None,
        what: format!(
            "the far end is older and does not know {asked}: it speaks version {version} of the \
                copy protocol, and version {COPYING_VERSION} is needed"
        ),
        hint: Some("install this version there, or leave the options out".to_owned()),
    }))
}

/// Starts the far end at a host that ssh reaches.
pub(crate) fn start_through_ssh(
    host: &FarHost,
    starting: Starting,
    stats: &mut CopyStats<'_>,
) -> Result<SshFarEnd, SessionEnd> {
    start_far_end(host, starting, stats).map_err(|error| not_started(&error))
}

fn start_far_end(
    host: &FarHost,
    starting: Starting,
    stats: &mut CopyStats<'_>,
) -> Result<SshFarEnd, SshError> {
    let FarHost::Ssh {
        client,
        destination,
        options,
        program,
        via,
    } = host
    else {
        return Err(SshError::Pipe(io::Error::other("no ssh")));
    };
    let secret = new_secret().map_err(SshError::Pipe)?;
    let ssh = Ssh {
        client: client.clone(),
        destination: destination.clone(),
        options: options.clone(),
        program: program.clone(),
        runs_programs: starting.runs_programs,
    };
    let request = StartRequest {
        oldest: starting.oldest,
        secret,
        ports: starting.ports,
        back: starting.back,
    };
    let control = stats.control();
    let is_stopped = &|| control.is_stopped();
    let on_sent = &mut |sent: SentProgram| {
        stats.tell(&CopyEvent::ProgramSent {
            at: stats.now(),
            host: sent.destination,
            file: sent.file,
            bytes: Bytes::new(sent.bytes),
        });
    };
    let started = match ssh.start(&request, is_stopped, on_sent) {
        // A far end that was killed just now looks so, too, and a busy sshd closes connections.
        Err(SshError::NotConnected { .. }) if !may_ask() && !is_stopped() => {
            thread::sleep(AGAIN_PAUSE);
            ssh.start(&request, is_stopped, on_sent)
        }
        started => started,
    };
    let mut started = started?;
    for place in &mut started.places {
        place.via = via.clone();
    }
    Ok(started)
}

/// Connects to the far end, and its streams at the same time. One with a known certificate is told
/// at once what is wanted.
///
/// * `is_stopped`: asked ten times a second.
pub(crate) fn dial(
    dialer: Dialer,
    places: &[Address],
    token: &Token,
    pin: Option<Fingerprint>,
    opening: &Opening,
    is_stopped: &dyn Fn() -> bool,
) -> Result<Connected, DialError> {
    let first = &Message::Open(Box::new(opening.clone()));
    let known = pin.map(|pin| KnownPeer { pin, first });
    let mut preconnected = Preconnected::default();
    let begin = &mut |endpoint: &StreamEndpoint| preconnected.begin(endpoint, opening);
    let dialed = dialer.control_and(places, token, known, begin, is_stopped)?;
    if dialer.transport == Transport::Udp {
        preconnected.wait_for_first(is_stopped)?;
    }
    let incoming = None;
    Ok(Connected {
        dialed,
        incoming,
        preconnected,
    })
}

impl Port {
    fn open(ports: Option<RangeInclusive<u16>>) -> Result<Self, SessionEnd> {
        let listener = Listener::bind(ports).map_err(|error| {
            SessionEnd::Problem(Problem {
                kind: ProblemKind::Request,
                file: None,
                what: error.to_string(),
                hint: error.hint(),
            })
        })?;
        let call_back = CallBack {
            port: listener.port(),
            fingerprint: listener.fingerprint().0,
        };
        let callbacks = listener.callbacks();
        let is_over = Arc::new(AtomicBool::new(false));
        let stop = Arc::clone(&is_over);
        let thread = thread::spawn(move || {
            let handler: Arc<dyn CopyHandler> = Arc::new(Unused);
            listener.run(AcceptLimits::default(), handler, &|| {
                stop.load(Ordering::Relaxed)
            });
        });
        Ok(Port {
            callbacks,
            call_back,
            is_over,
            thread: Some(thread),
        })
    }
}

impl Drop for Port {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // It does not panic; if it did, nothing would be left to do.
            let _ = thread.join();
        }
    }
}

/// Rejects all connections: the sessions of this end are opened from here.
struct Unused;

impl CopyHandler for Unused {
    fn find(&self, _name: &KeyName) -> Option<(Key, Rights)> {
        None
    }

    fn serve(&self, _visit: AcceptedSession) {}
}

pub(crate) fn bad_token(error: &<Token as std::str::FromStr>::Err) -> SessionEnd {
    SessionEnd::Problem(Problem {
        kind: ProblemKind::Request,
        file: None,
        what: error.to_string(),
        hint: Some("`trunkline serve --new-token` prints one".to_owned()),
    })
}

fn not_started(error: &SshError) -> SessionEnd {
    match error {
        SshError::Stopped => SessionEnd::Cancelled,
        passing if passing.may_pass() => SessionEnd::Lost(passing.to_string()),
        _ => SessionEnd::Problem(Problem {
            kind: ProblemKind::Request,
            file: None,
            what: error.to_string(),
            hint: error.hint(),
        }),
    }
}

/// Whom trying again does not help is told so.
pub(crate) fn why_not(error: &DialError) -> SessionEnd {
    let refused = |kind, hint: Option<String>| {
        SessionEnd::Problem(Problem {
            kind,
            file: None,
            what: error.to_string(),
            hint,
        })
    };
    match error {
        DialError::Handshake { source, .. } => match source {
            HandshakeError::NoPlace(no_place) => SessionEnd::NoPlace(no_place.clone()),
            HandshakeError::Refused(refusal) => {
                refused(ProblemKind::Permission, refusal.hint.clone())
            }
            _ => refused(ProblemKind::Permission, error.hint()),
        },
        DialError::Option(_) => refused(ProblemKind::Request, error.hint()),
        other => SessionEnd::Lost(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_packets_leave_for_alike_are_tried_together() {
        let own = Address::new("dtn.example.org", 5201);
        let pairs = ["10.0.1.2", "10.0.2.1=10.0.2.2", "10.0.3.2"];
        let pairs = pairs.map(|text| text.parse::<AddressPair>().unwrap());
        let shown =
            |way: &Vec<Address>| -> Vec<String> { way.iter().map(ToString::to_string).collect() };
        let ways: Vec<Vec<String>> = ways(&[own], &pairs).iter().map(shown).collect();
        let together = vec!["dtn.example.org:5201", "10.0.1.2:5201", "10.0.3.2:5201"];
        assert_eq!(ways, [together, vec!["10.0.2.2:5201"]]);
    }
}
