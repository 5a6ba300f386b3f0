//! Where a session turns to trains in place of a test.

use measure_protocol::TestRequest;

use super::Session;
use crate::server::event::{ServerEvent, SessionError};
use crate::server::probing::Probing;

/// Whether the client asks for trains.
pub(super) fn is_wanted(request: &TestRequest) -> bool {
    request.offer.is_some_and(|offer| offer.probing > 0)
}

impl Session<'_> {
    /// Gives the control connection to trains, until the client leaves.
    pub(super) fn probe(&mut self, request: &TestRequest) -> Result<(), SessionError> {
        let (Some(answer), Some(token)) = (self.answer(request)?, &self.token) else {
            return Ok(());
        };
        let token = token.value;
        self.shared.tell(ServerEvent::Probing {
            session: self.number,
            peer: self.peer,
        });
        // Before the answer: openers may be quick.
        let door = self.shared.demux.wait(token, self.peer.ip())?;
        let early = self.machine.hand_over(&answer);
        self.send_the_rest();
        let probing = Probing::begin(self.shared, &mut self.control, self.peer, token, door)?;
        self.probed = Some(probing.run(&early)?);
        Ok(())
    }
}
