//! Datagrams at a steady rate, as `iperf3 -u` sends them.

use units::{Bytes, Rate, Span, Way};

/// What is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DatagramPlan {
    /// Which end sends.
    pub way: Way,
    /// How fast, counting the data of datagrams alone.
    pub rate: Rate,
    /// For how long.
    pub duration: Span,
}

/// What became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Datagrams {
    /// Datagrams that were sent, as far as the receiver can tell: up to the last that arrived.
    pub sent: u32,
    /// Of those, how many did not arrive.
    pub lost: u32,
    /// How many arrived behind one that was sent later; zero where the receiver does not tell.
    pub reordered: u32,
    /// The data that arrived.
    pub arrived: Bytes,
    /// How long they were received.
    pub duration: Span,
    /// How much the delay varied from one to the next (RFC 3550, section 6.4.1).
    pub jitter: Span,
    /// Data that arrived in each tenth of a second; empty where the receiver does not tell.
    pub rates: Vec<Rate>,
}

impl Datagrams {
    /// The rate at which data arrived; zero of no time.
    pub fn goodput(&self) -> Rate {
        let seconds = self.duration.as_secs_f64();
        match seconds > 0.0 {
            true => Rate::from_f64(self.arrived.as_f64() * 8.0 / seconds),
            false => Rate::ZERO,
        }
    }
}
