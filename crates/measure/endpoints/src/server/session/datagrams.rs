//! Where a session tests datagrams.

use measure_protocol::ErrorCode;
use units::Span;

use super::Session;
use crate::server::Shared;
use crate::server::datagrams::{DatagramTest, GREETING_MAX, host};
use crate::server::enforce;
use crate::server::event::SessionError;

/// How soon a test of datagrams asks again whether it is its turn.
pub(super) const TURN_TICK: Span = Span::from_millis(5);
/// Longest time to wait for it: as long as one that does not begin may take.
const TURN_MAX: Span = Span::from_secs(30);

impl<'a> Session<'a> {
    /// Begins a test of datagrams when no other one of its host is just beginning.
    pub(super) fn take_turn(&mut self) -> Result<(), SessionError> {
        let Some((request, since)) = self.waiting.take() else {
            return Ok(());
        };
        let shared: &'a Shared<'a> = self.shared;
        let streams = request.server_streams().total();
        match shared.greeters.turn(host(self.peer), streams)? {
            Some(turn) => {
                self.datagrams = Some(DatagramTest::begin(shared, &request, turn));
                self.decide(request)
            }
            None if self.clock.now().since(since) > TURN_MAX => {
                self.machine.refuse(ErrorCode::STREAM_ACCEPT);
                Err(SessionError::NoTurn(TURN_MAX))
            }
            None => {
                self.waiting = Some((request, since));
                Ok(())
            }
        }
    }

    /// Opens the streams of a test of datagrams whose greetings have come.
    pub(super) fn take_greetings(&mut self) -> Result<(), SessionError> {
        let Some(test) = &mut self.datagrams else {
            return Ok(());
        };
        for _ in 0..test.opened(self.control.local_address()?)? {
            self.machine.on_stream(self.clock.now());
        }
        match test.is_overdue() {
            true => {
                self.machine.refuse(ErrorCode::STREAM_ACCEPT);
                Err(SessionError::NoGreeting(GREETING_MAX))
            }
            false => Ok(()),
        }
    }

    /// Ends a test that is too long or too fast, and one whose client has fallen silent.
    pub(super) fn check_datagrams(&mut self) -> Result<(), SessionError> {
        let Some(standing) = self.datagrams.as_mut().and_then(DatagramTest::standing) else {
            return Ok(());
        };
        let limits = &self.shared.limits;
        enforce::check_amount(limits, standing.took, standing.received)
            .inspect_err(|_| self.machine.refuse(ErrorCode::OVERDUE))?;
        match standing.silent.is_some_and(|silent| silent >= limits.idle) {
            true => {
                self.machine.refuse(ErrorCode::NO_DATA);
                Err(SessionError::NoData(limits.idle))
            }
            false => Ok(()),
        }
    }
}
