use super::*;
use crate::synthetic::{self, SweepCase};
use crate::{AnyDocument, Document, Tune};
use units::Bytes;

fn csv(text: &str) -> Result<Vec<(u32, Rate)>, PointsError> {
    csv_with(text, None)
}

fn csv_with(text: &str, window: Option<Window>) -> Result<Vec<(u32, Rate)>, PointsError> {
    let file = Path::new("points.csv");
    csv_file::points(file, text).and_then(|points| alike(file, points, window))
}

fn complaint(text: &str) -> String {
    csv(text).unwrap_err().to_string()
}

fn of(document: &AnyDocument, window: Option<Window>) -> Result<Vec<(u32, Rate)>, PointsError> {
    let file = Path::new("d.json");
    let (points, usual) = documents::points(file, document)?;
    alike(file, points, window.or(usual))
}

fn mbit(streams: u32, mbit: u64) -> (u32, Rate) {
    (streams, Rate::from_bits_per_second(mbit * 1_000_000))
}

#[test]
fn lines_become_points() {
    let points = csv("# SLAC\nname, Streams ,throughput\na,1,9Mbit/s\n\nb,8,50 Mbit/s\n").unwrap();
    assert_eq!(points, [mbit(1, 9), mbit(8, 50)]);
    let bits = csv("throughput_bits_per_second,streams\r\n45000000,4\r\n").unwrap();
    assert_eq!(bits, [mbit(4, 45)]);
    assert_eq!(csv("streams,goodput\n4,45Mbit/s\n").unwrap(), [mbit(4, 45)]);
}

#[test]
fn the_unit_may_stand_in_the_name() {
    for name in [
        "goodput [Mbit/s]",
        "Goodput (Mbit/s)",
        "throughput Mbit/s",
        "goodput_Mbit/s",
    ] {
        let text = format!("streams,{name}\n4,45\n8,50.0\n");
        assert_eq!(csv(&text).unwrap(), [mbit(4, 45), mbit(8, 50)], "{name}");
    }
    let told = complaint("streams,goodput [MB]\n4,45\n");
    assert!(told.contains("no column `goodput`"), "{told}");
}

#[test]
fn a_wrong_line_is_named_with_its_value() {
    let line = "streams,throughput\n1,5Mbit/s\n";
    let told = |rest: &str| complaint(&format!("{line}{rest}"));
    assert_eq!(
        told("x,5Mbit/s"),
        "points.csv:3: `x` is no number of streams above 0"
    );
    assert_eq!(
        told("0,5Mbit/s"),
        "points.csv:3: `0` is no number of streams above 0"
    );
    assert_eq!(
        told("2,5"),
        "points.csv:3: `5` is no goodput with its unit above 0"
    );
    assert_eq!(
        told("2"),
        "points.csv:3: `` is no goodput with its unit above 0"
    );
    assert_eq!(
        complaint("n,throughput\n"),
        "points.csv:1: there is no column `streams` among n,throughput"
    );
    assert_eq!(
        complaint("streams,rate\n"),
        "points.csv:1: there is no column `goodput` among streams,rate"
    );
    assert_eq!(
        complaint("\n# nothing\n"),
        "points.csv: there are no points"
    );
    assert_eq!(
        complaint("streams,throughput\n"),
        "points.csv: there are no points"
    );
}

#[test]
fn copies_and_rows_without_a_goodput_are_passed_over_in_our_own_lists() {
    let text = "id,kind,target,streams,window_bytes,goodput_bits_per_second\n\
                1,tune,sim:lan,4,,45000000\n2,copy,sim:lan,0,,1000\n3,sweep,sim:lan,,,\n\
                4,measure,sim:lan,8,,50000000\n";
    assert_eq!(csv(text).unwrap(), [mbit(4, 45), mbit(8, 50)]);
    let other = format!("{text}5,measure,\"emu:a,b\",8,,50000000\n");
    let told = complaint(&other);
    assert!(told.contains("sim:lan, emu:a,b"), "{told}");
}

#[test]
fn of_several_windows_one_is_asked_for() {
    let text = "streams,window_bytes,goodput\n4,65536,45Mbit/s\n4,,50Mbit/s\n";
    let told = complaint(text);
    assert_eq!(
        told,
        "points.csv: the points are of several windows: 64KiB, auto"
    );
    assert!(csv(text).unwrap_err().hint().unwrap().contains("--window"));
    assert_eq!(csv_with(text, Some(Window::Auto)).unwrap(), [mbit(4, 50)]);
    let none = csv_with(text, Some(Window::Fixed(Bytes::from_kib(1))))
        .unwrap_err()
        .to_string();
    assert!(
        none.contains("no point has the window 1KiB; there are 64KiB, auto"),
        "{none}"
    );
}

#[test]
fn a_search_gives_the_samples_of_its_window_and_its_tcp() {
    let mut document: Document<Tune> = synthetic::tune(1);
    let all = of(&document.clone().into(), None).unwrap();
    assert!(all.len() >= 4, "{all:?}");
    assert!(all.iter().any(|(streams, _)| *streams == 8));
    document.body.samples[1].run.setting.congestion = Some("bbr".to_owned());
    assert_eq!(of(&document.into(), None).unwrap().len(), all.len() - 1);
}

/// A target that says what the host's own congestion control is names it in samples alone.
#[test]
fn a_search_with_the_hosts_own_tcp_gives_its_samples() {
    let mut document: Document<Tune> = synthetic::tune(1);
    let all = of(&document.clone().into(), None).unwrap();
    for sample in &mut document.body.samples {
        sample.run.setting.congestion = Some("reno".to_owned());
    }
    let answer = document.body.answer.as_mut().unwrap();
    answer.recommended.congestion = None;
    assert_eq!(of(&document.into(), None).unwrap(), all);
}

#[test]
fn a_sweep_gives_every_visit_of_one_window() {
    let case = SweepCase::windows_against_streams(1);
    let document = AnyDocument::from(synthetic::sweep(&case));
    let told = of(&document, None).unwrap_err().to_string();
    assert!(told.contains("several windows: "), "{told}");
    let AnyDocument::Sweep(sweep) = &document else {
        panic!("another kind");
    };
    let window = sweep.body.cells[0].setting.window;
    let visits = sweep.body.cells.iter();
    let visits = visits.filter(|cell| cell.setting.window == window && cell.figures.is_some());
    assert_eq!(of(&document, Some(window)).unwrap().len(), visits.count());
}

#[test]
fn documents_without_a_curve_are_refused() {
    let several = of(&synthetic::campaign().into(), Some(Window::Auto));
    let told = several.unwrap_err().to_string();
    assert!(
        told.starts_with("d.json: the points are of several paths, directions or kinds of TCP: "),
        "{told}"
    );
    let told = of(&synthetic::simulate(8).into(), None)
        .unwrap_err()
        .to_string();
    assert!(
        told.contains("a simulate document has no samples"),
        "{told}"
    );
}
