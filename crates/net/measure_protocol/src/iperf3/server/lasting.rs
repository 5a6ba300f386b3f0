//! Tests that last: what was counted is reported while data flows.

use units::{Span, Time};

use super::{Outcome, Phase, ServerControl};
use crate::{Results, State, encode_frame};

impl ServerControl {
    /// What was counted so far, asked for by [`super::ServerAction::Report`].
    ///
    /// # Errors
    /// As [`Self::on_bytes`], for what the client sent meanwhile.
    pub fn give_report(&mut self, now: Time, results: &Results) -> Outcome {
        if !matches!(self.phase, Phase::Asked) {
            return Ok(());
        }
        let mut bytes = vec![State::Report.byte()];
        bytes.extend(encode_frame(&results.to_json()));
        self.send(bytes);
        self.enter(now, Phase::Running);
        let early = self.inbox.empty();
        self.on_bytes(now, &early)
    }

    /// A lasting test may take at least its agreed time from one report to the next.
    pub(super) fn running_wait(&self) -> Span {
        let agreed = self.length.map(|length| length + self.waits.grace);
        match self.lasting {
            true => agreed.map_or(self.waits.endless, |agreed| agreed.max(self.waits.endless)),
            false => agreed.unwrap_or(self.waits.endless),
        }
    }
}
