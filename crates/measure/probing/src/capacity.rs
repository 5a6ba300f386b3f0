//! Capacity: the rate of the narrowest link, from how far it pulls packets apart.
//!
//! Pairs of packets first, filtered as in CapProbe; where a pair comes out too close together for
//! clocks to tell, bulks of ten or a hundred, as in PBProbe. What is left out: links that are
//! narrow for small packets only (token buckets with room for a bulk show the rate behind the
//! bucket), and links that serve users by turns (wireless), where dispersion is not the link's
//! rate.
//!
//! Sources: Dovrolis, Ramanathan & Moore, "What do packet dispersion techniques measure?", INFOCOM
//! 2001; Kapoor, Chen, Lao, Gerla & Sanadidi, "CapProbe: a simple and accurate capacity estimation
//! technique", SIGCOMM 2004; Chen, Sun, Wang, Sanadidi & Gerla, "PBProbe: a capacity estimation
//! tool for high speed networks", Computer Communications 31, 2008.
//!
//! Reading order: `capacity/bulk.rs` for what one train tells, then [`measure`].

mod bulk;

use std::cmp::Ordering;

use observe::{Passages, Probes, ProbesError, RunObserver, Stamped, Train, Way};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Rate, Span};

use crate::Cost;
use bulk::{Doubt, Finding};

/// The rate of the narrowest link of one direction, at the IP layer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Capacity {
    /// Which direction.
    pub way: Way,
    /// The estimate.
    #[serde(rename = "bits_per_second")]
    pub rate: Rate,
    /// What it comes from.
    pub method: CapacityMethod,
    /// Why it may not be trusted: a sentence without a full stop; `None` where it passed its own
    /// test.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doubt: Option<String>,
    /// What it cost.
    #[serde(flatten)]
    pub cost: Cost,
    /// What each pair or bulk says by itself, in the order of sending: those of the method that was
    /// used. Lost and reordered ones are left out.
    #[serde(rename = "estimates_bits_per_second")]
    pub estimates: Vec<Rate>,
}

/// What a capacity was estimated from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CapacityMethod {
    /// The pair of packets with the smallest sum of delays (CapProbe).
    Pairs,
    /// Bulks of more packets, where pairs would be closer together than clocks can tell (PBProbe).
    Bulks,
}

/// Packets of a bulk, from the first attempt on. PBProbe grows by ten each time, too.
const SIZES: [usize; 3] = [2, 10, 100];
/// Bulks in a train: the share that meets no cross traffic is about that of the time in which the
/// link is idle, and with 40 even one in ten is seen for sure.
const BULKS: [usize; 3] = [40, 40, 20];
/// On slow links trains have fewer bulks: clocks must not drift far within one, and peers bound
/// them (at 30 s).
const TRAIN_MAX: Span = Span::from_secs(20);
/// Pairs of the first train, before anything is known; one every [`FIRST_SPACING`], 1.2 Mbit/s of
/// full packets.
const FIRST_BULKS: usize = 5;
const FIRST_SPACING: Span = Span::from_millis(20);
/// Trains of one size at the most.
const TRAINS_MAX: usize = 8;
/// Trains that have to agree before the estimate is believed.
const TRAINS_AGREEING: usize = 3;
/// How well, as a share of the lower.
const DISAGREEMENT_MAX: f64 = 0.05;
/// Bulks use this share of the link: the one tenth that pathload allows itself.
const SPACING: f64 = 10.0;
/// Dispersions below this are not told apart well enough: a kernel stamps to a few microseconds, a
/// program to some tens of them.
const DISPERSION_MIN: f64 = 100e-6;
const DISPERSION_MIN_BY_PROGRAM: f64 = 1e-3;
/// Nor those of fewer ticks of the receiver's clock: one more or less is then at most 5 %.
const TICKS_MIN: f64 = 20.0;

/// What one size of bulks came to.
struct Attempt {
    size: usize,
    findings: Vec<Finding>,
    stamped: Stamped,
}

/// Measures the capacity of one direction with packets of size `packet`, the largest that pass
/// unfragmented.
///
/// # Errors
/// When the path, peer or user does not allow trains, or no bulk came through whole.
pub fn measure(
    probes: &mut dyn Probes,
    way: Way,
    packet: Bytes,
    watch: &mut dyn RunObserver,
) -> Result<Capacity, ProbesError> {
    let mut sender = Sender {
        probes,
        way,
        packet,
        watch,
        cost: Cost::default(),
    };
    let first = sender.train(SIZES[0], FIRST_BULKS, FIRST_SPACING)?;
    // A link that loses whole trains may still bring a bulk through later; a slow guess is a safe
    // one.
    let first = bulk::judge(&first, SIZES[0], packet);
    let mut guess = first.map_or(packet.as_f64() * 8.0 / 1e-3, |finding| finding.rate);
    let mut best: Option<Attempt> = None;
    for (size, bulks) in SIZES.into_iter().zip(BULKS) {
        let attempt = sender.attempt(size, bulks, guess)?;
        let Some(rate) = attempt.rate() else { continue };
        guess = rate;
        let enough = attempt.is_enough();
        if best
            .as_ref()
            .is_none_or(|best| attempt.is_better_than(best))
        {
            best = Some(attempt);
        }
        if enough {
            break;
        }
    }
    let cost = sender.cost;
    let best = best.ok_or_else(nothing_came_through)?;
    match best.is_long_enough() {
        true => best
            .into_capacity(way, cost)
            .ok_or_else(nothing_came_through),
        false => Err(best.too_close()),
    }
}

