//! The optimisers of the literature, and what tools do by default: what a search has to be better
//! than.
//!
//! | strategy | what it does | where it is from |
//! |---|---|---|
//! | [`Fixed`] | one setting, whatever the path | tools: 1 stream (globus-url-copy), 4 (FDT, bbcp, rclone), 8 (WDT); 16 as the next power of two |
//! | [`StreamsThenBuffer`] | streams on the default buffer by a fitted model, then the buffer | Yildirim, Yin, Kosar, "Balancing TCP buffer vs parallel streams in application level throughput optimization", DADC 2009, first approach |
//! | [`BufferThenStreams`] | the buffer on one stream, then streams by a fitted model | the same, second approach |
//! | [`Falcon`] | online gradient descent on throughput less a charge for streams and loss | Arifuzzaman, Arslan, "Online optimization of file transfers in high-speed networks", SC 2021; Arifuzzaman, Bockelman, Basney, Arslan, IEEE TPDS 34 (2023) |
//! | [`DoublingBisection`] | doubles the streams while that pays, then bisects | what many people do by hand; no one source |
//! | [`Exhaustive`] | a grid of streams and windows, in long samples | |
//!
//! The models, and the sampling and selection around them (ExpSelection, BestCmb), are from
//! Yildirim, Yin, Kosar, "Prediction of optimal parallelism level in wide area data transfers",
//! IEEE TPDS 22 (2011).
//!
//! What all of them leave out, and what that costs:
//! - They seek the highest throughput (Falcon its utility) whatever [`tune::TunePlan::objective`] says,
//!   and vary what their papers vary whatever [`tune::TunePlan::axes`] says. Under another objective they
//!   have to be compared for the throughput they reach and what they cost, not for what they did not seek.
//! - They move no data of a user while they search, as Falcon's transfers do; every sample starts anew and
//!   pays its slow start. Samples are as long as those of trunkline's own search
//!   ([`tune::TunePlan::sample_plan`]), where the papers send a number of bytes; Falcon's are its 3 s.
//! - Nothing that was remembered is used.
//!
//! Each follows the stopping rule that was published for it, and besides keeps to
//! [`tune::TunePlan::budget`]: to its samples, and to its time and bytes where they are given. Where no
//! time is given there is no bound on time, for the papers know none. A sample is cut to what is left, and
//! not begun where that is too little to tell anything. [`Exhaustive`] is there to know the truth and knows
//! no budget; its plan should bound no bytes and have an objective other than gentle, as the driver ends
//! samples that exceed either.
//!
//! Reading order: `sampling.rs` for what all of them share; `fixed.rs`; `exp_selection.rs` and
//! `buffers.rs`, then `joint.rs` which puts the two together both ways; `falcon.rs`, `doubling.rs`,
//! `exhaustive.rs`.

mod buffers;
mod doubling;
mod exhaustive;
mod exp_selection;
mod falcon;
mod fixed;
mod joint;
mod sampling;

use doubling::DoublingBisection;
use exhaustive::Exhaustive;
use exp_selection::StreamModel;
use falcon::Falcon;
use fixed::Fixed;
use joint::{BufferThenStreams, StreamsThenBuffer};

use tune::{Choice, History, Request, Strategy};

/// One of the strategies of this module, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Baseline {
    /// [`Fixed`] with one stream.
    Default,
    /// [`Fixed`] with four streams.
    Fixed4,
    /// [`Fixed`] with eight streams.
    Fixed8,
    /// [`Fixed`] with sixteen streams.
    Fixed16,
    /// [`StreamsThenBuffer`] with this model.
    StreamsThenBuffer(StreamModel),
    /// [`BufferThenStreams`] with this model.
    BufferThenStreams(StreamModel),
    /// [`Falcon`].
    Falcon,
    /// [`DoublingBisection`].
    DoublingBisection,
    /// [`Exhaustive`].
    Exhaustive,
}

impl Baseline {
    /// All of them.
    pub const ALL: [Baseline; 11] = [
        Baseline::Default,
        Baseline::Fixed4,
        Baseline::Fixed8,
        Baseline::Fixed16,
        Baseline::StreamsThenBuffer(StreamModel::SecondOrder),
        Baseline::StreamsThenBuffer(StreamModel::Newton),
        Baseline::BufferThenStreams(StreamModel::SecondOrder),
        Baseline::BufferThenStreams(StreamModel::Newton),
        Baseline::Falcon,
        Baseline::DoublingBisection,
        Baseline::Exhaustive,
    ];

    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Baseline::Default => "default",
            Baseline::Fixed4 => "fixed-4",
            Baseline::Fixed8 => "fixed-8",
            Baseline::Fixed16 => "fixed-16",
            Baseline::StreamsThenBuffer(StreamModel::SecondOrder) => "streams-then-buffer",
            Baseline::StreamsThenBuffer(StreamModel::Newton) => "streams-then-buffer-newton",
            Baseline::BufferThenStreams(StreamModel::SecondOrder) => "buffer-then-streams",
            Baseline::BufferThenStreams(StreamModel::Newton) => "buffer-then-streams-newton",
            Baseline::Falcon => "falcon",
            Baseline::DoublingBisection => "doubling-bisection",
            Baseline::Exhaustive => "exhaustive",
        }
    }

    /// The one with this name.
    pub fn named(name: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|baseline| baseline.name() == name)
    }

    fn with<T>(self, of: impl FnOnce(&dyn Strategy) -> T) -> T {
        match self {
            Baseline::Default => of(&Fixed::ONE),
            Baseline::Fixed4 => of(&Fixed::FOUR),
            Baseline::Fixed8 => of(&Fixed::EIGHT),
            Baseline::Fixed16 => of(&Fixed::SIXTEEN),
            Baseline::StreamsThenBuffer(model) => of(&StreamsThenBuffer { model }),
            Baseline::BufferThenStreams(model) => of(&BufferThenStreams { model }),
            Baseline::Falcon => of(&Falcon),
            Baseline::DoublingBisection => of(&DoublingBisection),
            Baseline::Exhaustive => of(&Exhaustive),
        }
    }
}

impl Strategy for Baseline {
    fn next(&self, history: &History) -> Option<Request> {
        self.with(|strategy| strategy.next(history))
    }

    fn choose(&self, history: &History) -> Option<Choice> {
        self.with(|strategy| strategy.choose(history))
    }
}

#[cfg(test)]
mod tests;
