//! What the streams of all copies of one link carry, by the formula of [`models`].
//!
//! A link is a path with one stream of another user on it. The equilibrium of both is the model.
//! Where a host keeps the copies below it, their windows are cut to the rate that they have, and
//! the same formula says what the other stream makes of the rest.

use std::collections::BTreeMap;

use models::{Acks, Binds, Bottleneck, Conditions, Control, Equilibrium, Flows, Response, pftk};
use netpath::PathSpec;
use predict::{KNEE_SHARE, Question, predict};
use units::{Bytes, Rate, Span};

/// Losses from which timeouts count: the equilibrium has none.
const TIMEOUTS: f64 = 0.01;
/// Linux's least timeout above the round trip.
const TIMEOUT_MARGIN: Span = Span::from_millis(200);

/// Steps of a rate below the equilibrium.
const STEPS: f64 = 32.0;

/// One link.
#[derive(Debug, Clone)]
pub struct Pipe {
    bottleneck: Bottleneck,
    one: Flows,
    /// What the other stream carries alone.
    alone: Met,
    /// By the number of streams.
    free: Vec<Option<Met>>,
    /// By streams and steps of the rate.
    held: BTreeMap<(u32, u32), Met>,
}

/// What the streams of a link come to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Met {
    /// Payload of all copies, in bits per second.
    pub own: f64,
    /// Payload of the other stream, in bits per second.
    pub other: f64,
    /// Share of what is sent that is sent again.
    pub again: f64,
    /// Seconds of a round trip.
    pub rtt: f64,
    /// The link is full.
    pub is_full: bool,
}

impl Met {
    fn towards(self, other: Met, part: f64) -> Met {
        let mix = |one: f64, other: f64| one + (other - one) * part;
        Met {
            own: mix(self.own, other.own),
            other: mix(self.other, other.other),
            again: mix(self.again, other.again),
            rtt: mix(self.rtt, other.rtt),
            is_full: if part < 0.5 { self } else { other }.is_full,
        }
    }
}

impl Pipe {
    /// # Errors
    /// When no formula covers the path.
    pub fn new(path: &PathSpec) -> Result<Self, String> {
        let question = Question {
            path: path.clone(),
            congestion: None,
            window: None,
            streams: vec![1],
            knee: KNEE_SHARE,
        };
        let predicted = predict(question).map_err(|error| error.to_string())?;
        let response = match predicted.congestion.as_str() {
            "cubic" => Response::Cubic,
            "reno" => Response::Reno(Acks::Every),
            other => return Err(format!("campaigns go over cubic and reno, not {other}")),
        };
        let one = Flows {
            streams: 1,
            window: Some(predicted.window),
            control: Control::Loss(response),
            rtt_added: Span::ZERO,
        };
        let bottleneck = predicted.bottleneck;
        let alone = bottleneck
            .equilibrium(&one, &[])
            .ok_or("a path of no length")?;
        let alone = Met {
            own: 0.0,
            other: alone.throughput.as_f64(),
            again: 0.0,
            rtt: alone.rtt.as_secs_f64(),
            is_full: alone.binds == Binds::Link,
        };
        Ok(Pipe {
            bottleneck,
            one,
            alone,
            free: Vec::new(),
            held: BTreeMap::new(),
        })
    }

    /// Payload that the link carries, in bits per second.
    pub fn capacity(&self) -> f64 {
        self.bottleneck.capacity.as_f64()
    }

    /// Round trip of the empty path.
    pub fn rtt(&self) -> Span {
        self.bottleneck.rtt
    }

    pub fn segment(&self) -> Bytes {
        self.bottleneck.segment
    }

    /// The link without copies.
    pub fn alone(&self) -> Met {
        self.alone
    }

    /// So many streams; a broken number is between its neighbours.
    pub fn met(&mut self, streams: f64) -> Met {
        let (below, part) = (streams.floor(), streams - streams.floor());
        let low = self.whole(below as u32);
        match part > 0.0 {
            true => low.towards(self.whole(below as u32 + 1), part),
            false => low,
        }
    }

    /// Streams that hosts or bounds hold at `rate` bits per second, where that is less than they
    /// would carry.
    pub fn met_at(&mut self, streams: f64, rate: f64) -> Met {
        let free = self.met(streams);
        if rate >= free.own * 0.999 || streams <= 0.0 {
            return free;
        }
        let count = (streams.round() as u32).max(1);
        let step = ((STEPS * rate / free.own).ceil() as u32).max(1);
        let met = match self.held.get(&(count, step)) {
            Some(met) => *met,
            None => {
                let met = self.held_at(count, free.own * f64::from(step) / STEPS);
                self.held.insert((count, step), met);
                met
            }
        };
        Met { own: rate, ..met }
    }