fn nothing_came_through() -> ProbesError {
    ProbesError::Unsupported {
        why: "no two packets that were sent together arrived in order and apart".to_owned(),
        hint: Some("check the path for loss first, then which hosts stamp packets".to_owned()),
    }
}

/// When a bulk leaves: one every `spacing`, each a different part of a twentieth of it late. Bulks
/// so keep no time with anything periodic, be it the traffic of others or the ticks of a clock.
fn departure(bulk: usize, spacing: Span) -> Span {
    // Multiples of the golden ratio never come round.
    let part = (bulk as f64 * 0.618_033_988_75).fract();
    spacing.times(bulk as u64) + Span::from_secs_f64(spacing.as_secs_f64() * part * 0.05)
}

/// Sends trains of bulks and counts them.
struct Sender<'a> {
    probes: &'a mut dyn Probes,
    way: Way,
    packet: Bytes,
    watch: &'a mut dyn RunObserver,
    cost: Cost,
}

impl Sender<'_> {
    fn train(&mut self, size: usize, bulks: usize, spacing: Span) -> Result<Passages, ProbesError> {
        let departures = (0..size * bulks).map(|number| departure(number / size, spacing));
        let train = Train {
            packet: self.packet,
            departures: departures.collect(),
        };
        self.cost.add(&train);
        let passages = self.probes.train(self.way, &train, self.watch)?;
        // The last bulk drains, too, before the next train.
        self.probes.pause(spacing);
        Ok(passages)
    }

    /// Trains of bulks of one size, until enough of them are believed or it is clear that none will
    /// be.
    fn attempt(&mut self, size: usize, bulks: usize, guess: f64) -> Result<Attempt, ProbesError> {
        let mut attempt = Attempt {
            size,
            findings: Vec::new(),
            stamped: Stamped::Exactly,
        };
        for number in 0..TRAINS_MAX {
            let rate = attempt.rate().unwrap_or(guess);
            let bulk = self.packet.times(size as u64).as_f64() * 8.0 / rate;
            let spacing = Span::from_secs_f64(bulk * SPACING);
            let fitting = TRAIN_MAX.as_nanos() / spacing.as_nanos().max(1);
            let bulks = bulks.min(usize::try_from(fitting).unwrap_or(bulks)).max(2);
            let passages = self.train(size, bulks, spacing)?;
            attempt.stamped = passages.stamped;
            attempt
                .findings
                .extend(bulk::judge(&passages, size, self.packet));
            if attempt.is_settled() || (number > 0 && attempt.is_hopeless()) {
                break;
            }
        }
        Ok(attempt)
    }
}

impl Attempt {
    fn believed(&self) -> impl Iterator<Item = &Finding> {
        self.findings
            .iter()
            .filter(|finding| finding.doubt.is_none())
    }

    fn is_settled(&self) -> bool {
        let believed = self.believed().count();
        // Most of many trains: a few of them may be believed by chance.
        let enough = believed >= TRAINS_AGREEING && believed * 2 >= self.findings.len();
        enough && self.disagreement().is_none()
    }

    /// The lowest and the highest rate that is believed, where those are too far apart to be true.
    fn disagreement(&self) -> Option<(f64, f64)> {
        let rates = || self.believed().map(|finding| finding.rate);
        let (low, high) = (rates().reduce(f64::min)?, rates().reduce(f64::max)?);
        (high > low * (1.0 + DISAGREEMENT_MAX)).then_some((low, high))
    }

    /// More of the same would change nothing: the trouble is not others' traffic, or pairs are too
    /// close together anyway.
    fn is_hopeless(&self) -> bool {
        let disturbed = |finding: &Finding| matches!(finding.doubt, Some(Doubt::Disturbed(_)));
        let others = self.findings.iter().any(disturbed);
        !self.findings.is_empty() && self.believed().next().is_none() && !others
            || self
                .dispersion()
                .is_some_and(|dispersion| dispersion < self.dispersion_min() / 2.0)
    }

