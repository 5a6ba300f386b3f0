//! Tests that last: the server reports what it has counted while data flows.

use units::Time;

use super::phase::Phase;
use super::{ClientAction, ClientControl, Outcome};
use crate::{Results, State};

impl ClientControl {
    /// Whether the server goes along with a test that lasts until it is ended here.
    pub fn is_lasting(&self) -> bool {
        let offered = self.request.offer.is_some_and(|offer| offer.lasting);
        offered && self.answer.is_some_and(|answer| answer.lasting)
    }

    /// Whether [`Self::ask_report`] and [`Self::end_test`] are possible: the test runs, and no
    /// report is on its way.
    pub fn is_running(&self) -> bool {
        matches!(self.phase, Phase::Running)
    }

    /// Asks what the server has counted since it was last asked, or since the start; it counts anew
    /// from there. [`ClientAction::Reported`] brings the answer. Nothing is asked unless the test
    /// runs and lasts.
    pub fn ask_report(&mut self, now: Time) {
        if self.is_running() && self.is_lasting() {
            self.send_state(State::Report);
            self.enter(now, Phase::Asked);
        }
    }

    pub(super) fn on_report(&mut self, now: Time, json: &[u8]) -> Outcome {
        let results = Box::new(Results::from_json(json)?);
        self.act(now, Phase::Running, ClientAction::Reported(results));
        Ok(())
    }
}
