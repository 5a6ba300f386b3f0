//! Which samples count where one is recommended, for how much, and why the others do not.
//!
//! A sample counts for what it shows, but for no more than a longer run of it is expected to have
//! (`lasting.rs`). One that was taken again gives way to the later one. Under the objective gentle
//! only those count that are known to keep within its budget, as long as there is one.

use observe::{StreamCount, Transport, Window};
use units::{Rate, Span};

use crate::controls;
use crate::history::History;
use crate::lasting;
use crate::moving;
use crate::over_udp;
use crate::plan::Objective;
use crate::tuning::{Purpose, Sample, Standing};
use crate::windows;

/// Several streams may lose this many times what the path makes one stream lose: short samples of
/// one loss rate differ by as much.
const PATH_LOSS_ROOM: f64 = 1.5;

/// Where each sample of the history stands, in their order.
pub(crate) fn standings(history: &History) -> Vec<Standing> {
    match within_budget(history) {
        Some(within) if counts_any(&within) => within,
        _ => all(history),
    }
}

/// Whether anything that counts is known to keep within the budget of the objective gentle; `None`
/// where there is no budget, or no round trip to hold against it.
pub(crate) fn keeps_any(history: &History) -> Option<bool> {
    within_budget(history).map(|within| counts_any(&within))
}

fn all(history: &History) -> Vec<Standing> {
    let samples = history.samples.iter().enumerate();
    samples.map(|one| usual(history, one)).collect()
}

fn within_budget(history: &History) -> Option<Vec<Standing>> {
    let budget = budget(history)?;
    let samples = history.samples.iter().zip(all(history));
    let within = samples.map(|(sample, usual)| bounded(history, sample, usual, &budget));
    Some(within.collect())
}

fn counts_any(standings: &[Standing]) -> bool {
    let set_aside = |one: &Standing| matches!(one, Standing::SetAside { .. });
    !standings.iter().all(set_aside)
}

/// Without a budget.
fn usual(history: &History, (index, sample): (usize, &Sample)) -> Standing {
    let because = match sample.purpose {
        _ if sample.goodput().mean == Rate::ZERO => Some("nothing arrived".to_owned()),
        Purpose::Moving if !moving::has_gained(history, sample) => {
            Some("it carried no more than runs without it differ by".to_owned())
        }
        _ if is_repeated(history, index, sample) => {
            Some("a later sample of the same setting does".to_owned())
        }
        _ => controls::doubt(history, sample).or_else(|| over_udp::doubt(history, sample)),
    };
    match because {
        Some(because) => Standing::SetAside { because },
        None => lasting::standing(history, sample),
    }
}

/// Whether a later sample has the same setting: it was taken to be surer.
fn is_repeated(history: &History, index: usize, sample: &Sample) -> bool {
    let mut later = history.samples.iter().skip(index + 1);
    later.any(|later| later.setting == sample.setting)
}

/// What the objective gentle allows, on an idle path of a known round trip.
struct Budget {
    idle: Span,
    added_rtt_max: Span,
    loss_max: f64,
}

fn budget(history: &History) -> Option<Budget> {
    match history.plan.objective {
        Objective::Gentle {
            added_rtt_max,
            loss_max,
        } => Some(Budget {
            idle: history.rtt_unloaded().or(history.rtt_min())?,
            added_rtt_max,
            loss_max,
        }),
        _ => None,
    }
}

fn bounded(history: &History, sample: &Sample, usual: Standing, budget: &Budget) -> Standing {
    let counts = !matches!(usual, Standing::SetAside { .. });
    match keeps(history, sample, budget) {
        Err(because) if counts => Standing::SetAside { because },
        _ => usual,
    }
}

/// Whether a sample is known to stay within the budget; what speaks against it.
///
/// Windows that the kernel grows may not have grown to their full length yet, so their queue has to
/// be half of what is allowed; and where they have not lost anything, nothing will stop them before
/// the queue is full. Losses that one stream has as well, on a path where no cross traffic keeps a
/// queue, are the path's and not caused by more streams.
fn keeps(history: &History, sample: &Sample, budget: &Budget) -> Result<(), String> {
    let times = sample.summary.rtt_loaded.zip(sample.retransmitted_share());
    let (loaded, lost) = times.ok_or("its delay or its losses are not known")?;
    let grows = grows_freely(history, sample);
    if grows && lost == 0.0 {
        return Err(
            "its windows still grow, and nothing but a full queue would stop them".to_owned(),
        );
    }
    let (added, allowed) = (loaded - budget.idle, budget.added_rtt_max);
    let queueing = if grows { added.times(2) } else { added };
    if queueing > allowed {
        let growing = if grows {
            " and may double as its windows grow"
        } else {
            ""
        };
        return Err(format!(
            "it adds {}{growing}; {} are allowed",
            added.human(),
            allowed.human()
        ));
    }
    let allowed = budget.loss_max.max(PATH_LOSS_ROOM * history.path_loss());
    match lost <= allowed {
        true => Ok(()),
        false => Err(format!(
            "{:.2} % were sent again; {:.2} % are allowed",
            lost * 100.0,
            allowed * 100.0
        )),
    }
}

/// Neither a pace nor a buffer bounds its windows.
fn grows_freely(history: &History, sample: &Sample) -> bool {
    let setting = &sample.setting;
    setting.window == Window::Auto
        && setting.pacing.is_none()
        && !windows::buffer_binds(history, sample)
}

/// What people call a setting in a sentence about others: `4 streams`, `4 x 4MiB`,
/// `1 paced stream`.
pub(crate) fn name(history: &History, sample: &Sample) -> String {
    let setting = &sample.setting;
    let paced = if setting.pacing.is_some() {
        "paced "
    } else {
        ""
    };
    let congestion = setting.congestion.as_ref();
    let other = congestion.filter(|_| setting.congestion != history.plan.base.congestion);
    let other = other.map(|name| format!(" of {name}")).unwrap_or_default();
    let other = match setting.transport {
        Transport::Tcp => other,
        Transport::Udp => " over UDP".to_owned(),
    };
    let windows_differ = history
        .samples
        .iter()
        .any(|one| one.setting.window != Window::Auto);
    let streams = match setting.streams {
        StreamCount::ONE => format!("1 {paced}stream"),
        several => format!("{several} {paced}streams"),
    };
    match (windows_differ, setting.pacing) {
        (true, None) => format!("{} x {}{other}", setting.streams, setting.window),
        (true, Some(_)) => format!("{} x {}, paced{other}", setting.streams, setting.window),
        (false, _) => format!("{streams}{other}"),
    }
}