    /// Streams that are busy of `streams`, where each byte costs its stream `idle` seconds without
    /// data besides: `busy (1 + idle r) = streams`, with `r` the rate of a busy stream in bytes.
    pub fn busy(&mut self, streams: f64, idle: f64) -> f64 {
        let needed = |pipe: &mut Pipe, busy: f64| busy + idle * pipe.met(busy).own / 8.0;
        if idle <= 0.0 || needed(self, streams) <= streams {
            return streams;
        }
        let (mut low, mut high) = (0.0, streams);
        for _ in 0..24 {
            let middle = (low + high) / 2.0;
            match needed(self, middle) <= streams {
                true => low = middle,
                false => high = middle,
            }
        }
        low
    }

    fn whole(&mut self, streams: u32) -> Met {
        if streams == 0 {
            return self.alone;
        }
        let at = streams as usize - 1;
        if self.free.len() <= at {
            self.free.resize(at + 1, None);
        }
        if let Some(met) = self.free[at] {
            return met;
        }
        let met = self.equilibrium(&Flows {
            streams,
            ..self.one
        });
        self.free[at] = Some(met);
        met
    }

    fn held_at(&self, streams: u32, rate: f64) -> Met {
        let each = Rate::from_f64(rate / f64::from(streams));
        let window = each.bytes_in(self.bottleneck.rtt).max(self.segment());
        self.equilibrium(&Flows {
            streams,
            window: self.one.window.map(|own| own.min(window)),
            ..self.one
        })
    }

    fn equilibrium(&self, own: &Flows) -> Met {
        let met = self.bottleneck.equilibrium(own, &[self.one]);
        met.map_or(self.alone, |met| Met {
            own: met.throughput.as_f64(),
            other: met.others.as_f64(),
            again: self.lost(&met, own.streams),
            rtt: met.rtt.as_secs_f64(),
            is_full: met.throughput.as_f64() + met.others.as_f64() > 0.97 * self.capacity(),
        })
    }
    /// Share of packets that are lost. Where windows are down to a few segments the equilibrium has
    /// too many; the loss at which PFTK's streams carry the same has their timeouts.
    fn lost(&self, met: &Equilibrium, streams: u32) -> f64 {
        let loss = met.loss.unwrap_or(0.0);
        if loss < TIMEOUTS {
            return loss;
        }
        let each = met.throughput.as_f64() / f64::from(streams);
        let carries = |loss: f64| {
            let at = Conditions {
                segment: self.segment(),
                rtt: met.rtt,
                loss,
            };
            let rate = pftk(&at, self.one.window, met.rtt + TIMEOUT_MARGIN, Acks::Every);
            rate.map_or(0.0, Rate::as_f64)
        };
        let (mut low, mut high) = (TIMEOUTS.min(self.bottleneck.loss), loss.min(0.99));
        for _ in 0..40 {
            let middle = (low + high) / 2.0;
            match carries(middle) > each {
                true => low = middle,
                false => high = middle,
            }
        }
        high
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pipe() -> Pipe {
        Pipe::new(&PathSpec::load("slac-cern").unwrap()).unwrap()
    }

    #[test]
    fn files_that_cost_no_time_keep_all_streams_busy() {
        assert_eq!(pipe().busy(8.0, 0.0), 8.0);
        // A file of 1 MB that costs ten seconds: a stream of 4 Mbit/s is busy for two of twelve.
        let mut pipe = pipe();
        let busy = pipe.busy(12.0, 10.0 / 1e6);
        let rate = pipe.met(busy).own / busy / 8.0;
        assert!(
            (busy * (1.0 + 1e-5 * rate) - 12.0).abs() < 1e-3,
            "{busy} {rate}"
        );
    }

    #[test]
    fn streams_that_a_host_holds_leave_the_rest_to_the_other() {
        let mut pipe = pipe();
        let free = pipe.met(40.0);
        let held = pipe.met_at(40.0, free.own / 2.0);
        assert_eq!(held.own, free.own / 2.0);
        assert!(held.other > 2.0 * free.other, "{held:?} {free:?}");
        assert!(held.other <= pipe.alone().other * 1.01);
    }
}
