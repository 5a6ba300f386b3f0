use record::Direction;
use record::synthetic::{SweepCase, sweep};

use super::*;

fn made(case: SweepCase) -> Sweep {
    sweep(&case).body
}

#[test]
fn a_group_has_the_medians_of_its_visits() {
    let sweep = made(SweepCase::windows_against_streams(7));
    let analysis = sweep.analysis();
    let groups = groups(&sweep, &analysis);
    assert_eq!((groups.len(), groups[0].name.as_str()), (1, ""));
    assert_eq!((groups[0].streams.len(), groups[0].windows.len()), (20, 4));
    let window = Window::Fixed(units::Bytes::from_kib(55));
    let cells = sweep.cells.iter();
    let ours = cells.filter(|c| c.setting.window == window && c.setting.streams.get() == 6);
    let mut goodputs: Vec<u64> = ours
        .map(|c| c.figures.as_ref().unwrap().goodput_bits_per_second)
        .collect();
    goodputs.sort_unstable();
    let spread = groups[0].spread(6, window, &metric::GOODPUT).unwrap();
    // Five visits: the quartiles are the second, the third and the fourth.
    let expected = [goodputs[1], goodputs[2], goodputs[3]].map(|bits| bits as f64);
    assert_eq!([spread.low, spread.middle, spread.high], expected);
    assert_eq!(spread.visits, 5);
}

#[test]
fn two_directions_are_two_groups_with_names() {
    let sweep = made(SweepCase {
        directions: vec![Direction::Forward, Direction::Reverse],
        ..SweepCase::windows_against_streams(7)
    });
    let analysis = sweep.analysis();
    let groups = groups(&sweep, &analysis);
    let names: Vec<&str> = groups.iter().map(|group| group.name.as_str()).collect();
    assert_eq!(names, ["sending", "receiving"]);
    assert_eq!(groups[1].suffix, "-2-receiving");
    assert_eq!(groups[1].count(), 400);
}

#[test]
fn what_no_path_can_show_counts_as_not_known() {
    let sweep = made(SweepCase::windows_against_streams(7));
    let mut figures = sweep.cells[0].figures.clone().unwrap();
    for absurd in [f64::NAN, f64::INFINITY, -1.0, 1e308] {
        let mut loaded = figures.rtt_loaded.unwrap();
        (loaded.mean, loaded.loss) = (absurd, absurd);
        figures.rtt_loaded = Some(loaded);
        figures.cpu_user_ratio = Some(absurd);
        figures.retransmitted_ratio = Some(absurd);
        for metric in [
            &metric::ADDED_DELAY,
            &metric::PROBES_LOST,
            &metric::VARIABILITY_LOADED,
            &metric::USER,
            &metric::COST,
            &metric::SENT_AGAIN,
        ] {
            assert_eq!((metric.of)(&figures), None, "{absurd} {}", metric.title);
        }
    }
}

#[test]
fn a_stream_below_half_its_fair_share_starves() {
    let sweep = made(SweepCase::windows_against_streams(7));
    let mut figures = sweep.cells[0].figures.clone().unwrap();
    let stream = |bits| record::sweep::StreamFigures {
        number: 1,
        goodput_bits_per_second: Some(bits),
        retransmits: None,
    };
    // Fair is 10: half of it is 5.
    figures.streams = vec![stream(4), stream(16)];
    assert_eq!((metric::STARVED.of)(&figures), Some(1.0));
    figures.streams = vec![stream(5), stream(15)];
    assert_eq!((metric::STARVED.of)(&figures), Some(0.0));
    figures.streams.truncate(1);
    assert_eq!((metric::STARVED.of)(&figures), None);
}
