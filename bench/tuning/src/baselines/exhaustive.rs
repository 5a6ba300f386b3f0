//! Every cell of a grid, in long samples: the truth that the others are held against.
//!
//! Left out: stream counts and windows between powers of two, so the best may be a little above the
//! best cell.

use observe::{Amount, SamplePlan, StreamCount, Window};
use tune::{Choice, History, Purpose, Request, Strategy};
use units::{Bytes, Span};

use super::sampling::{self, doubled, granted_max};

/// How long each cell is observed: 75 round trips at 400 ms, and no stopping sooner.
const SAMPLE: Span = Span::from_secs(30);

/// The smallest window of the grid.
const WINDOW_MIN: Bytes = Bytes::from_kib(64);

/// A window of so many bandwidth-delay products holds the path, a queue of four of them, and the
/// share of a buffer that the kernel keeps for itself; a larger one is never full.
const PRODUCTS: u64 = 8;

/// 1, 2, 4, ... 128 streams, each with automatic windows and with 64 KiB to 64 MiB in powers of two
/// as far as the path and the hosts can tell them apart. Takes every cell for 30 s, whatever the
/// budget; the highest goodput is recommended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Exhaustive;

impl Strategy for Exhaustive {
    fn next(&self, history: &History) -> Option<Request> {
        let mut cells = cells(history).into_iter();
        let missing = |(streams, window): &(StreamCount, Window)| {
            let setting = history.setting(*streams, *window);
            history.of(&setting).is_none()
        };
        let (streams, window) = cells.find(missing)?;
        let purpose = match window {
            Window::Auto => Purpose::Streams,
            Window::Fixed(_) => Purpose::Window,
        };
        let why = "every cell of the grid".to_owned();
        let request = sampling::request(history, streams, window, purpose, why);
        Some(Request {
            plan: SamplePlan {
                amount: Amount::Time(SAMPLE),
                precision: None,
                ..request.plan
            },
            ..request
        })
    }

    fn choose(&self, history: &History) -> Option<Choice> {
        sampling::highest(history, |_| true, "the highest goodput of the whole grid")
    }
}

/// The grid as far as is known now. It only grows, as faster samples need larger windows.
fn cells(history: &History) -> Vec<(StreamCount, Window)> {
    let streams = std::iter::successors(Some(StreamCount::ONE), |last| doubled(history, *last));
    let largest = largest_window(history);
    let sizes = std::iter::successors(Some(WINDOW_MIN), |last| Some(last.times(2)));
    let fixed = sizes.take_while(|size| *size <= largest).map(Window::Fixed);
    let windows: Vec<Window> = std::iter::once(Window::Auto).chain(fixed).collect();
    let row = |n| windows.iter().map(move |window| (n, *window));
    streams.flat_map(row).collect()
}

/// The first size of the grid that makes no difference to any larger one: because it is never full,
/// or because the hosts grant no more.
fn largest_window(history: &History) -> Bytes {
    let granted = granted_max(history);
    let product = history.rate_best().zip(history.rtt_min());
    let product = product.map(|(rate, rtt)| rate.bytes_in(rtt));
    let product = product.filter(|product| *product > Bytes::ZERO);
    let full = product.map_or(granted, |product| product.times(PRODUCTS));
    let largest = granted.min(full).get().next_power_of_two();
    Bytes::new(largest).max(WINDOW_MIN)
}
