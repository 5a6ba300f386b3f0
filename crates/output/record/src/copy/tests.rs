use copy_protocol::{CopyEvent, Name};
use units::{Bytes, Span, Time};

use super::*;
use crate::synthetic;

fn lines() -> Vec<String> {
    let events = synthetic::events();
    let line = |event: &CopyEvent| event.to_line();
    events.iter().map(line).collect()
}

#[test]
fn an_event_is_one_line_that_comes_back() {
    for (line, event) in lines().iter().zip(synthetic::events()) {
        assert!(line.ends_with('\n') && line.matches('\n').count() == 1);
        let back: CopyEvent = serde_json::from_str(line).unwrap();
        assert_eq!(back, event);
    }
}

#[test]
fn scripts_find_what_they_look_for_in_events() {
    let published = lines().into_iter().find(|line| line.contains("published"));
    let expected = format!(
        "{{\"event\":\"published\",\"at_seconds\":20.5,\"name\":\"run7/hits-0001.root\",\
         \"bytes\":21000000,\"blake3\":\"{}\"}}\n",
        "07".repeat(32)
    );
    assert_eq!(published.unwrap(), expected);
    let failed = lines().into_iter().find(|line| line.contains("\"failed\""));
    let failed = failed.unwrap();
    assert!(failed.contains("\"kind\":\"permission\""), "{failed}");
    assert!(failed.contains("\"name\":\"run7/private.key\""), "{failed}");
}

#[test]
fn a_line_break_in_a_name_stays_in_its_line() {
    let event = CopyEvent::WouldCopy {
        name: Name::new(b"a\nb".to_vec()).unwrap(),
        bytes: Bytes::new(1),
    };
    let line = event.to_line();
    assert_eq!(line.matches('\n').count(), 1);
}

#[test]
fn names_that_look_alike_are_told_apart() {
    let told = |bytes: &[u8]| FileName::from(&Name::new(bytes.to_vec()).unwrap());
    assert_eq!(told("é/plain".as_bytes()).name_bytes, None);
    let (steering, spelt) = (told(b"a\x1b"), told(b"a\\x1b"));
    assert_eq!(steering.name, spelt.name);
    assert_eq!(steering.name_bytes.as_deref(), Some("YRs="));
    assert_eq!(spelt.name_bytes, None);
    assert_eq!(told(b"\xff").name_bytes.as_deref(), Some("/w=="));
}

#[test]
fn further_tries_belong_to_the_same_outage() {
    let body = synthetic::copy().body;
    assert_eq!(body.outages.len(), 1);
    assert_eq!(body.outages[0].at_seconds, 60.0);
    assert_eq!(body.outages[0].until_seconds, Some(70.0));
}

#[test]
fn the_first_plan_counts() {
    let plan = |files| CopyEvent::Planned {
        at: Time::ZERO,
        files,
        folders: 0,
        links: 0,
        bytes: Bytes::new(9),
        present: Bytes::ZERO,
    };
    let mut log = CopyLog::default();
    log.on_event(&plan(3));
    log.on_event(&plan(2));
    let spec = synthetic::copy_spec();
    let request = Request {
        spec: &spec,
        sources: &[],
        destination: "",
    };
    let body = Copy::new(&request, log, &nothing(), None);
    assert_eq!(body.planned.unwrap().files, 3);
}

fn nothing() -> copy_protocol::Outcome {
    copy_protocol::Outcome {
        time: Vec::new(),
        took: Span::from_secs(1),
        files: 0,
        folders: 0,
        links: 0,
        skipped: 0,
        bytes: Bytes::ZERO,
        sent: Bytes::ZERO,
        holes: Bytes::ZERO,
        unchanged: Bytes::ZERO,
        linked: 0,
        on_wire: Bytes::ZERO,
        sent_again: Bytes::ZERO,
        failed: Vec::new(),
        left_out: Vec::new(),
        removed: 0,
        waiting: 0,
        reconnects: 0,
        streams_replaced: 0,
        pairs: Vec::new(),
        multipath: None,
        streams: 0,
        limit: None,
        readings: Vec::new(),
        processor: Span::ZERO,
    }
}

/// 8.04 GB in 120 s are 536 Mbit/s.
#[test]
fn goodput_is_what_was_sent_over_all_of_the_time() {
    let body = synthetic::copy().body;
    assert_eq!(body.goodput_bits_per_second, Some(536_000_000));
    let mut spec = synthetic::copy_spec();
    spec.options.dry_run = true;
    let request = Request {
        spec: &spec,
        sources: &[],
        destination: "",
    };
    let dry = Copy::new(&request, CopyLog::default(), &nothing(), None);
    assert_eq!(dry.goodput_bits_per_second, None);
}

#[test]
fn a_count_that_was_imposed_teaches_nothing() {
    let mut body = synthetic::copy().body;
    assert!(body.teaches());
    body.asked.streams = Some(2);
    assert!(!body.teaches());
    body.asked.streams = None;
    body.limit.as_mut().unwrap().by = Limit::ReceiverDisk;
    assert!(!body.teaches());
}
