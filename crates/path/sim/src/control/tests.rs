//! What the tests of several controls share.

use super::*;

impl Acked {
    /// So many segments acknowledged at the beginning of time; nothing else is known.
    pub(crate) fn of(segments: u32) -> Self {
        Acked {
            now: Time::ZERO,
            delivered: segments,
            growth: f64::from(segments),
            round_trip: None,
            round_trip_smoothed: Span::ZERO,
            round_trip_min: Span::MAX,
            pipe: 0,
            una: 0,
            next: 0,
            lost: 0,
            must_not_grow: false,
            in_recovery: false,
            after_timeout: false,
        }
    }
}

impl Facts {
    /// Segments of 1500 bytes and a share of so much.
    pub(crate) fn of(share: Rate) -> Self {
        Facts {
            segment: Bytes::new(1500),
            initial_window: 10,
            share,
            seed: 1,
        }
    }
}

/// Whether a timeout says nothing of its rate.
fn keeps_its_rate(variant: Variant) -> bool {
    [
        Variant::PathModel,
        Variant::Udt,
        Variant::Rbudp,
        Variant::Netblt,
    ]
    .contains(&variant)
}

#[test]
fn a_timeout_leaves_one_segment() {
    for variant in Variant::ALL {
        if keeps_its_rate(variant) {
            continue;
        }
        let mut control = Control::new(variant, &Facts::of(Rate::from_bits_per_second(1)));
        let mut window = Window::new(40);
        control.on_timeout(&mut window, Time::ZERO);
        assert_eq!(window.size, 1.0, "{variant}");
    }
}

#[test]
fn no_window_grows_while_losses_are_repaired() {
    for variant in Variant::ALL {
        if keeps_its_rate(variant) || variant == Variant::Bbr {
            continue;
        }
        let mut control = Control::new(variant, &Facts::of(Rate::from_bits_per_second(1)));
        let mut window = Window::new(10);
        let acked = Acked {
            must_not_grow: true,
            in_recovery: true,
            round_trip: Some(Span::from_millis(40)),
            round_trip_min: Span::from_millis(40),
            una: 5,
            pipe: 10,
            ..Acked::of(1)
        };
        control.on_ack(&mut window, &acked);
        assert_eq!(window.size, 10.0, "{variant}");
    }
}
