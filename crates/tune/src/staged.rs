//! The first strategy: streams, then windows where a buffer limits, then what is still in doubt.
//!
//! 1. **Streams** (`ladder.rs`): 1, 2, 4, 8, ... on automatic windows until twice the streams
//!    bring less than 5 %, as surely as the samples tell.
//! 2. **Window** (`windows.rs`): only where the kernel says that a buffer held the default stream
//!    back.
//! 3. **Fit** (`fit.rs`): windows too small to overflow the path's queue, where the streams' own
//!    growth does, or where its delay is what the objective minds.
//! 4. **Confirm** (`doubts.rs`): once more, longer, when chance could turn the choice around.
//! 5. **Explain** (`doubts.rs`): the default stream paced, when its losses could have two causes.
//!
//! Stages 2 to 5 are left out when the plan's time is used up. Stage 1 may go on beyond it while
//! streams bring much, for a ladder cut there would recommend far too little: at 165 ms a rung
//! takes up to 8 s with connecting, and the default 55 s hold seven. Twice the plan's time ends it
//! too. Each stage is a function of the history; the first that wants a sample gets it.
//!
//! Source of stage 1: ExpSelection in Yildirim, Yin and Kosar, "Prediction of optimal parallelism
//! level in wide area data transfers", IEEE TPDS 22 (2011).
//!
//! Left out: stream counts between powers of two, so a knee can be up to twice as many streams as
//! needed; and their models fitted to the samples. The knee is a share of the highest goodput that
//! was *seen*, not of what a fitted curve ([`models::Curve`]) says that yet more streams would
//! reach. That maximum was shown to be there, while a curve through three or four noisy rungs can
//! lie far above all of them and would then ask for more streams than any sample speaks for. The cost:
//! a ladder cut by time or by `streams_max` takes the best of its rungs for the maximum, and the
//! highest of several noisy samples is high partly by luck, so it can ask for more streams than
//! needed.

use crate::choose::choose;
use crate::history::History;
use crate::strategy::{Choice, Request, Strategy};
use crate::{doubts, fit, ladder, windows};

/// See the page of this module.
#[derive(Debug, Clone, Copy, Default)]
pub struct Staged;

impl Strategy for Staged {
    fn next(&self, history: &History) -> Option<Request> {
        let optional = [
            windows::larger,
            fit::fitting,
            doubts::confirm,
            doubts::explain,
        ];
        ladder::next_rung(history).or_else(|| {
            let stages = optional.iter().filter(|_| history.has_time());
            stages.into_iter().find_map(|stage| stage(history))
        })
    }

    fn choose(&self, history: &History) -> Option<Choice> {
        choose(history)
    }
}
