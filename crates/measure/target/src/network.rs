//! An emulated path together with the traffic that shares it.

use std::net::{SocketAddr, TcpListener};

use emu::{Lateness, Network, cross_address};
use endpoints::{Background, BackgroundError, Transfers};
use link::{CrossDeed, CrossSource};
use netpath::{Cross, CrossTraffic, PathSpec, Way};
use observe::Punctuality;
use sockets::BufferLimit;
use sockets::options::StreamOptions;
use units::{Bytes, Time};
use units::{Dscp, Via};

use crate::OpenError;

/// IP and TCP headers without options: what `TCP_MAXSEG` leaves of a packet.
const HEADERS: u16 = 40;
/// More transfers of one entry in a second leave a host without ports: it has 28,232 by default,
/// and each is kept for a minute after its transfer.
const TRANSFERS_PER_SECOND_MAX: f64 = 400.0;

/// A path as its file describes it: the network, and others' streams and transfers on it. Others'
/// datagrams are part of the network.
#[derive(Debug)]
pub struct EmulatedNetwork {
    // Dropped before the network, which they run on.
    _cross: Vec<CrossTcp>,
    network: Network,
}

/// The TCP of one entry of cross traffic, until dropped.
#[derive(Debug)]
enum CrossTcp {
    Streams { _streams: Background },
    Transfers { _transfers: Transfers },
}

impl EmulatedNetwork {
    /// Brings up `path`; `seed` decides which packets are lost on the wire, and when others send.
    ///
    /// # Errors
    /// When the user lacks a right, the kernel lacks a part, or others ask for more than a host
    /// carries.
    pub fn up(path: &PathSpec, seed: u64) -> Result<Self, OpenError> {
        check_transfers(path)?;
        emu::enter_user_namespace()?;
        let network = Network::up(path, seed)?;
        let entries = path.cross.iter().enumerate();
        let with_tcp = entries.filter(|(_, cross)| !cross.traffic.is_datagrams());
        let start = |(entry, cross)| start_cross(&network, path, entry, cross, seed);
        let cross = with_tcp.map(start).collect::<Result<_, _>>()?;
        Ok(EmulatedNetwork {
            _cross: cross,
            network,
        })
    }

    /// How punctual the network has been; `None` before the first packet.
    ///
    /// * `path`: that of the network.
    pub fn punctuality(&self, path: &PathSpec) -> Option<Punctuality> {
        let bound = Punctuality::bound(path.base_rtt());
        let ways = Way::BOTH.map(|way| self.network.books(way).lateness);
        Some(Punctuality {
            packets: ways.iter().map(Lateness::packets).sum(),
            late: ways.iter().map(|way| way.later_than(bound)).sum(),
            bound,
            worst: ways.iter().filter_map(|way| way.quantile(1.0)).max()?,
        })
    }

    /// The namespaces and the books.
    pub fn network(&self) -> &Network {
        &self.network
    }
}

/// Refuses transfers that come faster than a host takes connections.
fn check_transfers(path: &PathSpec) -> Result<(), OpenError> {
    for (number, cross) in (1..).zip(&path.cross) {
        match cross.traffic {
            CrossTraffic::Transfers { per_second, .. } if per_second > TRANSFERS_PER_SECOND_MAX => {
                return Err(OpenError::TooManyTransfers {
                    entry: number,
                    per_second,
                    most: TRANSFERS_PER_SECOND_MAX,
                });
            }
            _ => {}
        }
    }
    Ok(())
}

/// Starts the streams or transfers of a group of others.
fn start_cross(
    network: &Network,
    path: &PathSpec,
    entry: usize,
    cross: &Cross,
    seed: u64,
) -> Result<CrossTcp, OpenError> {
    let failed = |source: BackgroundError| OpenError::Cross {
        entry: entry + 1,
        source,
    };
    let address = SocketAddr::from((cross_address(entry), 0));
    let listener = network.far().run(|| TcpListener::bind(address))?;
    let listener = listener.map_err(|error| failed(error.into()))?;
    let options = options_of(path, cross);
    let started = match cross.traffic {
        CrossTraffic::Streams { streams, .. } => network.near().run(|| {
            let streams = Background::start(&listener, streams, &options)?;
            Ok(CrossTcp::Streams { _streams: streams })
        }),
        _ => network.near().run(|| {
            let arrivals = arrivals(path, entry, cross, seed);
            let transfers = Transfers::start(listener, options, arrivals)?;
            Ok(CrossTcp::Transfers {
                _transfers: transfers,
            })
        }),
    };
    started?.map_err(failed)
}

