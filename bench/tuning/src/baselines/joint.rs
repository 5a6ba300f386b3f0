//! Streams and buffers one after the other, in either order.
//!
//! Left out: going back to the first axis once the second has changed what limits the path.
//!
//! Source: Yildirim, Yin and Kosar, "Balancing TCP buffer vs parallel streams in application level
//! throughput optimization", DADC 2009. On its 10 Gbit/s testbed the second order was better: 2
//! Gbit/s with 4 streams of 1 MB against 1.7 Gbit/s with 14 of 256 kB.

use observe::{Setting, StreamCount, Window};
use tune::{Choice, History, Purpose, Request, Strategy};

use super::buffers::{Buffers, buffers};
use super::exp_selection::{StreamModel, Streams, streams};
use super::sampling::{self, carried, default_window};

/// The first approach: ExpSelection on the default buffer, the model's number of streams, then
/// buffers of 256 KiB and twice that and so on with so many streams, while they gain 5 %. The best
/// of the last is recommended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamsThenBuffer {
    /// What predicts the number of streams.
    pub model: StreamModel,
}

/// The second approach: buffers of 256 KiB and twice that and so on with one stream, while they
/// gain 5 %; ExpSelection on the best of them (or on the default, where none is better), and the
/// model's number of streams, which is recommended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BufferThenStreams {
    /// What predicts the number of streams.
    pub model: StreamModel,
}

/// What one of the two says of a history.
enum Step {
    Sample(StreamCount, Window, Purpose, String),
    Found(Setting),
}

impl StreamsThenBuffer {
    fn step(self, history: &History) -> Step {
        let window = default_window(history);
        let n = match streams(history, window, self.model) {
            Streams::Sample(n, why) => return Step::Sample(n, window, Purpose::Streams, why),
            Streams::Found(n) => n,
        };
        match buffers(history, n) {
            Buffers::Sample(window) => step_of_buffer(n, window),
            Buffers::Found(window) => Step::Found(history.setting(n, window)),
        }
    }
}

impl BufferThenStreams {
    fn step(self, history: &History) -> Step {
        let (one, auto) = (StreamCount::ONE, default_window(history));
        if carried(history, one, auto).is_none() {
            let why = "one stream with the default buffer".to_owned();
            return Step::Sample(one, auto, Purpose::Streams, why);
        }
        let window = match buffers(history, one) {
            Buffers::Sample(window) => return step_of_buffer(one, window),
            Buffers::Found(window) => window,
        };
        match streams(history, window, self.model) {
            Streams::Sample(n, why) => Step::Sample(n, window, Purpose::Streams, why),
            Streams::Found(n) => Step::Found(history.setting(n, window)),
        }
    }
}

fn step_of_buffer(streams: StreamCount, window: Window) -> Step {
    let why = format!("a buffer of twice the size with {streams} streams");
    Step::Sample(streams, window, Purpose::Window, why)
}

fn next(history: &History, step: Step) -> Option<Request> {
    let Step::Sample(streams, window, purpose, why) = step else {
        return None;
    };
    let request = sampling::request(history, streams, window, purpose, why);
    sampling::within_budget(history, request)
}

/// What was found; the highest goodput where the search was cut short, or nothing arrived there.
fn choose(history: &History, step: Step) -> Option<Choice> {
    let found = match step {
        Step::Found(setting) => {
            let because = "the model's number of streams and the best buffer for it";
            sampling::highest(history, |sample| sample.setting == setting, because)
        }
        Step::Sample(..) => None,
    };
    let because = "the highest goodput before the search was cut short";
    found.or_else(|| sampling::highest(history, |_| true, because))
}

impl Strategy for StreamsThenBuffer {
    fn next(&self, history: &History) -> Option<Request> {
        next(history, self.step(history))
    }

    fn choose(&self, history: &History) -> Option<Choice> {
        choose(history, self.step(history))
    }
}

impl Strategy for BufferThenStreams {
    fn next(&self, history: &History) -> Option<Request> {
        next(history, self.step(history))
    }

    fn choose(&self, history: &History) -> Option<Choice> {
        choose(history, self.step(history))
    }
}
