//! Where the model was found within 5 % of packet simulations, and where it was not.
//!
//! The bounds come from cells drawn at random; docs/guide/predicting.md has how many hold.

use netpath::QueueSpec;

use super::Fluid;

/// Room on path and queue for each flow, in segments: beyond, windows take minutes to settle.
const SHARE_MAX: f64 = 400.0;
/// With less, most flows wait for timers that double, and a run sees few of them.
const SHARE_MIN: f64 = 0.05;
/// For mean queues: with more, few flows swing together.
const SHARE_QUEUE: f64 = 200.0;
/// For what each of several classes gets.
const SHARE_CLASSES: f64 = 1.5;
/// Shortest queues, in packets and in round trips of the path, for the mean queue.
const ROOM_QUEUE: f64 = 100.0;
const DEPTH_QUEUE: f64 = 0.25;
/// With a queue so short, a round trip holds however much of it is the queue's.
const DEPTH_RTT: f64 = 0.2;
/// Part of the lost packets that the queue dropped, from which on classes do not share alike.
const QUEUE_PART: f64 = 0.1;

/// What decides where the model holds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cell {
    pub queue: QueueSpec,
    /// Segments that path and queue hold, for each flow.
    pub share: f64,
    /// Packets that the queue holds, and those that the path holds.
    pub room: f64,
    pub pipe: f64,
    pub classes: usize,
    /// Part of the lost packets that the queue dropped.
    pub queue_part: f64,
    /// Every window is limited below its share, and nothing is dropped.
    pub idle: bool,
}

impl Fluid {
    /// Takes out the figures of which nothing is known to hold, and says why.
    pub(super) fn bounded(mut self, cell: &Cell) -> Self {
        for (figures, reason) in outside(cell) {
            for figure in figures {
                self.forget(*figure);
            }
            self.outside.push(reason);
        }
        self
    }

    fn forget(&mut self, figure: Figure) {
        match figure {
            Figure::Goodput => self.goodput = None,
            Figure::Classes => self
                .classes
                .iter_mut()
                .for_each(|class| class.goodput = None),
            Figure::Loss => {
                self.loss = None;
                self.classes.iter_mut().for_each(|class| class.loss = None);
            }
            Figure::Queue => (self.queue_packets, self.wait) = (None, None),
            Figure::Delay => self.classes.iter_mut().for_each(|class| class.rtt = None),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Figure {
    Goodput,
    Classes,
    Loss,
    Queue,
    Delay,
}

/// Why no figure at all is known to hold.
fn nothing_holds(cell: &Cell) -> Option<String> {
    let share = cell.share;
    if share > SHARE_MAX && !cell.idle {
        return Some(format!(
            "no figure: path and queue hold {share:.0} segments for each flow, and beyond \
                {SHARE_MAX:.0} windows take minutes to settle"
        ));
    }
    (share < SHARE_MIN).then(|| {
        format!(
            "no figure: path and queue hold {share:.3} segments for each flow, and below \
                {SHARE_MIN} most flows wait for timers"
        )
    })
}

fn outside(cell: &Cell) -> Vec<(&'static [Figure], String)> {
    use Figure::{Classes, Delay, Goodput, Loss, Queue};
    if let Some(reason) = nothing_holds(cell) {
        return vec![(&[Goodput, Classes, Loss, Queue, Delay], reason)];
    }
    let share = cell.share;
    let tail = matches!(cell.queue, QueueSpec::DropTail(_));
    let codel = matches!(cell.queue, QueueSpec::CoDel(_));
    let depth = cell.room / cell.pipe;
    let dropped = cell.queue_part > QUEUE_PART;
    let mut found: Vec<(&'static [Figure], String)> = Vec::new();
    let mut say = |figures, reason: String| found.push((figures, reason));
    if cell.classes > 1 && tail && dropped {
        let reason = "no goodput of each class, no queue: a full drop-tail queue does not share \
            its losses among classes by their rates, as the model does";
        say(&[Classes, Queue, Delay], reason.to_owned());
    }
    if dropped {
        let reason = "no loss: what a queue drops depends on bursts within a round trip, which the \
            model does not have";
        say(&[Loss], reason.to_owned());
    }
    if cell.classes > 1 && dropped && share < SHARE_CLASSES {
        let reason = format!(
            "no goodput of each class: {share:.2} segments for each flow, and below \
                {SHARE_CLASSES} timers decide which class gets what"
        );
        say(&[Classes], reason);
    }
    if !tail && dropped {
        let reason = "no queue: that of RED and of CoDel depends on bursts within a round trip, \
            which the model does not have";
        say(&[Queue], reason.to_owned());
        if codel {
            let reason = "no round trip, no goodput of each class: both follow the queue of CoDel";
            say(&[Delay, Classes], reason.to_owned());
        }
    } else if !cell.idle && (cell.room < ROOM_QUEUE || depth < DEPTH_QUEUE || share > SHARE_QUEUE) {
        let reason = format!(
            "no queue: {:.0} packets, {depth:.2} of what the path holds, and {share:.1} segments \
                for each flow; the model's mean queue holds from {ROOM_QUEUE:.0} packets and \
                {DEPTH_QUEUE} on, up to {SHARE_QUEUE:.0} segments",
            cell.room
        );
        say(&[Queue], reason);
        if depth > DEPTH_RTT {
            say(
                &[Delay],
                "no round trip, for it is mostly that of the queue".to_owned(),
            );
        }
    }
    found
}
