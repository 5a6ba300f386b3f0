//! What formulas come to in practice: the time that data take, and the loss that a rate bears.

use models::{Acks, Conditions, loss_by_mathis};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Rate, Span};

use super::Prediction;

/// Rates of the table of losses, beside that of the link.
const MBIT: [u64; 5] = [10, 100, 1_000, 10_000, 100_000];
/// Round trips of that table, beside that of the path.
const MILLIS: [u64; 5] = [1, 10, 50, 100, 200];

/// How long data take.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Transfer {
    /// How much.
    pub bytes: Bytes,
    /// By each formula.
    pub times: Vec<TransferTime>,
}

/// How long data take by one formula.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TransferTime {
    /// Which formula.
    pub model: String,
    /// How many streams.
    pub streams: u32,
    /// The loss events for each packet that it takes or finds; absent where it has none.
    #[serde(rename = "lost_ratio", skip_serializing_if = "Option::is_none")]
    pub loss: Option<f64>,
    /// Its rate, at most what the link carries.
    #[serde(rename = "rate_bits_per_second")]
    pub rate: Rate,
    /// The rate as a share of the payload that the link carries.
    #[serde(rename = "share_ratio")]
    pub share: f64,
    /// The time.
    #[serde(rename = "duration_seconds")]
    pub seconds: f64,
}

/// The loss at which one stream still reaches a rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AcceptableLoss {
    /// The rate.
    #[serde(rename = "rate_bits_per_second")]
    pub rate: Rate,
    /// The round trip.
    #[serde(rename = "rtt_seconds")]
    pub rtt: Span,
    /// Loss events for each packet; absent where even losing every packet would not hold a stream
    /// below the rate.
    #[serde(rename = "lost_ratio", skip_serializing_if = "Option::is_none")]
    pub loss: Option<f64>,
}

impl Prediction {
    /// How long `bytes` take by each formula that has a rate: one stream by all of them, several by
    /// the equilibrium. Slow start and the hosts' own time are left out.
    pub fn transfer(&self, bytes: Bytes) -> Transfer {
        let capacity = self.bottleneck.capacity;
        let time = |model: &str, streams, loss, rate: Rate| {
            let rate = rate.min(capacity);
            (rate > Rate::ZERO).then(|| TransferTime {
                model: model.to_owned(),
                streams,
                loss,
                rate,
                share: rate.as_f64() / capacity.as_f64(),
                seconds: bytes.as_f64() * 8.0 / rate.as_f64(),
            })
        };
        let loss = Some(self.bottleneck.loss);
        let formulas = self
            .one_stream
            .iter()
            .filter(|one| one.model != "equilibrium");
        let one = formulas.filter_map(|one| time(&one.model, 1, loss, one.rate?));
        let several = self.points.iter().filter_map(|point| {
            let at = &point.equilibrium;
            time("equilibrium", point.streams, at.loss, at.throughput)
        });
        Transfer {
            bytes,
            times: one.chain(several).collect(),
        }
    }

    /// The loss that one reno stream bears at usual rates and round trips and at those of the path,
    /// by Mathis et al. with the segment of the path and every segment acknowledged.
    pub fn acceptable_losses(&self) -> Vec<AcceptableLoss> {
        let link = &self.bottleneck;
        let rates = MBIT.map(|mbit| Rate::from_bits_per_second(mbit * 1_000_000));
        let rates = sorted(rates.into_iter().chain([link.capacity]));
        let rtts = sorted(MILLIS.map(Span::from_millis).into_iter().chain([link.rtt]));
        let loss = |rate, rtt| AcceptableLoss {
            rate,
            rtt,
            loss: loss_by_mathis(
                &Conditions {
                    segment: link.segment,
                    rtt,
                    loss: 0.0,
                },
                rate,
                Acks::Every,
            ),
        };
        let row = |rate| rtts.iter().map(move |rtt| loss(rate, *rtt));
        rates.into_iter().flat_map(row).collect()
    }
}

/// Each value once, rising.
fn sorted<T: Ord>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut values: Vec<T> = values.collect();
    values.sort_unstable();
    values.dedup();
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{KNEE_SHARE, Question, predict};

    fn predicted() -> Prediction {
        let question = Question {
            path: netpath::PathSpec::load("slac-cern").unwrap(),
            congestion: None,
            window: Some(Bytes::from_kib(64)),
            streams: vec![1, 8],
            knee: KNEE_SHARE,
        };
        predict(question).unwrap()
    }

    #[test]
    fn times_are_bytes_over_rates_and_no_rate_is_above_the_link() {
        let transfer = predicted().transfer(Bytes::new(1_000_000_000));
        let eight = transfer
            .times
            .iter()
            .find(|time| time.streams == 8)
            .unwrap();
        // 22.9 Mbit/s, as the equilibrium has it.
        assert!((eight.seconds - 8e9 / 22.9e6).abs() < 2.0, "{eight:?}");
        assert!(transfer.times.iter().all(|time| time.share <= 1.0));
        assert!(transfer.times.len() > 5);
    }

    #[test]
    fn a_longer_or_faster_path_bears_less_loss() {
        let losses = predicted().acceptable_losses();
        let at = |mbit: u64, millis: u64| {
            let rate = Rate::from_bits_per_second(mbit * 1_000_000);
            let rtt = Span::from_millis(millis);
            let found = losses
                .iter()
                .find(|loss| loss.rate == rate && loss.rtt == rtt);
            found.unwrap().loss.unwrap()
        };
        // (1448 x 8 / (0.1 x 1e9))^2 x 1.5 = 2.0e-8.
        assert!(
            (at(1_000, 100) / 2.013e-8 - 1.0).abs() < 0.01,
            "{}",
            at(1_000, 100)
        );
        assert!((at(1_000, 100) / at(1_000, 200) - 4.0).abs() < 0.01);
        assert!((at(100, 100) / at(1_000, 100) - 100.0).abs() < 0.1);
    }
}
