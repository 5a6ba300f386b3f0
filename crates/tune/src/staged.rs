//! Our strategy: a few stages, each a function of what was seen so far; the first that wants a
//! sample gets it.
//!
//! 1. **Remembered** (`remembered.rs`): what an earlier search found on this path, right after the
//!    default.
//! 2. **Window** (`windows.rs`): a larger one, as soon as the kernel says that a buffer binds.
//! 3. **Controls** (`controls.rs`): bbr, where losses hold the default congestion control back.
//! 4. **Climb** (`climb.rs`): more streams, four times as many a rung, until they bring nothing.
//! 5. **UDP** (`over_udp.rs`): one stream, where losses hold TCP back and bbr does not help. Where
//!    it counts, nothing is left but to confirm it.
//! 6. **Explain** (`explain.rs`): a sample that tells causes of the default's limit apart. Before
//!    what follows, since at the end of the budget nothing would be left for it.
//! 7. **Doubted** (`confirm.rs`): a longer look at fewer streams that would do, if they last as
//!    they were seen.
//! 8. **Knee** (`knee.rs`): between two rungs, where fewer streams are worth having.
//! 9. **Fit** (`fit.rs`): windows that leave the path's queue alone.
//! 10. **Alternatives** (`alternatives.rs`): other congestion controls and pacing, where asked for.
//! 11. **Moving** (`moving.rs`): what only other programs let their user set, one axis after the
//!     other.
//! 12. **Confirm** (`confirm.rs`): a longer look at what is to be recommended.
//!
//! A setting that cannot be sampled twice, as where the far end accepts only so many streams, is
//! not asked for again: the next stages go on with what was seen.
//!
//! Every sample is cut to what the budget leaves ([`crate::Budget`]); where too little is left for
//! one, the stage is over. What is recommended was always sampled: models say where to look, and
//! what to distrust, but not what to use.

use observe::Setting;

use crate::choose::{choose, choose_where};
use crate::history::History;
use crate::strategy::{Choice, Request, Strategy};
use crate::{
    alternatives, climb, confirm, controls, explain, fit, knee, moving, over_udp, remembered,
    windows,
};

/// See the page of this module.
#[derive(Debug, Clone, Copy, Default)]
pub struct Staged;

impl Strategy for Staged {
    fn next(&self, history: &History) -> Option<Request> {
        if over_udp::counts(history) {
            return confirm::confirm(history);
        }
        let stages = [
            remembered::remembered,
            windows::larger,
            controls::unasked,
            climb::next_rung,
            over_udp::unasked,
            explain::explain,
            knee::above,
            confirm::doubted,
            knee::between,
            fit::fitting,
            alternatives::asked,
            moving::further,
            confirm::confirm,
        ];
        let mut requests = stages.into_iter().filter_map(|stage| stage(history));
        requests.find(|request| !history.has_failed(&request.setting))
    }

    fn grows(&self) -> bool {
        true
    }

    fn choose(&self, history: &History) -> Option<Choice> {
        choose(history)
    }

    fn choose_where(&self, history: &History, may: &dyn Fn(&Setting) -> bool) -> Option<Choice> {
        choose_where(history, may)
    }
}
