//! How fast a sender of datagrams may send, and how much may be on the way: congestion control
//! that knows the path's bandwidth and round trip in place of a window that halves with each loss.
//!
//! [`PathModel`] is told what is sent, acknowledged and lost, and answers with a rate and a window.
//! It follows BBR as published: version 1 (Cardwell, Cheng, Gunn, Yeganeh, Jacobson, "BBR:
//! Congestion-Based Congestion Control", ACM Queue 14(5), 2016) for the model, and version 2
//! (draft-cardwell-iccrg-bbr-congestion-control-02) for bounds by loss and for rare probes. One
//! thing differs: a loss is a signal only in a round that lost more than [`LOSS_MAX`], or more than
//! chance explains by what earlier rounds lost, because long paths lose packets that no queue
//! dropped. Where more than that is lost by chance, the bound grows once it shows. A mark (ECN) is
//! a signal by itself: only queues mark.
//!
//! Where others fill the queue, too, the window is that of CUBIC (RFC 9438): from a loss in a full
//! queue, a mark, or a queue that stands in a cruise on, until a probe empties the queue or the
//! path carries far more. Losses while the queue is short do not cut that window.
//!
//! Left out: the version 2 coupling of probes to a Reno flow's saw tooth on paths with less than a
//! few dozen packets, and its answer to the share of marks, which queues after RFC 3168 do not
//! mean.
//!
//! There is no clock here: each call brings the time. Reading order: `delivery` (samples of the
//! rate), `filters` (maxima and minima over a window), `chance_loss`, `overflow`, `cubic`,
//! `shared`, `path_model`.

mod chance_loss;
mod cubic;
mod delivery;
mod filters;
mod overflow;
mod path_model;
mod shared;

pub use chance_loss::LOSS_MAX;
pub use cubic::CubicWindow;
pub use delivery::{Delivery, Sample};
pub use path_model::PathModel;

#[cfg(test)]
mod tests;
