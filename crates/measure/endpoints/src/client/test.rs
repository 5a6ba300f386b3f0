//! One test whose streams run: what joins a run, and what leaves it.

use measure_protocol::{ClientAction, Results};
use observe::RunObserver;

use super::ClientError;
use super::conversation::Conversation;
use super::flow::Flow;

/// A conversation with the streams that belong to it. A run has one, and one more for each time
/// that streams joined it; each could leave by itself.
#[derive(Debug)]
pub(super) struct Test {
    // Dropped first: the server hears that we give up before the streams close.
    pub conversation: Conversation,
    pub flow: Flow,
}

impl Test {
    /// Lets the server count anew from here on; what it has counted so far is of no interest.
    pub(super) fn begin_anew(&mut self, bound: usize) -> Result<(), ClientError> {
        self.flow.begin_anew(bound);
        self.conversation.ask_report()
    }

    /// Takes what the server has said while data flows; a report that still comes in is one that
    /// was asked for to let it count anew.
    pub(super) fn hear(&mut self) -> Result<(), ClientError> {
        self.conversation.hear()?;
        while self.conversation.next_action()?.is_some() {}
        Ok(())
    }

    /// Asks for what the server has counted.
    pub(super) fn ask_report(&mut self, watch: &dyn RunObserver) -> Result<(), ClientError> {
        while !self.conversation.is_running() {
            self.conversation.await_action(watch)?;
        }
        self.conversation.ask_report()
    }

    /// Waits for the report that was asked for.
    pub(super) fn report(&mut self, watch: &dyn RunObserver) -> Result<Results, ClientError> {
        loop {
            if let ClientAction::Reported(results) = self.conversation.await_action(watch)? {
                return Ok(*results);
            }
        }
    }

    /// Ends the test, unless it waits for a report: that is taken first.
    pub(super) fn end(&mut self, watch: &dyn RunObserver) -> Result<(), ClientError> {
        while !self.conversation.is_running() {
            self.conversation.await_action(watch)?;
        }
        self.conversation.end_test()
    }
}
