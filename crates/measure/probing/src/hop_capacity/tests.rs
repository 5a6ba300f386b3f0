use observe::{Hop, HopAnswer, SizedProbe, TraceProtocol};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use super::*;

fn mbps(rate: f64) -> Rate {
    Rate::from_f64(rate * 1e6)
}

fn trace(hop: IpAddr) -> Trace {
    let answer = HopAnswer {
        from: hop,
        rtt: Span::from_millis(3),
    };
    Trace {
        protocol: TraceProtocol::Udp,
        one_flow: true,
        hops: vec![
            Hop {
                distance: 1,
                probes: vec![None],
            },
            Hop {
                distance: 2,
                probes: vec![Some(answer)],
            },
        ],
        reached: true,
    }
}

/// What is drawn for one path.
struct Drawn {
    random: Pcg64,
    /// How often a link is busy when a packet comes.
    busy: f64,
    /// Mean of what hosts and routers add, in seconds.
    slowness: f64,
}

impl Drawn {
    fn new(seed: u64, busy: f64, slowness: f64) -> Self {
        Drawn {
            random: Pcg64::seed_from_u64(seed),
            busy,
            slowness,
        }
    }

    fn share(&mut self) -> f64 {
        (self.random.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.share()).ln()
    }

    /// The round trip of `size` over links of these rates, in Mbit/s, and back.
    fn rtt(&mut self, links: &[f64], size: u16) -> f64 {
        let mut seconds = 0.004 + self.exponential(self.slowness);
        for rate in links {
            seconds += f64::from(size) * 8.0 / (rate * 1e6);
            if self.share() < self.busy {
                seconds += self.exponential(0.002);
            }
        }
        seconds
    }

    /// Twenty probes of each size to the end of each link.
    fn hops(&mut self, links: &[f64]) -> Vec<SizedHop> {
        let plan = plan(
            &trace([192, 0, 2, 1].into()),
            Bytes::new(1_500),
            None,
            Span::ZERO,
        );
        let sizes = plan.unwrap().sizes;
        let hop = |distance: usize| SizedHop {
            distance: distance as u8,
            probes: (0..20 * sizes.len())
                .map(|number| {
                    let size = sizes[number % sizes.len()];
                    let rtt = Span::from_secs_f64(self.rtt(&links[..distance], size));
                    let from = [192, 0, 2, distance as u8].into();
                    let answer = Some(HopAnswer { from, rtt });
                    SizedProbe { size, answer }
                })
                .collect(),
        };
        (1..=links.len()).map(hop).collect()
    }
}

fn why(found: &HopCapacity) -> &str {
    found.unknown_because.as_deref().unwrap_or_default()
}

#[test]
fn sizes_are_those_of_which_routers_quote_the_same() {
    let plan = |hop: IpAddr, mtu| plan(&trace(hop), Bytes::new(mtu), None, Span::ZERO);
    let v4 = plan([192, 0, 2, 1].into(), 1_500).unwrap();
    assert_eq!((v4.sizes.len(), v4.distances), (16, vec![2]));
    assert_eq!((v4.sizes[0], v4.sizes[15]), (576, 1_500));
    let v6 = plan("2001:db8::1".parse().unwrap(), 1_500).unwrap();
    assert_eq!((v6.sizes[0], v6.sizes[15]), (1_280, 1_500));
    assert!(v6.sizes.windows(2).all(|two| two[0] < two[1]));
    let narrow = plan("2001:db8::1".parse().unwrap(), 1_300).unwrap_err();
    assert!(narrow.contains("1300 bytes differ too little"), "{narrow}");
}

#[test]
fn probes_take_a_tenth_of_a_narrow_link() {
    let spacing = |rate| {
        let hop = [192, 0, 2, 1].into();
        plan(&trace(hop), Bytes::new(1_500), rate, Span::ZERO)
            .unwrap()
            .spacing
    };
    assert_eq!(spacing(None), Span::from_millis(20));
    assert_eq!(spacing(Some(mbps(10.0))), Span::from_millis(12));
    assert_eq!(spacing(Some(mbps(1_000.0))), Span::from_millis(4));
    assert_eq!(spacing(Some(Rate::ZERO)), Span::from_millis(200));
}

