//! Whether a session's client is one of the server's users.

use std::thread;

use measure_protocol::{AuthToken, ErrorCode};
use units::Span;

use super::{Session, TICK};
use crate::server::event::{ServerEvent, SessionError};

/// A refusal leaves so long after the parameters came, or a multiple of that, whatever was wrong:
/// its time tells nothing of the padding, the name or the password, and guessing takes long.
const REFUSED_AFTER: Span = Span::from_secs(1);

impl Session<'_> {
    /// Lets a user in, on a server that has some.
    pub(super) fn check_user(&mut self, token: Option<&AuthToken>) -> Result<(), SessionError> {
        let Some(accounts) = &self.shared.limits.accounts else {
            return Ok(());
        };
        let asked = self.clock.now();
        match accounts.admit(token) {
            Ok(user) => {
                self.shared.tell(ServerEvent::LoggedIn {
                    session: self.number,
                    peer: self.peer,
                    user,
                });
                Ok(())
            }
            Err(why) => {
                let took = self.clock.now().since(asked).as_nanos();
                let rounds = took / REFUSED_AFTER.as_nanos() + 1;
                let until = asked + REFUSED_AFTER.times(rounds);
                while self.clock.now() < until && !self.shared.is_stopped() {
                    thread::sleep(until.since(self.clock.now()).min(TICK).into());
                }
                self.machine.refuse(ErrorCode::AUTHENTICATION);
                Err(SessionError::Login(why))
            }
        }
    }
}
