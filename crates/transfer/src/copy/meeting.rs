//! Connects to the far end: a server, or a program started through ssh that listens or calls back.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use copy_net::{
    CopyHandler, DialError, Dialed, Dialer, DoorLimits, Fingerprint, Incoming, Known, Landing,
    Listener, Reach, Ssh, SshError, Started, Visit, new_secret,
};
use sockets::Address;
use wire::copying::{
    CallBack, HandshakeError, Key, KeyName, Message, Opening, Problem, ProblemKind,
};
use wire::copying::{Rights, StartRequest, Token};

use crate::early::Early;
use crate::session::End;
use crate::{Connect, CopySpec, FarHost};

/// Connects to the far end, repeatedly.
pub(super) struct Meeting<'a> {
    spec: &'a CopySpec,
    started: Option<Started>,
    port: Option<Port>,
    /// The next step after the last try at a server.
    hint: Option<String>,
}

/// A connection to the far end.
pub(super) struct Met {
    pub dialed: Dialed,
    /// Streams come here by themselves.
    pub incoming: Option<Incoming>,
    /// Connections for streams that are being made.
    pub early: Early,
}

/// A port here, for a far end that connects.
struct Port {
    landing: Landing,
    call_back: CallBack,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl<'a> Meeting<'a> {
    pub(super) fn new(spec: &'a CopySpec) -> Self {
        Meeting {
            spec,
            started: None,
            port: None,
            hint: None,
        }
    }

    /// What to do when a server cannot be reached.
    pub(super) fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// Whether a far end was started through ssh.
    pub(super) fn has_started(&self) -> bool {
        self.started.is_some()
    }

    /// Connects once.
    pub(super) fn meet(
        &mut self,
        opening: &Opening,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Met, End> {
        match &self.spec.far.host {
            FarHost::Server {
                address,
                credentials,
            } => {
                let token = credentials.0.parse().map_err(|error| bad_token(&error))?;
                let places = std::slice::from_ref(address);
                dial(places, &token, None, opening).map_err(|error| {
                    self.hint = error.hint();
                    why_not(&error)
                })
            }
            FarHost::Ssh { .. } => self.meet_through_ssh(opening, is_stopped),
        }
    }

    /// A started far end stays for a while without a connection; one that is gone is started again.
    fn meet_through_ssh(
        &mut self,
        opening: &Opening,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Met, End> {
        if let Some(started) = &self.started {
            if let Ok(met) = self.meet_started(started, opening) {
                return Ok(met);
            }
            self.started = None;
        }
        let started = self.start(is_stopped)?;
        let met = self.meet_started(&started, opening);
        self.started = Some(started);
        met.map_err(|error| why_not(&error))
    }

    fn meet_started(&self, started: &Started, opening: &Opening) -> Result<Met, DialError> {
        let Some(port) = &self.port else {
            let pin = started.answer.fingerprint.map(Fingerprint);
            return dial(&started.places, &started.token, pin, opening);
        };
        let dialed = port.landing.control(&Dialer::default(), &started.token)?;
        let key = dialed.admitted.session_key.clone();
        Ok(Met {
            incoming: Some(port.landing.expect(key)),
            early: Early::default(),
            dialed,
        })
    }

    fn start(&mut self, is_stopped: &dyn Fn() -> bool) -> Result<Started, End> {
        let FarHost::Ssh {
            client,
            destination,
            options,
            program,
        } = &self.spec.far.host
        else {
            return Err(End::Lost("no ssh".to_owned()));
        };
        let (ports, back) = match &self.spec.connect {
            Connect::ToFar(ports) => (ports.clone(), None),
            Connect::FromFar(ports) => {
                if self.port.is_none() {
                    self.port = Some(Port::open(ports.clone())?);
                }
                (None, self.port.as_ref().map(|port| port.call_back))
            }
        };
        let secret = new_secret().map_err(|error| End::Lost(error.to_string()))?;
        let ssh = Ssh {
            client: client.clone(),
            destination: destination.clone(),
            options: options.clone(),
            program: program.clone(),
        };
        let request = StartRequest {
            secret,
            ports,
            back,
        };
        ssh.start(&request, is_stopped)
            .map_err(|error| not_started(&error))
    }
}

/// Connects to the far end, and its streams beside that. One with a known certificate is told at
/// once what is wanted.
fn dial(
    places: &[Address],
    token: &Token,
    pin: Option<Fingerprint>,
    opening: &Opening,
) -> Result<Met, DialError> {
    let first = &Message::Open(Box::new(opening.clone()));
    let known = pin.map(|pin| Known { pin, first });
    let mut early = Early::default();
    let begin = &mut |reach: &Reach| early.begin(reach, opening);
    let dialed = Dialer::default().control_and(places, token, known, begin)?;
    let incoming = None;
    Ok(Met {
        dialed,
        incoming,
        early,
    })
}

impl Port {
    fn open(ports: Option<std::ops::RangeInclusive<u16>>) -> Result<Self, End> {
        let listener = Listener::bind(ports).map_err(|error| {
            End::Problem(Problem {
                kind: ProblemKind::Request,
                file: None,
                what: error.to_string(),
                hint: error.hint().map(str::to_owned),
            })
        })?;
        let call_back = CallBack {
            port: listener.port(),
            fingerprint: listener.fingerprint().0,
        };
        let landing = listener.landing();
        let is_over = Arc::new(AtomicBool::new(false));
        let stop = Arc::clone(&is_over);
        let thread = thread::spawn(move || {
            let handler = Arc::new(Nobody);
            listener.run(DoorLimits::default(), handler, &|| {
                stop.load(Ordering::Relaxed)
            });
        });
        Ok(Port {
            landing,
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
struct Nobody;

impl CopyHandler for Nobody {
    fn find(&self, _name: &KeyName) -> Option<(Key, Rights)> {
        None
    }

    fn serve(&self, _visit: Visit) {}
}

fn bad_token(error: &<Token as std::str::FromStr>::Err) -> End {
    End::Problem(Problem {
        kind: ProblemKind::Request,
        file: None,
        what: error.to_string(),
        hint: Some("`trunkline serve --new-token` prints one".to_owned()),
    })
}

fn not_started(error: &SshError) -> End {
    match error {
        SshError::Stopped => End::Cancelled,
        passing if passing.may_pass() => End::Lost(passing.to_string()),
        _ => End::Problem(Problem {
            kind: ProblemKind::Request,
            file: None,
            what: error.to_string(),
            hint: error.hint(),
        }),
    }
}

/// Whom trying again does not help is told so.
fn why_not(error: &DialError) -> End {
    let refused = |kind, hint: Option<String>| {
        End::Problem(Problem {
            kind,
            file: None,
            what: error.to_string(),
            hint,
        })
    };
    match error {
        DialError::Handshake { source, .. } => match source {
            HandshakeError::Refused(refusal) => {
                refused(ProblemKind::Permission, refusal.hint.clone())
            }
            _ => refused(ProblemKind::Permission, error.hint()),
        },
        DialError::Option(_) => refused(ProblemKind::Request, error.hint()),
        other => End::Lost(other.to_string()),
    }
}
