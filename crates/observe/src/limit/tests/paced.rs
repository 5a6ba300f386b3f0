//! What paced runs tell, and who asks for one.

use super::*;

/// One stream across 165 ms with 3.4 % sent again, as a search of seconds saw it on an emulated
/// path.
fn slow_start() -> Summary {
    let mut summary = summary([17.7, 1.0, 0.0, 0.0, 3.4, 166.0, 0.0, 0.0]);
    summary.rtt_unloaded = Some(Span::from_millis(165));
    summary.rtt_loaded = Some(Span::from_millis(166));
    let tcp = &mut summary.directions[0].tcp;
    tcp.rtt_min = Some(Span::from_millis(165));
    tcp.mss = Some(Bytes::new(1448));
    summary
}

fn because(paced: Option<Paced>) -> String {
    let context = Context {
        paced,
        ..Context::default()
    };
    diagnose(&slow_start(), &context).because
}

#[test]
fn who_asks_for_a_paced_run_names_the_command() {
    let text = because(None);
    assert!(
        text.contains("only a paced run would tell loss from a shallow queue: `trunkline measure HOST -P 1 --pacing 18Mbit/s`"),
        "{text}"
    );
}

#[test]
fn a_paced_run_that_was_made_is_not_asked_for() {
    // Too short to have met the losses of the other one.
    let short = Paced {
        segments: Some(10.0),
        retransmitted_share: Some(0.0),
        ..Paced::default()
    };
    let text = because(Some(short));
    assert!(!text.contains("only a paced run"), "{text}");
    assert!(
        text.contains("the paced run was too short to tell"),
        "{text}"
    );
}

#[test]
fn one_paced_stream_speaks_for_several() {
    let one = |share| Paced {
        is_one_stream: true,
        retransmitted_share: Some(share),
        ..Paced::default()
    };
    let clean = because(Some(one(0.0)));
    assert!(
        clean.contains("one paced stream lost 0 %: bursts overflow a queue"),
        "{clean}"
    );
    let lossy = because(Some(one(0.04)));
    assert!(
        lossy.contains("one paced stream lost 4.0 %: packets are lost at random"),
        "{lossy}"
    );
}

#[test]
fn a_short_run_whose_losses_cannot_go_on_says_so() {
    // Mathis: sqrt(1.5 / 0.034) = 6.6 segments each 166 ms are 0.46 Mbit/s.
    let text = because(None);
    let told = "a stream that goes on losing so much carries no more than 464 kbit/s, so these figures still hold slow start";
    assert!(text.contains(told), "{text}");
    let bbr = Context {
        congestion: Some("bbr".to_owned()),
        ..Context::default()
    };
    let text = diagnose(&slow_start(), &bbr).because;
    assert!(!text.contains("slow start"), "{text}");
    let mut long = slow_start();
    long.directions[0].steady.to = Time::ZERO + Span::from_secs(100);
    let text = diagnose(&long, &Context::default()).because;
    assert!(!text.contains("slow start"), "{text}");
}
