//! The searches that are compared, by name.

use observe::{StreamCount, Window};
use tune::{Choice, History, Purpose, Request, Staged, Strategy};

/// Every search that is known here.
pub const NAMES: [&str; 4] = ["ours", "default", "fixed-4", "fixed-16"];

/// The search with this name.
///
/// # Errors
/// When there is none, with those that there are.
pub fn named(name: &str) -> Result<Box<dyn Strategy + Sync>, String> {
    let fixed = |streams| StreamCount::new(streams).map(|streams| Fixed { streams });
    match name {
        "ours" => Ok(Box::new(Staged)),
        "default" => Ok(Box::new(Fixed {
            streams: StreamCount::ONE,
        })),
        _ => {
            let streams = name.strip_prefix("fixed-").and_then(|n| n.parse().ok());
            let found = streams.and_then(|streams| fixed(streams).ok());
            let found =
                found.ok_or_else(|| format!("`{name}` is not one of {}", NAMES.join(", ")))?;
            Ok(Box::new(found))
        }
    }
}

/// One sample of a fixed setting, recommended whatever it shows.
struct Fixed {
    streams: StreamCount,
}

impl Strategy for Fixed {
    fn next(&self, history: &History) -> Option<Request> {
        history.samples.is_empty().then(|| Request {
            setting: history.setting(self.streams, Window::Auto),
            plan: history.plan.sample_plan(None),
            purpose: Purpose::Streams,
            why: "the setting is fixed".to_owned(),
        })
    }

    fn choose(&self, history: &History) -> Option<Choice> {
        let because = "the setting is fixed".to_owned();
        (!history.samples.is_empty()).then_some(Choice { sample: 0, because })
    }
}
