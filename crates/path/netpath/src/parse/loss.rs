//! Loss on the wire.

use super::kind;
use crate::PathError;
use crate::section::Section;
use crate::spec::Loss;

const LOSES_ALL: &str = "a link that loses every packet carries nothing";

pub(super) fn loss(section: &Section) -> Result<Loss, PathError> {
    match kind(section, &["random", "gilbert-elliott"])?.value {
        "random" => random_loss(section),
        _ => bursty_loss(section),
    }
}

fn random_loss(section: &Section) -> Result<Loss, PathError> {
    section.only(&["kind", "rate"])?;
    let rate = section.probability("rate")?;
    let rate = rate.ok_or_else(|| section.missing("rate", "write 1 % as `rate = 0.01`"))?;
    match rate.value {
        1.0 => Err(rate.refuse(LOSES_ALL.to_owned(), "give a rate below 1".to_owned())),
        rate => Ok(Loss::Random { rate }),
    }
}

fn bursty_loss(section: &Section) -> Result<Loss, PathError> {
    section.only(&["kind", "enter", "leave", "loss_bad", "loss_good"])?;
    let positive = |key: &str, hint: &str| {
        let field = section.probability(key)?;
        let field = field.ok_or_else(|| section.missing(key, hint))?;
        match field.value {
            0.0 => Err(field.refuse(
                format!("`{key}` of 0 never changes the state"),
                hint.to_owned(),
            )),
            value => Ok(value),
        }
    };
    let enter = positive(
        "enter",
        "the probability per packet that a burst begins, like 0.001",
    )?;
    let leave = positive(
        "leave",
        "the probability per packet that a burst ends, like 0.2",
    )?;
    let state = |key, default| Ok(section.probability(key)?.map_or(default, |f| f.value));
    let loss = Loss::GilbertElliott {
        enter,
        leave,
        loss_bad: state("loss_bad", 1.0)?,
        loss_good: state("loss_good", 0.0)?,
    };
    if loss.mean_rate() >= 1.0 {
        let key = if section.has("loss_good") {
            "loss_good"
        } else {
            "leave"
        };
        let hint = "lower `loss_good`, or raise `leave`";
        return Err(section.refuse(key, LOSES_ALL.to_owned(), hint));
    }
    Ok(loss)
}
