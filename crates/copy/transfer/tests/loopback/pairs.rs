//! Copies whose streams are dealt over several addresses of the loopback device.

use super::*;

/// A copy of 8 MB over these pairs of addresses, slow enough for all streams to come.
fn over(direction: CopyDirection, pairs: &[&str]) -> Outcome {
    let choose = |spec: &mut CopySpec| {
        spec.pairs = pairs.iter().map(|text| text.parse().unwrap()).collect();
    };
    copied(direction, &choose, pairs)
}

/// The same over what `choose` asks for, which has to be these pairs.
fn copied(direction: CopyDirection, choose: &dyn Fn(&mut CopySpec), pairs: &[&str]) -> Outcome {
    let (near, far) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let bytes = noise(8_000_000);
    let (from, to) = match direction {
        CopyDirection::Put => (near.path().join("a"), far.path().join("b")),
        CopyDirection::Get => (far.path().join("b"), near.path().join("a")),
    };
    fs::write(from, &bytes).unwrap();
    let change = |spec: &mut CopySpec| {
        // IPv6 has one address of loopback.
        if let FarHost::Server { address, .. } = &mut spec.far.host {
            address.host = "127.0.0.1".to_owned();
        }
        choose(spec);
        spec.options.rate_max = Some("40Mbit/s".parse().unwrap());
    };
    let near = near.path().join("a");
    let outcome = run_as(&change, direction, &near, far.path(), "b").unwrap();
    assert!(fs::read(to).unwrap() == bytes);
    assert_eq!((outcome.files, outcome.reconnects), (1, 0));
    let named: Vec<String> = outcome
        .pairs
        .iter()
        .map(|one| one.pair.to_string())
        .collect();
    assert_eq!(named, pairs);
    let carried: u64 = outcome.pairs.iter().map(|one| one.carried.get()).sum();
    assert!(carried > 4_000_000, "of 8 MB and more: {outcome:?}");
    outcome
}

#[test]
fn streams_are_dealt_over_all_pairs_both_ways() {
    let pairs = ["127.0.0.1", "127.0.0.2", "127.0.0.3=127.0.0.4"];
    for direction in [CopyDirection::Put, CopyDirection::Get] {
        let outcome = over(direction, &pairs);
        for pair in &outcome.pairs {
            // More than what it takes to connect.
            assert!(pair.carried.get() > 50_000, "{direction:?}: {outcome:?}");
            assert_eq!(pair.gone, None);
        }
    }
}

/// Those of all its devices, behind the one at which it answered.
#[test]
fn streams_are_dealt_over_all_addresses_that_the_far_end_tells() {
    let at = sockets::ListenAt::from(0);
    let own = sockets::interfaces::served(&at, "127.0.0.1".parse().unwrap()).unwrap();
    let mut told = vec!["127.0.0.1".to_owned()];
    let others = own.iter().map(ToString::to_string);
    told.extend(others.filter(|one| one != "127.0.0.1").take(15));
    let told: Vec<&str> = told.iter().map(String::as_str).collect();
    for direction in [CopyDirection::Put, CopyDirection::Get] {
        let outcome = copied(direction, &|spec| spec.all_addresses = true, &told);
        for pair in &outcome.pairs {
            // More than what it takes to connect.
            assert!(pair.carried.get() > 50_000, "{direction:?}: {outcome:?}");
        }
    }
}

/// This host has no such address to send from.
#[test]
fn a_pair_that_fails_is_left_out_and_named() {
    for direction in [CopyDirection::Put, CopyDirection::Get] {
        let outcome = over(direction, &["192.0.2.1=127.0.0.2", "127.0.0.1"]);
        let [failing, other] = &outcome.pairs[..] else {
            panic!("{outcome:?}");
        };
        assert_eq!(failing.carried.get(), 0, "{direction:?}: {outcome:?}");
        assert!(failing.gone.is_some(), "{direction:?}: {outcome:?}");
        assert_eq!(other.gone, None);
    }
}

#[test]
fn without_pairs_none_are_named() {
    let (near, far) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let source = near.path().join("a");
    fs::write(&source, noise(100_000)).unwrap();
    let outcome = run(CopyDirection::Put, &source, far.path(), "b");
    assert!(outcome.pairs.is_empty());
}
