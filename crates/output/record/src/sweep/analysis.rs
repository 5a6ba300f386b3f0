//! From a document's visits back to what the analysis works with.

use ::sweep as pure;
use units::Bytes;

use super::{Sweep, SweepCell};
use crate::{Direction, Kind, SweepAnalysis, Target, Window};

impl Sweep {
    /// What it shows: as the document says, or computed from its visits where it says nothing.
    pub fn analysis(&self) -> SweepAnalysis {
        self.analysis.clone().unwrap_or_else(|| self.analyse())
    }

    /// What the visits show. The seed of the plan decides which cycles are drawn for the intervals
    /// of the knees.
    pub fn analyse(&self) -> SweepAnalysis {
        let mut analysis = pure::analyse(&self.visits(), self.plan.seed);
        for way in &mut analysis.directions {
            let recommended = way
                .recommended
                .as_mut()
                .map(|recommended| &mut recommended.at);
            let points = [recommended, way.highest.as_mut(), way.gentlest.as_mut()];
            for point in points.into_iter().flatten() {
                let setting = &point.setting;
                let granted = self
                    .target
                    .window_granted(setting.window, setting.direction);
                point.window_granted = granted;
            }
        }
        analysis
    }

    /// The same sweep with its analysis beside the visits.
    pub fn analysed(self) -> Self {
        Sweep {
            analysis: Some(self.analyse()),
            ..self
        }
    }

    /// The visits that succeeded or failed.
    pub(crate) fn visits(&self) -> Vec<pure::Cell> {
        self.cells.iter().filter_map(cell).collect()
    }
}

impl Target {
    /// What this host's kernel makes of a window that is asked for: twice as much, and no more than
    /// twice its limit where the target is live. On an emulated or simulated path no limit of this
    /// host counts.
    ///
    /// `None` where nothing was asked for.
    pub fn window_granted(&self, window: Window, direction: Direction) -> Option<Bytes> {
        let asked = window.fixed()?;
        let limits = self.limits.as_ref().filter(|_| self.kind == Kind::Live);
        let limit = limits.map(|limits| match direction {
            Direction::Forward => limits.send_fixed_max,
            Direction::Reverse => limits.receive_fixed_max,
            Direction::Both => limits.send_fixed_max.min(limits.receive_fixed_max),
        });
        Some(asked.min(limit.unwrap_or(asked)).times(2))
    }
}

/// `None` of a visit that neither succeeded nor failed.
fn cell(cell: &SweepCell) -> Option<pure::Cell> {
    let outcome = match (&cell.figures, &cell.failed_because) {
        (Some(figures), _) => pure::Outcome::Measured(Box::new(figures.clone())),
        (None, Some(why)) => pure::Outcome::Failed(why.clone()),
        (None, None) => return None,
    };
    Some(pure::Cell {
        cycle: cell.cycle,
        setting: cell.setting.clone(),
        outcome,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::{self, SweepCase};

    fn sweep() -> Sweep {
        synthetic::sweep(&SweepCase::windows_against_streams(3)).body
    }

    #[test]
    fn a_document_without_an_analysis_is_analysed_when_asked() {
        let bare = sweep();
        assert_eq!(bare.analysis, None);
        let analysed = bare.clone().analysed();
        assert_eq!(analysed.analysis, Some(bare.analysis()));
    }

    /// A later version may judge otherwise; the document keeps what it said.
    #[test]
    fn a_document_keeps_what_it_said() {
        let mut said = sweep().analysed();
        if let Some(analysis) = said.analysis.as_mut() {
            analysis.settings.clear();
        }
        assert!(said.analysis().settings.is_empty());
    }

    #[test]
    fn an_analysis_comes_back_from_json_as_it_was() {
        let analysis = sweep().analyse();
        let json = serde_json::to_string(&analysis).unwrap();
        assert!(!json.contains("null"), "a figure is not finite");
        assert_eq!(
            serde_json::from_str::<SweepAnalysis>(&json).unwrap(),
            analysis
        );
    }

    #[test]
    fn visits_that_no_run_could_make_are_refused() {
        let cell = &sweep().cells[0];
        for (key, value) in [("streams", 0), ("streams", 129), ("mss_bytes", 1 << 20)] {
            let mut json = serde_json::to_value(cell).unwrap();
            json["setting"][key] = value.into();
            assert!(serde_json::from_value::<SweepCell>(json).is_err());
        }
    }

    #[test]
    fn a_window_is_doubled_and_cut_by_the_host_that_asks() {
        let mut target = sweep().target;
        let small = Window::Fixed(Bytes::from_kib(64));
        let large = Window::Fixed(Bytes::from_kib(1 << 10));
        let granted = |target: &Target, window| target.window_granted(window, Direction::Forward);
        assert_eq!(granted(&target, large), Some(Bytes::from_kib(2 << 10)));
        target.kind = Kind::Live;
        assert_eq!(granted(&target, small), Some(Bytes::from_kib(128)));
        // wmem_max is 208 KiB.
        assert_eq!(granted(&target, large), Some(Bytes::from_kib(416)));
        assert_eq!(granted(&target, Window::Auto), None);
    }
}
