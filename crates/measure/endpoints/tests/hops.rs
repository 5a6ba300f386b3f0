//! Hops and path MTU over emulated links in a row. These need root; without it they are skipped.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use emu::{FAR_ADDRESS, Network};
use endpoints::{PathProbes, Server, ServerLimits};
use netpath::PathSpec;
use observe::{Fault, Probes, ProbesError, RunObserver, Trace, TracePlan, TraceProtocol};
use probe_net::Tracer;
use units::{Address, Bytes, Span};

/// Delays of 3, 5 and 2 ms one way.
fn three_links(middle: &str, hosts: &str) -> PathSpec {
    let link = |delay: u64, more: &str| {
        format!(
            "rate = \"50Mbit/s\"\ndelay = \"{delay}ms\"\n\
             queue = {{ kind = \"drop-tail\", limit = \"100packets\" }}\n{more}\n"
        )
    };
    let text = format!(
        "[forward]\n{}[[before]]\n{}[[beyond]]\n{}{hosts}",
        link(5, middle),
        link(3, ""),
        link(2, "")
    );
    PathSpec::from_toml("test", &text).unwrap()
}

fn plan(protocol: TraceProtocol) -> TracePlan {
    TracePlan {
        protocol,
        rounds: 3,
        hops_max: 30,
        patience: Span::from_secs(1),
    }
}

/// The three links as they are, over IPv6 in every second case.
fn plain(case: u64) -> PathSpec {
    let mut path = three_links("", "");
    path.hosts.ipv6 = testkit::is_ipv6(case);
    path
}

/// The far host's address.
fn far_address(path: &PathSpec) -> IpAddr {
    emu::addresses(&path.hosts)[1]
}

/// A server in the far namespace, until it is dropped.
struct Serving {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<std::io::Result<()>>>,
    address: SocketAddr,
}

impl Serving {
    fn at(network: &Network) -> Self {
        Self::on(network, FAR_ADDRESS.into())
    }

    fn on(network: &Network, far: IpAddr) -> Self {
        let far = SocketAddr::new(far, 0);
        let server = network
            .far()
            .run(|| Server::bind(far, ServerLimits::default()));
        let server = server.unwrap().unwrap();
        let (address, stop) = (server.address(), Arc::new(AtomicBool::new(false)));
        let told = Arc::clone(&stop);
        let thread = network
            .far()
            .spawn("server", move || server.run(&told, &|_| ()));
        Serving {
            stop,
            thread: Some(thread.unwrap()),
            address,
        }
    }

