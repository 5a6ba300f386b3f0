use std::collections::BTreeSet;

use simulation_grid::GridFailure;

use super::*;
use crate::finding::Verdict;
use crate::study::Programme;

fn all(seeds: u64) -> Programme {
    let studies: Result<Vec<Study>, StudyError> = NAMES.into_iter().map(named).collect();
    Programme {
        studies: studies.unwrap(),
        seeds,
    }
}

#[test]
fn every_study_has_its_name_and_scenarios_that_can_be_run() {
    let programme = all(1);
    let names: Vec<&str> = programme.studies.iter().map(|study| study.name).collect();
    assert_eq!(names, NAMES);
    simulation_grid::check(&programme.runs().unwrap()).unwrap();
}

#[test]
fn a_study_that_is_not_there_is_told_with_those_that_are() {
    let error = named("bufers").unwrap_err().to_string();
    assert!(
        error.contains("bufers") && error.contains("striping"),
        "{error}"
    );
}

#[test]
fn each_figure_of_a_document_is_made_once_or_left_out_with_a_reason() {
    for study in all(1).read(&[]) {
        let made = study
            .figures()
            .flat_map(|figure| figure.ids.iter().copied());
        let left = study.left.iter().map(|left| left.id);
        let mut ids: Vec<&str> = made.chain(left).collect();
        let count = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), count, "{}: {ids:?}", study.name);
    }
}

#[test]
fn no_two_plots_share_a_file_and_no_two_curves_a_label() {
    let studies = all(1).read(&[]);
    let panels = || {
        let figures = studies.iter().flat_map(|study| study.figures());
        figures.flat_map(|figure| &figure.panels)
    };
    let names: BTreeSet<&str> = panels().map(|panel| panel.name).collect();
    assert_eq!(names.len(), panels().count());
    for panel in panels() {
        let labels: BTreeSet<&str> = panel.lines.iter().map(|line| line.label.as_str()).collect();
        assert_eq!(labels.len(), panel.lines.len(), "{}", panel.name);
    }
}

#[test]
fn without_results_no_finding_of_runs_holds_and_nothing_panics() {
    for study in all(3).read(&[]) {
        for part in study.parts.iter().filter(|part| !part.settings.is_empty()) {
            for finding in part.figures.iter().flat_map(|figure| &figure.findings) {
                assert_eq!(finding.verdict(), Verdict::DoesNotHold, "{}", finding.claim);
            }
        }
    }
}

#[test]
fn too_many_seeds_are_refused() {
    let error = all(u64::MAX).runs().unwrap_err();
    assert!(matches!(error, GridFailure::TooMany { .. }), "{error}");
}
