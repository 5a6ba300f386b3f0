//! A sample that settles a doubt about the cause of losses.

use observe::{Precision, SamplePlan, Setting, StreamCount, Window};
use units::Rate;

use crate::history::History;
use crate::strategy::Request;
use crate::tuning::Purpose;

/// The default stream is paced at this share of the highest goodput seen: below the link's rate, so
/// that its bursts fit whatever queue there is, and above what it reaches unpaced.
const PACED_SHARE: f64 = 0.9;
/// Fewer retransmissions than this are too few to see them fall to a fifth: of ten that pacing does not
/// cure, two or fewer would be left by chance in 0.3 % of all cases (Poisson).
const RETRANSMITS_MIN: u64 = 10;

/// The default stream again, paced below the link's rate, when its losses could have two causes.
pub(crate) fn explain(history: &History) -> Option<Request> {
    let setting = history.setting(StreamCount::ONE, Window::Auto);
    let default = history.of(&setting)?;
    let two_causes = !history.verdict(default).or.is_empty();
    let enough = default.summary.main()?.tcp.retransmits? >= RETRANSMITS_MIN;
    let pace = Rate::from_f64(PACED_SHARE * history.rate_best()?.as_f64());
    let plan = history.sample_plan()?;
    (two_causes && enough && history.taken_for(Purpose::Explain).is_empty()).then(|| Request {
        setting: Setting {
            pacing: Some(pace),
            ..setting
        },
        plan: SamplePlan {
            precision: plan.precision.map(any_width),
            ..plan
        },
        purpose: Purpose::Explain,
        why: format!(
            "one stream paced at {}: does it still lose packets?",
            pace.human()
        ),
    })
}

/// Its goodput does not matter, so its steady time alone ends it.
fn any_width(precision: Precision) -> Precision {
    Precision {
        relative_half_width: f64::INFINITY,
        ..precision
    }
}
