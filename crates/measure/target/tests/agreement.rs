//! The simulator beside the emulator on paths that both run. These need root; without it they are
//! skipped.

use netpath::PathSpec;
use observe::{SamplePlan, Setting, StreamCount, Target, Window};
use target::{EmulatedPath, SimulatedPath};
use units::{Rate, Span};

/// As the comparison of both in `docs/agreement.md` has it.
const TOLERANCE: f64 = 0.1;

/// Mbit/s of four streams, slow start included.
fn goodput(target: &mut dyn Target, seconds: u64) -> f64 {
    let setting = Setting::new(StreamCount::new(4).unwrap(), Window::Auto);
    let plan = SamplePlan::lasting(Span::from_secs(seconds));
    let seen = target.observe(&setting, &plan, &mut ()).unwrap();
    Rate::of(seen.bytes_delivered(), seen.duration).as_f64() / 1e6
}

fn assert_agreement(text: &str) {
    if !testkit::can_emulate() {
        return;
    }
    let mut path = PathSpec::from_toml("both", text).unwrap();
    path.hosts.ipv6 = testkit::is_ipv6(testkit::turn());
    let simulated = goodput(&mut SimulatedPath::new(&path, 1), 8);
    let emulated = goodput(&mut EmulatedPath::up(&path, 1).unwrap(), 8);
    let ratio = simulated / emulated;
    assert!(
        (ratio - 1.0).abs() < TOLERANCE,
        "{simulated} simulated, {emulated} emulated: {text}"
    );
}

const LINKS: &str = "[forward]\nrate = \"50Mbit/s\"\ndelay = \"10ms\"\n\
    queue = { kind = \"drop-tail\", limit = \"200packets\" }\n\
    [[beyond]]\nrate = \"30Mbit/s\"\ndelay = \"5ms\"\n\
    queue = { kind = \"drop-tail\", limit = \"100packets\" }\n";

#[test]
fn two_links_in_a_row() {
    assert_agreement(LINKS);
}

#[test]
fn two_links_and_others_on_the_main_one() {
    let others = "[[cross]]\nkind = \"on-off\"\nsources = 20\nrate = \"3Mbit/s\"\n\
                  on = \"100ms\"\noff = \"100ms\"\n";
    assert_agreement(&format!("{LINKS}{others}"));
}