    /// The median of what is believed, or of everything, in bits per second.
    fn rate(&self) -> Option<f64> {
        let rates = |findings: Vec<&Finding>| -> Vec<f64> {
            findings.into_iter().map(|finding| finding.rate).collect()
        };
        let believed = rates(self.believed().collect());
        stats::median(&believed).or_else(|| stats::median(&rates(self.findings.iter().collect())))
    }

    fn dispersion(&self) -> Option<f64> {
        let dispersions: Vec<f64> = self
            .findings
            .iter()
            .map(|finding| finding.dispersion)
            .collect();
        stats::median(&dispersions)
    }

    fn dispersion_min(&self) -> f64 {
        let stamps = match self.stamped {
            Stamped::ByProgram => DISPERSION_MIN_BY_PROGRAM,
            Stamped::ByKernel | Stamped::Exactly => DISPERSION_MIN,
        };
        let ticks: Vec<f64> = self.findings.iter().map(|finding| finding.tick).collect();
        stats::median(&ticks).map_or(stamps, |tick| stamps.max(tick * TICKS_MIN))
    }

    /// Whether bulks are long against what clocks can tell.
    fn is_long_enough(&self) -> bool {
        self.dispersion()
            .is_some_and(|dispersion| dispersion >= self.dispersion_min())
    }

    /// Whether larger bulks would tell no more: those are longer against clocks and batches, but
    /// find others in their way more often.
    fn is_enough(&self) -> bool {
        let larger_helps = self.size == SIZES[0] || self.is_batched();
        self.is_long_enough() && (self.is_settled() || !larger_helps)
    }

    fn is_batched(&self) -> bool {
        let batched = |finding: &Finding| matches!(finding.doubt, Some(Doubt::Batched(_)));
        self.findings.iter().any(batched)
    }

    /// Stamps that can tell come first, then agreement, then the least disturbance.
    fn is_better_than(&self, other: &Attempt) -> bool {
        let merit = |attempt: &Attempt| (attempt.is_long_enough(), attempt.is_settled());
        match merit(self).cmp(&merit(other)) {
            Ordering::Equal if self.is_batched() || !self.is_long_enough() => {
                self.dispersion() > other.dispersion()
            }
            Ordering::Equal => self.least_excess() < other.least_excess(),
            order => order == Ordering::Greater,
        }
    }

    fn least_excess(&self) -> f64 {
        let excess = self.findings.iter().map(|finding| finding.excess);
        excess.reduce(f64::min).unwrap_or(f64::INFINITY)
    }

    fn too_close(&self) -> ProbesError {
        let within = Span::from_secs_f64(self.dispersion().unwrap_or(0.0)).human();
        let size = self.size;
        let least = Span::from_secs_f64(self.dispersion_min()).human();
        ProbesError::Unsupported {
            why: format!(
                "{size} packets arrive within {within}, where stamps can tell no less than \
                    {least}: the receiver takes them in batches, or the path is faster than trains \
                    can measure"
            ),
            hint: Some(
                "look at the interrupt coalescing of the receiver (`ethtool -c`)".to_owned(),
            ),
        }
    }

    fn doubt(&self) -> Option<String> {
        if self.is_settled() {
            return None;
        }
        if let Some((low, high)) = self.disagreement() {
            let human = |rate: f64| Rate::from_f64(rate).human();
            return Some(format!(
                "trains disagree: {} to {}",
                human(low),
                human(high)
            ));
        }
        let least = |one: &&Finding, other: &&Finding| one.excess.total_cmp(&other.excess);
        let best = self.findings.iter().min_by(least)?;
        Some(match best.doubt {
            Some(Doubt::Disturbed(share)) => format!(
                "others were in the way of every bulk of {} packets, the least disturbed by {:.0} \
                    % of its length",
                self.size,
                share * 100.0
            ),
            Some(Doubt::Batched(batch)) => format!(
                "the receiver takes packets in batches of about {batch:.1} on average, so their \
                    distances are not the path's"
            ),
            Some(Doubt::SenderTooSlow) => {
                "the sender sent no faster than this, so the path may be faster".to_owned()
            }
            None => format!(
                "only {} of {} trains passed the test",
                self.believed().count(),
                self.findings.len()
            ),
        })
    }

    fn into_capacity(self, way: Way, cost: Cost) -> Option<Capacity> {
        let rate = Rate::from_f64(self.rate()?);
        let doubt = self.doubt();
        let method = match self.size {
            2 => CapacityMethod::Pairs,
            _ => CapacityMethod::Bulks,
        };
        Some(Capacity {
            way,
            rate,
            method,
            doubt,
            estimates: self
                .findings
                .into_iter()
                .flat_map(|finding| finding.estimates)
                .collect(),
            cost,
        })
    }
}

#[cfg(test)]
mod tests;
