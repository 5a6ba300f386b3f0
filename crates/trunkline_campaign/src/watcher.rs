//! Beside a running copy: ends it when the campaign is paused or cancelled or its link becomes
//! quiet, and gives it its share of the link.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use campaign_plan::{Campaign as Plan, Link};
use campaign_store::{CampaignFolder, Mark, Slots};
use transfer::CopyControl;
use units::Rate;

use trunkline::Cancel;

/// How soon changes are noticed.
pub(super) const TICK: Duration = Duration::from_millis(200);
/// How long one more copy of a bounded link waits before it sends: until the others have noticed
/// it and send less. One that goes on in the slot of the shard before it is none more.
pub(super) const ENTRY: Duration = Duration::from_secs(1);

/// Why a shard may not go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Halt {
    Asked,
    Paused,
    Cancelled,
    /// Until when, in words.
    Quiet(String),
}

/// Until when a link is quiet, like `quiet until 2026-11-26 18:00 (+00:00)`; `None` where it is
/// not.
pub(super) fn quiet(link: &Link, plan: &Plan) -> Option<String> {
    let (now, offset) = (now(), plan.offset());
    if !link.is_quiet(now, offset) {
        return None;
    }
    let until = link.quiet_until(now, offset);
    let until = until.and_then(|at| jiff::Timestamp::from_second(at + offset.seconds()).ok());
    Some(match until {
        Some(at) => format!("quiet until {} ({offset})", at.strftime("%F %H:%M")),
        None => "quiet for a week and longer".to_owned(),
    })
}

pub(super) struct Watcher<'a> {
    pub folder: &'a CampaignFolder,
    pub plan: &'a Plan,
    pub link: &'a Link,
    pub slots: &'a Slots,
    pub cancel: &'a Cancel,
}

impl Watcher<'_> {
    /// Why nothing may be sent now, if so.
    pub fn halt(&self) -> Option<Halt> {
        if self.cancel.is_cancelled() {
            return Some(Halt::Asked);
        }
        if self.folder.has(Mark::Cancelled) {
            return Some(Halt::Cancelled);
        }
        if self.folder.has(Mark::Paused) {
            return Some(Halt::Paused);
        }
        quiet(self.link, self.plan).map(Halt::Quiet)
    }

    /// The share of this copy: equal parts of the link's bound for all that run now.
    pub fn share(&self) -> Option<Rate> {
        let rate = self.link.rate_at(now(), self.plan.offset())?;
        let copies = u64::from(self.slots.held().max(1));
        Some(Rate::from_bits_per_second(rate.bits_per_second() / copies))
    }

    /// Runs `copy` and watches it. Returns what it returns, and why it was ended, if it was.
    ///
    /// * `look`: called each time that it looks.
    pub fn beside<T>(
        &self,
        control: &CopyControl,
        mut look: impl FnMut() + Send,
        copy: impl FnOnce() -> T,
    ) -> (T, Option<Halt>) {
        let halted = Mutex::new(None);
        // Dropped when the copy ends, however it ends.
        let (over, is_over) = mpsc::channel::<()>();
        let value = thread::scope(|scope| {
            let halted = &halted;
            scope.spawn(move || {
                loop {
                    if let Some(halt) = self.halt() {
                        *halted.lock().unwrap_or_else(PoisonError::into_inner) = Some(halt);
                        control.stop();
                        return;
                    }
                    if self.link.rate.is_some() {
                        control.set_rate_max(self.share());
                    }
                    look();
                    if is_over.recv_timeout(TICK) != Err(RecvTimeoutError::Timeout) {
                        return;
                    }
                }
            });
            let value = copy();
            drop(over);
            value
        });
        (
            value,
            halted.into_inner().unwrap_or_else(PoisonError::into_inner),
        )
    }
}

/// Seconds since 1970.
pub(super) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs().cast_signed())
}
