use record::copy::CopyEventLine;
use record::synthetic;

use super::*;
use crate::text::copy::progress;
use crate::{Paint, text as shown_as_text};

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
there       1 file there already, 1.10 GB in all
holes       1.00 GB of files; they stay holes and were not sent
hard links  12 names shared files at the source; each became a file of its own
network     mostly 12 streams, RTT 188.1 ms, 0.26 % given to a second stream, 2
            streams replaced
outages     the far end was gone for 10.0 s
Limited by the full link for 93 % of the time: four more streams brought 1 % and
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
fn where_no_part_has_half_of_the_time_the_largest_are_listed() {
    let mut copy = synthetic::copy().body;
    let limit = copy.limit.as_mut().unwrap();
    limit.by = Limit::Several;
    limit.advice = None;
    let part = |by, share_ratio| LimitShare { by, share_ratio };
    limit.shares = vec![
        part(Limit::SenderDisk, 0.41),
        part(Limit::Network, 0.33),
        part(Limit::Host, 0.02),
    ];
    let expected = "No single part limited it: the sender's disk for 41 % of the time, the network for 33 % of the time.";
    assert_eq!(sentences(&copy), [expected]);
}

#[test]
fn a_far_end_that_was_gone_for_long_is_named_before_the_limit() {
    let mut copy = synthetic::copy().body;
    copy.outages[0].until_seconds = Some(copy.outages[0].at_seconds + 0.75 * copy.elapsed_seconds);
    let told = sentences(&copy).remove(0);
    let begins = "The far end was gone for 75 % of the time. Of the rest: Limited by the full link";
    assert!(told.starts_with(begins), "{told}");
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
    let lines = synthetic::events()
        .iter()
        .map(CopyEventLine::from)
        .collect::<Vec<_>>();
    let line = lines.iter().find_map(|line| match line {
        CopyEventLine::Progress(progress) => Some(*progress),
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