/// The links of `three-links`, of which the middle one is busy, and hosts that take some
/// microseconds.
#[test]
fn rates_are_found_behind_queues() {
    for seed in 0..20 {
        let found = analyse(&Drawn::new(seed, 0.3, 2e-6).hops(&[1_000.0, 100.0, 622.0]));
        let narrow = found[1]
            .rate
            .unwrap_or_else(|| panic!("seed {seed}: {}", why(&found[1])));
        let off = narrow.as_f64() / 100e6 - 1.0;
        assert!(off.abs() < 0.2, "seed {seed}: {off}");
        for hop in &found {
            let Some(rate) = hop.rate else { continue };
            assert!(
                hop.low.unwrap() <= rate && rate <= hop.high.unwrap(),
                "seed {seed}"
            );
        }
    }
}

/// At least 95 %, over a hundred paths: the interval of Kendall's tau is on the safe side.
#[test]
fn intervals_hold_the_rates() {
    let (mut held, mut told) = (0, 0);
    for seed in 100..200 {
        let links = [200.0, 45.0, 155.0, 30.0];
        for (hop, rate) in analyse(&Drawn::new(seed, 0.4, 5e-6).hops(&links))
            .iter()
            .zip(links)
        {
            let Some((low, high)) = hop.low.zip(hop.high) else {
                continue;
            };
            told += 1;
            held += usize::from(low <= mbps(rate) && mbps(rate) <= high);
        }
    }
    assert!(told > 300, "{told}");
    assert!(held * 20 >= told * 19, "{held} of {told}");
}

#[test]
fn nothing_is_said_where_noise_could_have_said_it() {
    // Hosts that take a millisecond on the mean, twice what the sizes differ by.
    let found = analyse(&Drawn::new(3, 0.3, 1e-3).hops(&[1_000.0, 800.0]));
    assert!(found.iter().all(|hop| hop.rate.is_none()), "{found:?}");
    assert!(found.iter().all(|hop| !why(hop).is_empty()));
    // A link of 10 Gbit/s behind one of 10 Mbit/s.
    let found = analyse(&Drawn::new(4, 0.3, 5e-6).hops(&[10.0, 10_000.0]));
    assert!(
        found[0].rate.is_some() && found[1].rate.is_none(),
        "{found:?}"
    );
}

#[test]
fn slopes_that_fall_have_no_rate() {
    let mut hops = Drawn::new(5, 0.0, 0.0).hops(&[100.0, 100.0, 100.0]);
    // The third answers as if the second link were not there.
    hops[2].probes = Drawn::new(6, 0.0, 0.0).hops(&[100.0])[0].probes.clone();
    let found = analyse(&hops);
    assert_eq!(found[2].rate, None);
    assert_eq!(
        why(&found[2]),
        "round trips do not grow by more than to hop 2, as far as they tell"
    );
}

#[test]
fn a_silent_hop_hides_the_one_behind_it_and_no_more() {
    let mut hops = Drawn::new(7, 0.0, 0.0).hops(&[100.0, 50.0, 40.0, 30.0]);
    for probe in hops[1].probes.iter_mut().skip(20) {
        probe.answer = None;
    }
    let found = analyse(&hops);
    assert_eq!(
        why(&found[1]),
        "20 of its 320 probes were answered, which are too few"
    );
    assert_eq!(why(&found[2]), "nothing is known of hop 2");
    let last = found[3].rate.unwrap().as_f64();
    assert!((last / 30e6 - 1.0).abs() < 0.01, "{last}");
    assert_eq!((found[1].probes, found[1].answers), (320, 20));
}

#[test]
fn what_never_came_back_says_nothing() {
    assert!(analyse(&[]).is_empty());
    let silent = SizedHop {
        distance: 1,
        probes: Vec::new(),
    };
    let found = analyse(&[silent]);
    assert_eq!((found[0].rate, &found[0].address), (None, &None));
}
