//! One conversation with a server over its control connection.

use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use measure_protocol::{
    Answer, ClientAction, ClientControl, ClientControlError, Cookie, Results, TestRequest,
};
use observe::RunObserver;
use units::{Address, Span};

use super::ClientError;
use crate::control_connection::{ControlConnection, Heard};
use sockets::Clock;
use sockets::poll::{readable, wait};

/// How soon a cancellation is noticed.
pub(super) const TICK: Span = Span::from_millis(100);
/// Longest time for the server to take what is sent to it.
const SEND_LIMIT: Duration = Duration::from_secs(30);
/// Longest time to tell a server that we give up.
const GOODBYE_LIMIT: Duration = Duration::from_secs(1);

/// The state machine with the socket and the clock that it needs. Dropping it tells the server that
/// we give up, unless the test is over or the server was the one who did.
#[derive(Debug)]
pub(super) struct Conversation {
    address: Address,
    clock: Clock,
    control: ControlConnection,
    machine: ClientControl,
}

impl Conversation {
    /// Begins it on a connection that was just made.
    pub(super) fn begin(
        address: Address,
        control: ControlConnection,
        cookie: Cookie,
        request: TestRequest,
    ) -> Self {
        let clock = Clock::start();
        tracing::debug!(%address, ?request, "a test is proposed");
        Conversation {
            address,
            clock,
            control,
            machine: ClientControl::new(cookie, request, clock.now()),
        }
    }

    /// The server.
    pub(super) fn address(&self) -> &Address {
        &self.address
    }

    /// The server's answer to our offer, when it is one of ours.
    pub(super) fn answer(&self) -> Option<Answer> {
        self.machine.answer()
    }

    /// The connection, for those who go on with it in another language once this conversation is
    /// over.
    pub(super) fn connection(&self) -> std::io::Result<ControlConnection> {
        self.control.duplicate()
    }

    /// Whether the test goes on until it is ended here.
    pub(super) fn is_lasting(&self) -> bool {
        self.machine.is_lasting()
    }

    /// Whether no report is on its way.
    pub(super) fn is_running(&self) -> bool {
        self.machine.is_running()
    }

    /// How long until the server is too late with what it owes us.
    pub(super) fn until_deadline(&self) -> Option<Span> {
        let deadline = self.machine.deadline()?;
        Some(deadline.since(self.clock.now()))
    }

    /// Sends what there is to send; the next action that is left to the caller.
    pub(super) fn next_action(&mut self) -> Result<Option<ClientAction>, ClientError> {
        while let Some(action) = self.machine.next_action() {
            match action {
                ClientAction::Send(bytes) => self.send(&bytes)?,
                ClientAction::Recognised(_) => {}
                action => return Ok(Some(action)),
            }
        }
        Ok(None)
    }

    /// Waits for the next action that is left to the caller.
    pub(super) fn await_action(
        &mut self,
        watch: &dyn RunObserver,
    ) -> Result<ClientAction, ClientError> {
        loop {
            if let Some(action) = self.next_action()? {
                tracing::trace!(?action, "the server answers");
                return Ok(action);
            }
            check_cancelled(watch)?;
            let limit = self.until_deadline().map_or(TICK, |left| left.min(TICK));
            wait(&mut [readable(self.as_fd())], limit.into())?;
            self.hear()?;
        }
    }

    /// Takes what the server has said, and notices when it is too late.
    pub(super) fn hear(&mut self) -> Result<(), ClientError> {
        self.read()?;
        match self.until_deadline() {
            Some(Span::ZERO) => {
                let outcome = self.machine.on_deadline();
                self.explain(outcome)
            }
            _ => Ok(()),
        }
    }

    /// What the server said, when a stream failed because it gave up.
    pub(super) fn ask_why(&mut self, error: ClientError) -> ClientError {
        self.read().err().unwrap_or(error)
    }

    /// All streams are connected.
    pub(super) fn on_streams_open(&mut self) {
        self.machine.on_streams_open(self.clock.now());
    }

    /// Asks for a report, from which on the server counts anew.
    pub(super) fn ask_report(&mut self) -> Result<(), ClientError> {
        self.machine.ask_report(self.clock.now());
        self.flush()
    }

    /// The test has run long enough.
    pub(super) fn end_test(&mut self) -> Result<(), ClientError> {
        self.machine.end_test(self.clock.now());
        self.flush()
    }

    /// Exchanges the results of a test that was ended.
    pub(super) fn exchange(
        &mut self,
        ours: &Results,
        watch: &dyn RunObserver,
    ) -> Result<Results, ClientError> {
        self.exchange_with(watch, &mut || ours.clone())
    }

    /// The same with results that are made when the server asks for them.
    pub(super) fn exchange_with(
        &mut self,
        watch: &dyn RunObserver,
        ours: &mut dyn FnMut() -> Results,
    ) -> Result<Results, ClientError> {
        loop {
            match self.await_action(watch)? {
                ClientAction::GiveResults => {
                    let outcome = self.machine.give_results(self.clock.now(), &ours());
                    self.explain(outcome)?;
                }
                ClientAction::Finished(theirs) => return Ok(*theirs),
                _ => {}
            }
        }
    }

    /// Nothing is left to the caller when something was just asked of the server.
    fn flush(&mut self) -> Result<(), ClientError> {
        self.next_action().map(drop)
    }

    /// A server that closes while we send may have said why: that is read before it is judged.
    fn send(&mut self, bytes: &[u8]) -> Result<(), ClientError> {
        if self.control.send(bytes, SEND_LIMIT).is_ok() {
            return Ok(());
        }
        self.read()?;
        let outcome = self.machine.on_closed();
        self.explain(outcome)
    }

    fn read(&mut self) -> Result<(), ClientError> {
        let mut buffer = [0; 64 << 10];
        let outcome = match self.control.read(&mut buffer) {
            Heard::Nothing => Ok(()),
            Heard::Closed => self.machine.on_closed(),
            Heard::Bytes(got) => {
                let bytes = buffer.get(..got).unwrap_or_default();
                self.machine.on_bytes(self.clock.now(), bytes)
            }
        };
        self.explain(outcome)
    }

    fn explain(&self, outcome: Result<(), ClientControlError>) -> Result<(), ClientError> {
        outcome.map_err(|source| ClientError::Control {
            address: self.address.clone(),
            source,
        })
    }
}

impl AsFd for Conversation {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.control.as_fd()
    }
}

impl Drop for Conversation {
    fn drop(&mut self) {
        self.machine.cancel();
        while let Some(action) = self.machine.next_action() {
            if let ClientAction::Send(bytes) = action {
                // The server notices the closed connection anyway.
                let _ = self.control.send(&bytes, GOODBYE_LIMIT);
            }
        }
    }
}

/// An error when the user has had enough.
pub(super) fn check_cancelled(watch: &dyn RunObserver) -> Result<(), ClientError> {
    match watch.is_cancelled() {
        true => Err(ClientError::Cancelled),
        false => Ok(()),
    }
}
