use record::copy::CopyEvent;
use record::synthetic;

use super::*;
use crate::text as shown_as_text;
use crate::text::copy::progress;
use draw::Paint;

fn shown(copy: &Copy) -> String {
    let mut document = synthetic::copy();
    document.body = copy.clone();
    shown_as_text(&document.into(), Paint::Plain)
}

#[test]
fn a_copy_is_told_in_few_lines() {
    let expected = "\
run7 and 1 other source -> dtn@dtn1.example.org:/store/2026
copied      1201 files, 31 folders, 4 links; 8.04 GB in 2 min: 536 Mbit/s
there       1.10 GB there already, 1 whole file among them
holes       1.00 GB of files; they stay holes and were not sent
hard links  12 names shared files at the source; each became a file of its own
network     mostly 12 streams, RTT 188.1 ms, 0.26 % given to a second stream, 2
            streams replaced
outages     the far end was gone for 10.0 s
time        86 % the full link, 8 % the far end was gone, 4 % the sender's disk,
            2 % starting
Limited by the full link for 86 % of the time: four more streams brought 1 % and
the round trip rose by 22 ms.
Nothing here makes it faster; a link with a higher rate would.
2 files were not copied:
- run7/private.key: no right to read it (run as its owner, or ask for read
  access)
- run7/daq.log: it grew from 81920 to 86016 bytes while it was read
";
    assert_eq!(shown(&synthetic::copy().body), expected);
}

#[test]
fn what_each_pair_of_addresses_carried_is_named() {
    let mut copy = synthetic::copy().body;
    let pair = |addresses: &str, share: f64, gone: Option<f64>| PairShare {
        addresses: addresses.to_owned(),
        wire_bytes: (share * 1e9) as u64,
        share_ratio: Some(share),
        gone_from_seconds: gone,
    };
    copy.pairs = vec![
        pair("10.0.1.2", 0.26, Some(12.0)),
        pair("10.0.2.1=10.0.2.2", 0.74, None),
    ];
    let said = pairs(&copy).unwrap();
    let expected = "10.0.2.1=10.0.2.2 carried 74 %; 10.0.1.2 carried 26 %, gone from 12.0 s on";
    assert_eq!(said, expected);
    assert!(shown(&copy).contains("\naddresses "));
}

#[test]
fn a_dry_run_says_what_would_be_copied() {
    let mut copy = synthetic::copy().body;
    copy.asked.dry_run = true;
    let shown = shown(&copy);
    assert!(
        shown.contains("would copy  1203 files, 8.04 GB\n"),
        "{shown}"
    );
}

#[test]
fn many_failures_are_told_by_their_number() {
    let mut copy = synthetic::copy().body;
    copy.failed = vec![copy.failed[0].clone(); 300];
    let shown = shown(&copy);
    let lines = shown.lines().filter(|line| line.starts_with("- "));
    assert_eq!(lines.count(), FAILURES_MAX + 1);
    assert!(shown.contains("- and 290 more"));
    assert_eq!(failures_title(&copy).unwrap(), "300 files were not copied");
}

#[test]
fn folders_that_were_not_copied_are_no_files() {
    let mut copy = synthetic::copy().body;
    copy.failed[0].name = "run7/raw/".to_owned();
    let title = |copy: &Copy| failures_title(copy).unwrap();
    assert_eq!(title(&copy), "1 file and 1 folder were not copied");
    copy.failed.truncate(1);
    assert_eq!(title(&copy), "1 folder was not copied");
}

#[test]
fn names_of_strangers_do_not_steer_the_terminal() {
    let mut copy = synthetic::copy().body;
    copy.failed[0].name = "a\x1b[2Jb\nc".to_owned();
    copy.destination = "x\x1b]0;y".to_owned();
    assert!(!shown(&copy).contains('\x1b'));
}

#[test]
fn a_limit_below_half_of_the_time_is_that_of_the_data() {
    let mut copy = synthetic::copy().body;
    let limit = copy.limit.as_mut().unwrap();
    limit.share_ratio = 0.15;
    let told = sentences(&copy).remove(0);
    let begins = "While data flowed, it was limited by the full link: four more";
    assert!(told.starts_with(begins), "{told}");
    copy.limit.as_mut().unwrap().by = Limit::Several;
    let told = sentences(&copy).remove(0);
    assert!(told.starts_with("No single part limited it: "), "{told}");
}

#[test]
fn waiting_for_a_place_is_no_part_of_the_rate() {
    let mut copy = synthetic::copy().body;
    copy.time[1].to = CopyPhase::Queued;
    copy.elapsed_seconds = 1_200.0;
    let page = shown(&copy);
    assert!(page.contains("8.04 GB in 18 min: "), "{page}");
    assert!(page.contains("it waited 2 min for its turn"), "{page}");
}

#[test]
fn marks_are_named_where_there_were_any() {
    let mut copy = synthetic::copy().body;
    assert!(!network(&copy).unwrap().contains("marked"));
    for (reading, share) in copy
        .readings
        .iter_mut()
        .zip([0.0, 0.03].into_iter().cycle())
    {
        reading.mark_echoed_ratio = Some(share);
    }
    let network = network(&copy).unwrap();
    assert!(
        network.contains("1.5 % of the segments marked (ECN)"),
        "{network}"
    );
}

#[test]
fn the_number_of_streams_names_its_moment() {
    let mut copy = synthetic::copy().body;
    copy.streams = 59;
    let network = network(&copy).unwrap();
    assert!(
        network.starts_with("mostly 59 streams, 12 at the end, "),
        "{network}"
    );
}

#[test]
fn progress_fits_two_lines_of_eighty_columns() {
    let events = synthetic::events();
    let line = events.iter().find_map(|line| match line {
        CopyEvent::Progress(progress) => Some(*progress),
        _ => None,
    });
    let mut line = line.unwrap();
    let (done, how) = progress(&line);
    assert_eq!(done, "2.40 GB of 9.14 GB, 300 of 1204 files, 1 min left");
    // By the rule in `record::synthetic`: 12 streams of 54 Mbit/s are 648 Mbit/s, four half seconds
    // after the start in full; the 40th half second has 90 + 40 * 7 mod 20 = 90 % of that, 583.2
    // Mbit/s, and a round trip of 165 + 12 * 2 ms.
    assert_eq!(
        how,
        "583 Mbit/s, 12 streams now, RTT 189.0 ms, limited by the network"
    );
    line.files_total = 1_000_000;
    line.files_done = 999_999;
    line.limited_by = Some(Limit::ReceiverProcessor);
    let (done, how) = progress(&line);
    assert!(
        done.chars().count() <= 70 && how.chars().count() <= 78,
        "{done}\n{how}"
    );
}