    fn probes(&self, network: &Network) -> PathProbes {
        let address: Address = self.address.to_string().parse().unwrap();
        network
            .near()
            .run(|| PathProbes::connect(&address, &mut ()))
            .unwrap()
            .unwrap()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// The address that answered at each hop.
fn routers(trace: &Trace) -> Vec<Option<IpAddr>> {
    let from = |hop: &observe::Hop| hop.probes.iter().flatten().next().map(|answer| answer.from);
    trace.hops.iter().map(from).collect()
}

fn expected(path: &PathSpec) -> Vec<Option<IpAddr>> {
    let router = |link| match path.hosts.ipv6 {
        true => IpAddr::from(Ipv6Addr::new(0x2001, 2, 0, link, 0, 0, 0, 2)),
        false => IpAddr::from(Ipv4Addr::new(198, 18, link as u8, 2)),
    };
    [router(1), router(2), far_address(path)].map(Some).to_vec()
}

#[test]
fn every_protocol_sees_the_routers_and_then_the_server() {
    if !testkit::can_emulate() {
        return;
    }
    for case in 0..2 {
        let path = plain(case);
        let network = Network::up(&path, 1).unwrap();
        let serving = Serving::on(&network, far_address(&path));
        let mut probes = serving.probes(&network);
        for protocol in TraceProtocol::ALL {
            let trace = network
                .near()
                .run(|| probes.trace(&plan(protocol), &mut ()));
            let trace = trace.unwrap().unwrap();
            assert!(trace.reached && trace.one_flow, "{protocol:?}");
            assert_eq!(routers(&trace), expected(&path), "{protocol:?}");
            for (hop, delay) in trace.hops.iter().zip([3, 8, 10]) {
                let rtts = hop.probes.iter().map(|probe| probe.unwrap().rtt);
                let rtt_min = rtts.min().unwrap();
                // There and back; nothing answers before that.
                assert!(
                    rtt_min >= Span::from_millis(2 * delay),
                    "{protocol:?} {rtt_min}"
                );
                assert_eq!(hop.probes.len(), 3);
            }
        }
    }
}

#[test]
fn a_foreign_host_is_reached_too() {
    if !testkit::can_emulate() {
        return;
    }
    let path = plain(testkit::turn());
    let network = Network::up(&path, 1).unwrap();
    let far = SocketAddr::new(far_address(&path), 5201);
    let mut tracer = Tracer::to(far.into(), None);
    for protocol in [TraceProtocol::Udp, TraceProtocol::Tcp] {
        // Neither port has a listener: an ICMP message and a reset are answers.
        let trace = network.near().run(|| tracer.trace(&plan(protocol), &()));
        let trace = trace.unwrap().unwrap();
        assert!(trace.reached, "{protocol:?}");
        assert_eq!(routers(&trace), expected(&path), "{protocol:?}");
    }
}

#[test]
fn a_program_never_hears_of_the_tcp_probes_to_its_port() {
    if !testkit::can_emulate() {
        return;
    }
    let path = plain(testkit::turn());
    let network = Network::up(&path, 1).unwrap();
    let listener = network
        .far()
        .run(|| TcpListener::bind((far_address(&path), 0)));
    let listener = listener.unwrap().unwrap();
    listener.set_nonblocking(true).unwrap();
    let mut tracer = Tracer::to(listener.local_addr().unwrap().into(), None);
    let trace = network
        .near()
        .run(|| tracer.trace(&plan(TraceProtocol::Tcp), &()));
    assert!(trace.unwrap().unwrap().reached);
    // Every probe was answered and reset a whole trace ago, or 10 ms before this at the least.
    std::thread::sleep(std::time::Duration::from_millis(100));
    let heard = listener.accept().map(|_| ()).map_err(|error| error.kind());
    assert_eq!(heard, Err(std::io::ErrorKind::WouldBlock));
}

#[test]
fn the_path_mtu_is_confirmed_by_the_server() {
    if !testkit::can_emulate() {
        return;
    }
    let narrow = "mtu = 1200";
    let jumbo = "[hosts]\nmtu = 4000\n";
    // The last: the router before the narrow link says what fits.
    for (link, hosts, expected) in [("", "", 1_500), ("", jumbo, 4_000), (narrow, "", 1_200)] {
        let network = Network::up(&three_links(link, hosts), 1).unwrap();
        let serving = Serving::at(&network);
        let mut probes = serving.probes(&network);
        let found = network.near().run(|| probes.path_mtu(&mut ()));
        let found = found.unwrap().unwrap();
        assert_eq!(found.bytes, Bytes::new(expected));
        assert!(found.confirmed);
    }
}

#[test]
fn a_black_hole_of_large_packets_is_told_from_a_narrow_path() {
    if !testkit::can_emulate() || !testkit::has_program("nft") {
        return;
    }
    for is_silent in [false, true] {
        let network = Network::up(&three_links("mtu = 1200", ""), 1).unwrap();
        if is_silent {
            // Nothing says what fits: as behind a firewall that drops all of ICMP.
            let rules = "add table ip t; add chain ip t i { type filter hook input priority 0; }; \
                         add rule ip t i icmp type destination-unreachable drop";
            let nft = || std::process::Command::new("nft").arg(rules).status();
            assert!(network.near().run(nft).unwrap().unwrap().success());
        }
        let serving = Serving::at(&network);
        let mut probes = serving.probes(&network);
        let found = network.near().run(|| probes.path_mtu(&mut ()));
        let found = found.unwrap().unwrap();
        assert_eq!(found.bytes, Bytes::new(1_200));
        assert_eq!(found.vanishing, is_silent.then_some(Bytes::new(1_500)));
        assert_eq!(found.segment_max(FAR_ADDRESS.into()), Bytes::new(1_160));
    }
}

#[test]
fn losses_on_the_way_are_no_limit_to_the_size() {
    if !testkit::can_emulate() {
        return;
    }
    let network = Network::up(
        &three_links("loss = { kind = \"random\", rate = 0.1 }", ""),
        7,
    )
    .unwrap();
    let serving = Serving::at(&network);
    let mut probes = serving.probes(&network);
    let found = network.near().run(|| probes.path_mtu(&mut ()));
    // Six losses of a probe in a row, which a wrong result takes, come once in ten thousand times
    // at 19 %.
    assert_eq!(found.unwrap().unwrap().bytes, Bytes::new(1_500));
}

/// Has had enough from the beginning.
struct Impatient;

impl RunObserver for Impatient {
    fn is_cancelled(&self) -> bool {
        true
    }
}

#[test]
fn a_cancelled_trace_is_none() {
    let mut tracer = Tracer::to(SocketAddr::new(testkit::loopback(), 9).into(), None);
    let cancelled = |outcome: Result<(), ProbesError>| match outcome {
        Err(ProbesError::Failed(error)) => error.fault == Fault::Cancelled,
        _ => false,
    };
    let traced = tracer.trace(&plan(TraceProtocol::Udp), &Impatient);
    assert!(cancelled(traced.map(drop)));
    assert!(cancelled(tracer.path_mtu(&Impatient).map(drop)));
}

#[test]
fn this_host_itself_is_one_hop_away() {
    // Needs no rights at all.
    let here = testkit::loopback();
    let mut tracer = Tracer::to(SocketAddr::new(here, 9).into(), None);
    let once = |protocol| TracePlan {
        rounds: 1,
        ..plan(protocol)
    };
    for protocol in [TraceProtocol::Udp, TraceProtocol::Tcp] {
        let trace = tracer.trace(&once(protocol), &()).unwrap();
        assert!(trace.reached, "{protocol:?}");
        assert_eq!(routers(&trace), [Some(here)]);
    }
}