/// What both ends of others' connections are asked to use.
fn options_of(path: &PathSpec, cross: &Cross) -> StreamOptions {
    let congestion = cross.congestion.as_ref();
    // They pass the main link alone, of which the host knows nothing.
    let links = [&path.forward, &path.reverse].into_iter();
    let mtu = links.filter_map(|link| link.mtu).min();
    StreamOptions {
        window: cross.traffic.window(),
        limit: BufferLimit::Lifted,
        congestion: Some(congestion.unwrap_or(&path.hosts.congestion).clone()),
        segment: mtu.map(|mtu| Bytes::new((mtu - HEADERS).into())),
        via: Via {
            dscp: Dscp::new(cross.class.dscp()),
            ..Via::default()
        },
        ..StreamOptions::default()
    }
}

/// When transfers begin and how large they are, as a simulation with the same seed has them.
fn arrivals(
    path: &PathSpec,
    entry: usize,
    cross: &Cross,
    seed: u64,
) -> impl Iterator<Item = (Time, Bytes)> + Send + use<> {
    let sources = CrossSource::of(cross, entry, path.cross_datagram(), seed);
    sources.into_iter().flat_map(|mut source| {
        let mut next = source.begin();
        std::iter::from_fn(move || {
            let begin = next;
            let (deed, after) = source.act(begin);
            next = after;
            match deed {
                CrossDeed::Transfer(size) => Some((begin, size)),
                _ => None,
            }
        })
    })
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use errors::{Fault, Hint};

    use super::*;

    const ROW: &str = "[forward]\nrate = \"20Mbit/s\"\ndelay = \"5ms\"\n\
        queue = { kind = \"strict\", limit = \"50packets\" }\nmtu = 1400\n\
        [[before]]\nrate = \"100Mbit/s\"\ndelay = \"1ms\"\n\
        queue = { kind = \"drop-tail\", limit = \"100packets\" }\n\
        [[beyond]]\nrate = \"100Mbit/s\"\ndelay = \"1ms\"\n\
        queue = { kind = \"drop-tail\", limit = \"100packets\" }\n";

    fn row(cross: &str) -> PathSpec {
        PathSpec::from_toml("mine", &format!("{ROW}[[cross]]\n{cross}")).unwrap()
    }

    #[test]
    fn transfers_that_no_host_keeps_up_with_are_refused_with_their_entry() {
        let few = "kind = \"transfers\"\nper_second = 400\nmean_size = \"10B\"\nshape = 2\n\
                   window = \"64KiB\"\n";
        let many = few.replace("400", "401");
        let path = row(&format!("{few}[[cross]]\n{many}"));
        let error = EmulatedNetwork::up(&path, 1).unwrap_err();
        assert_eq!(
            error.to_string(),
            "cross traffic 2 asks for 401 transfers a second, and an emulated host carries 400"
        );
        assert_eq!(error.fault(), Fault::Request);
        assert!(error.hint().unwrap().contains("`per_second`"));
    }

    /// Packets that the main link and the others have carried on the way of the data when `enough`
    /// is true of the main link's.
    fn carried(path: &PathSpec, seconds: u64, enough: u64) -> [u64; 3] {
        let emulated = EmulatedNetwork::up(path, 1).unwrap();
        let network = emulated.network();
        let books = || network.books(Way::Forward).links;
        let packets =
            |at: usize| books()[at].own.delivered.packets + books()[at].load.delivered.packets;
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs(seconds) && packets(1) < enough {
            std::thread::sleep(Duration::from_millis(20));
        }
        std::thread::sleep(Duration::from_millis(20));
        [packets(0), packets(1), packets(2)]
    }

    #[test]
    fn all_cross_traffic_shares_the_main_link_of_a_row_alone() {
        if !testkit::can_emulate() {
            return;
        }
        let tail = "class = \"scavenger\"\nextra_delay = \"3ms\"";
        for cross in [
            "streams = 2\nwindow = \"64KiB\"",
            "kind = \"on-off\"\nsources = 5\nrate = \"4Mbit/s\"\non = \"10ms\"\noff = \"10ms\"",
            "kind = \"transfers\"\nper_second = 50\nmean_size = \"20kB\"\nshape = 2\n\
             window = \"64KiB\"",
        ] {
            let [before, main, beyond] = carried(&row(&format!("{cross}\n{tail}")), 10, 500);
            assert!(main >= 500, "{cross}: {main}");
            assert_eq!([before, beyond], [0, 0], "{cross}");
        }
    }
}
