//! The addresses that a far end tells, as pairs over which the streams are dealt.
//!
//! Nothing that it tells is believed further than that a connection is tried: a stream goes only to
//! an end with the certificate of the control connection.

use std::net::IpAddr;
use std::time::Duration;

use copy_net::StreamDialer;
use copy_protocol::{Message, Opening, PAIRS_MAX};
use sockets::interfaces;
use units::{AddressPair, Via, can_be_dialed};

use crate::copy_stats::CopyStats;
use crate::session::{MessageLoop, SessionEnd, protocol};

/// How long the far end may take to tell them.
const TOLD_MAX: Duration = Duration::from_secs(60);

/// Hears them, and has the streams dealt over them: in all sessions over those of the first one.
/// Returns how many pairs there are.
///
/// * `(streams, peer)`: how streams go to where the far end answered.
pub(super) fn deal_over(
    message_loop: &MessageLoop,
    opening: &Opening,
    (streams, peer): (&StreamDialer, IpAddr),
    stats: &mut CopyStats<'_>,
    stopped: &dyn Fn() -> Option<SessionEnd>,
) -> Result<u16, SessionEnd> {
    let told = match message_loop.await_first(TOLD_MAX, stopped)? {
        Message::Addresses(told) => told,
        Message::Failed(problem) => return Err(SessionEnd::Problem(problem)),
        other => return Err(protocol(format!("{other:?} tells no addresses"))),
    };
    if stats.pair_addresses().is_empty() {
        let own = interfaces::addresses().unwrap_or_default();
        let own: Vec<IpAddr> = own.iter().map(|one| one.address).collect();
        let mut pairs = pairs_of(&told, peer, streams.via(), &own);
        pairs.truncate(pairs_max(opening).into());
        tracing::info!(?told, ?pairs, "the far end has told its addresses");
        stats.deal_over(&pairs);
    }
    Ok(u16::try_from(stats.pair_addresses().len()).unwrap_or(u16::MAX))
}

/// The most pairs of a copy that asks for the addresses of the far end: there is a stream on each.
pub(crate) fn pairs_max(opening: &Opening) -> u16 {
    opening
        .streams
        .map_or(PAIRS_MAX, |streams| streams.min(PAIRS_MAX))
}

/// Where the far end answered, which stays whatever it is, and behind it what it told, as far as
/// connections may go there.
///
/// * `via`: how they leave this host.
/// * `own`: the addresses of this host. Other hosts have some of them too, those of bridges for
///   virtual machines, say, and what goes there never leaves.
fn pairs_of(told: &[IpAddr], peer: IpAddr, via: &Via, own: &[IpAddr]) -> Vec<AddressPair> {
    let peer = peer.to_canonical();
    let is_same_host = peer.is_loopback() || own.contains(&peer);
    let pair = |far| AddressPair {
        source: via.source.clone(),
        far,
    };
    let mut pairs = vec![pair(peer)];
    for far in told.iter().map(IpAddr::to_canonical) {
        let may_be_there = is_same_host || !own.contains(&far);
        let may_be_there = may_be_there && (is_same_host || is_private(peer) || !is_private(far));
        let is_new = pairs.iter().all(|pair| pair.far != far);
        if is_new && may_be_there && can_be_dialed(far, is_same_host) && via.fits(&far) {
            pairs.push(pair(far));
        }
    }
    pairs
}

/// Whether it means something within a site alone. A far end out in the Internet that tells such an
/// address may mean a host of this site.
fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => v4.is_private(),
        IpAddr::V6(v6) => v6.is_unique_local(),
    }
}

#[cfg(test)]
mod tests {
    use copy_protocol::{CopyDirection, CopyOptions};
    use units::Family;

    use super::*;

    /// The addresses of the pairs of a host with an own one and a bridge.
    fn dialed(told: &[&str], peer: &str, via: &Via) -> Vec<String> {
        let read = |text: &str| -> IpAddr { text.parse().unwrap() };
        let told: Vec<IpAddr> = told.iter().map(|text| read(text)).collect();
        let own = ["127.0.0.1", "192.0.2.1", "172.17.0.1"].map(read);
        let pairs = pairs_of(&told, read(peer), via, &own);
        pairs.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn private_addresses_are_dialed_where_the_far_end_answered_at_one() {
        let (told, any) = (["10.0.2.2", "fd00::2", "203.0.113.2"], Via::default());
        assert_eq!(dialed(&told, "10.0.1.2", &any)[1..], told);
        assert_eq!(dialed(&told, "192.0.2.7", &any)[1..], ["203.0.113.2"]);
    }

    #[test]
    fn what_leads_elsewhere_than_to_the_far_end_is_not_dialed() {
        let told = [
            "203.0.113.2",
            "192.0.2.7",
            "203.0.113.2",
            "::ffff:203.0.113.2",
            "127.0.0.1",
            "169.254.1.1",
            "fe80::7",
            "ff02::1",
            "255.255.255.255",
            "0.0.0.0",
            "172.17.0.1",
            "192.0.2.1",
            "2001:db8::7",
        ];
        let any = Via::default();
        let dialed_from_afar = dialed(&told, "::ffff:192.0.2.7", &any);
        assert_eq!(
            dialed_from_afar,
            ["192.0.2.7", "203.0.113.2", "2001:db8::7"]
        );
        // Behind an address that others translate, the far end does not know it.
        assert_eq!(dialed(&[], "198.51.100.9", &any), ["198.51.100.9"]);
        assert_eq!(
            dialed(&["fe80::7", "fe80::8"], "fe80::7", &any),
            ["fe80::7"]
        );
    }

    #[test]
    fn own_addresses_are_dialed_on_the_same_host_alone() {
        let told = ["127.0.0.1", "192.0.2.1"];
        let any = Via::default();
        assert_eq!(
            dialed(&told, "127.0.0.2", &any),
            ["127.0.0.2", "127.0.0.1", "192.0.2.1"]
        );
        assert_eq!(dialed(&told, "192.0.2.1", &any), ["192.0.2.1", "127.0.0.1"]);
    }

    #[test]
    fn pairs_leave_as_all_connections_do() {
        let via = Via {
            source: "192.0.2.1".parse().unwrap(),
            ..Via::default()
        };
        let told = ["203.0.113.2", "2001:db8::7"];
        let pairs = ["192.0.2.1=192.0.2.7", "192.0.2.1=203.0.113.2"];
        assert_eq!(dialed(&told, "192.0.2.7", &via), pairs);
        let via = Via {
            family: Some(Family::V6),
            ..Via::default()
        };
        assert_eq!(
            dialed(&told, "2001:db8::1", &via),
            ["2001:db8::1", "2001:db8::7"]
        );
    }

    #[test]
    fn there_are_no_more_pairs_than_streams() {
        let with = |streams| {
            let mut opening = Opening::new(CopyDirection::Put, Vec::new(), &CopyOptions::default());
            opening.streams = streams;
            pairs_max(&opening)
        };
        assert_eq!([with(None), with(Some(3)), with(Some(100))], [16, 3, 16]);
    }
}
