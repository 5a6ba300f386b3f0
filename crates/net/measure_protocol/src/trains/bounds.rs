//! What may be asked for.

use thiserror::Error;
use units::{Bytes, Rate, Span};

use super::TrainPlan;

/// Bounds on the trains of one session, whichever end sends them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Packets of one train.
    pub packets_max: usize,
    /// Size of a packet at the IP layer.
    pub packet_max: Bytes,
    /// Time from the first packet of a train to the last.
    pub length_max: Span,
    /// Mean rate of a session over all its trains; a second of it may be sent at once.
    pub rate_max: Rate,
}

impl Default for Bounds {
    /// Trains in use have 2 to a few hundred packets and last less than a second. Trains know no
    /// congestion, so their mean rate is bounded: 1 Gbit/s is a tenth of a path of 10 Gbit/s.
    fn default() -> Self {
        Bounds {
            packets_max: 4_096,
            packet_max: Bytes::new(65_535),
            length_max: Span::from_secs(30),
            rate_max: Rate::from_bits_per_second(1_000_000_000),
        }
    }
}

/// A train that will not be sent.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum OutOfBounds {
    /// None, or too many.
    #[error("a train of {asked} packets was asked for; 1 to {bound} are possible")]
    Packets {
        /// What was asked for.
        asked: usize,
        /// The bound.
        bound: usize,
    },
    /// Too small for what they have to carry, or too large.
    #[error(
        "packets of {} bytes were asked for; {} to {} are possible",
        .asked.get(), .least.get(), .most.get()
    )]
    Size {
        /// What was asked for.
        asked: Bytes,
        /// What they have to carry, with the headers.
        least: Bytes,
        /// The bound.
        most: Bytes,
    },
    /// Too long.
    #[error("a train of {asked} was asked for; at most {bound} are possible")]
    Length {
        /// What was asked for.
        asked: Span,
        /// The bound.
        bound: Span,
    },
    /// A packet is to leave before the one ahead of it.
    #[error("packet {number} of the train is to leave before the one ahead of it")]
    Order {
        /// Which, from 0.
        number: usize,
    },
    /// More at once than the mean rate has within a second.
    #[error("a train of {asked} was asked for; at {rate} at most {bound} are possible at once")]
    Bytes {
        /// What was asked for.
        asked: Bytes,
        /// A second of the rate.
        bound: Bytes,
        /// The mean rate of a session.
        rate: Rate,
    },
}

impl Bounds {
    /// Checks a train; `least` is the size of a packet that carries nothing but what every one has
    /// to.
    ///
    /// # Errors
    /// When it exceeds a bound or cannot be sent at all.
    pub fn check(&self, plan: &TrainPlan, least: Bytes) -> Result<(), OutOfBounds> {
        self.check_packets(plan)?;
        if plan.packet < least || plan.packet > self.packet_max {
            return Err(OutOfBounds::Size {
                asked: plan.packet,
                least,
                most: self.packet_max,
            });
        }
        if plan.length() > self.length_max {
            return Err(OutOfBounds::Length {
                asked: plan.length(),
                bound: self.length_max,
            });
        }
        let (asked, bound) = (plan.bytes(), self.at_once());
        if asked > bound {
            let rate = self.rate_max;
            return Err(OutOfBounds::Bytes { asked, bound, rate });
        }
        Ok(())
    }

    /// What may be sent at once after a pause.
    pub(super) fn at_once(&self) -> Bytes {
        self.rate_max.bytes_in(Span::from_secs(1))
    }

    fn check_packets(&self, plan: &TrainPlan) -> Result<(), OutOfBounds> {
        let (asked, bound) = (plan.packets(), self.packets_max);
        if asked == 0 || asked > bound {
            return Err(OutOfBounds::Packets { asked, bound });
        }
        let ahead = plan.departures.iter().zip(plan.departures.iter().skip(1));
        match ahead.zip(1..).find(|((ahead, own), _)| own < ahead) {
            Some((_, number)) => Err(OutOfBounds::Order { number }),
            None => Ok(()),
        }
    }
}
