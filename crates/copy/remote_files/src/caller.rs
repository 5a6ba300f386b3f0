//! One call, while it waits.

use std::sync::Arc;
use std::time::Instant;

use units::Span;

use crate::RemoteError;
use crate::pool::Pool;
use crate::slot::{Signal, Slot, Stage, TICK};

/// One call, while it waits.
pub(crate) struct Caller<'a> {
    pub pool: &'a Pool,
    pub is_stopped: &'a dyn Fn() -> bool,
    /// When an answer came last, or the call began.
    pub progress: Instant,
    pub why: Option<String>,
}

impl Caller<'_> {
    /// Sees that there is a session.
    pub fn connect(&mut self) -> Result<(), RemoteError> {
        if self.pool.is_up() {
            return Ok(());
        }
        let patience = self.pool.options.patience;
        let left = patience - Span::from(self.progress.elapsed());
        match self.pool.connect(left, self.is_stopped) {
            Ok(_) => Ok(()),
            Err(RemoteError::Unreachable { what, may_pass, .. }) if may_pass => {
                Err(RemoteError::Lost { what, patience })
            }
            Err(error) => Err(error),
        }
    }

    /// Whether the call is to go on.
    pub fn go_on(&self) -> Result<(), RemoteError> {
        if (self.is_stopped)() {
            return Err(RemoteError::Cancelled);
        }
        self.pool.break_stalled();
        let patience = self.pool.options.patience;
        match Span::from(self.progress.elapsed()) >= patience {
            true => Err(RemoteError::Lost {
                what: self
                    .why
                    .clone()
                    .unwrap_or_else(|| "the far end says nothing".to_owned()),
                patience,
            }),
            false => Ok(()),
        }
    }

    /// An answer came.
    pub fn on_heard(&mut self, when: Option<Instant>) {
        if let Some(when) = when {
            self.progress = self.progress.max(when);
        }
    }

    /// The connection was lost.
    pub fn on_lost(&mut self, why: String) -> Result<(), RemoteError> {
        self.why = Some(why);
        self.go_on()
    }

    /// Sends a request as soon as a connection takes it.
    pub fn ask(&mut self, slot: &Arc<Slot>, is_alone: bool) -> Result<(), RemoteError> {
        loop {
            self.connect()?;
            let is_asked = match is_alone {
                true => self.pool.ask_alone(slot),
                false => self.pool.ask(slot),
            };
            if is_asked {
                return Ok(());
            }
            self.go_on()?;
            self.pool.wait();
        }
    }

    /// Waits for the end of a request; the inner error says why its connection was lost.
    pub fn wait(
        &mut self,
        slot: &Arc<Slot>,
        signal: &Signal,
    ) -> Result<Result<(), String>, RemoteError> {
        let mut seen = 0;
        loop {
            match slot.stage() {
                Stage::Done => return Ok(Ok(())),
                Stage::Failed(error) => return Err(error),
                Stage::Lost(why) => return Ok(Err(why)),
                Stage::Waiting => {}
            }
            seen = signal.wait(seen, TICK);
            self.on_heard(slot.heard());
            if let Err(error) = self.go_on() {
                slot.abandon();
                return Err(error);
            }
        }
    }
}
