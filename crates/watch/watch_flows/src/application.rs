//! Which application traffic is of, by its ports.

use watch_plan::PortRange;
use watch_store::OWN_TRAFFIC;

const TCP: u8 = 6;
const UDP: u8 = 17;
const DCCP: u8 = 33;
const SCTP: u8 = 132;

/// Names, first and last port. Where both ends have one, the first row counts. A range that clients
/// of other applications may use by chance stands at the end.
const KNOWN: [(&str, u16, u16); 23] = [
    ("ftp", 20, 21),
    ("ssh", 22, 22),
    ("dns", 53, 53),
    ("http", 80, 80),
    ("https", 443, 443),
    ("smb", 445, 445),
    ("rsync", 873, 873),
    ("xrootd", 1094, 1095),
    ("irods", 1247, 1247),
    ("nfs", 2049, 2049),
    ("gridftp", 2811, 2811),
    ("webdav", 2880, 2880),
    ("iperf", 5001, 5001),
    ("bbftp", 5021, 5021),
    ("bbcp", 5031, 5031),
    (OWN_TRAFFIC, 5201, 5202),
    ("trunkline-watch", 5203, 5203),
    ("http", 8080, 8080),
    ("https", 8443, 8443),
    ("dcap", 22_125, 22_125),
    ("aspera", 33_001, 33_001),
    ("fdt", 54_321, 54_321),
    ("gridftp-data", 50_000, 51_000),
];

/// Names of applications by ports: those of the plan, then those that are known.
#[derive(Debug)]
pub(crate) struct Applications {
    pub own: Vec<(String, Vec<PortRange>)>,
}

impl Applications {
    /// The name of the application of a protocol above IP and the ports of both ends.
    pub fn name(&self, protocol: u8, (one, other): (u16, u16)) -> &str {
        let rest = match protocol {
            TCP => "other-tcp",
            UDP => "other-udp",
            DCCP | SCTP => "other",
            1 | 58 => return "icmp",
            _ => return "other",
        };
        let has = |ports: PortRange| ports.has(one) || ports.has(other);
        let own = self.own.iter();
        let own = own
            .filter(|(_, ports)| ports.iter().copied().any(has))
            .map(|(name, _)| name.as_str());
        let known = KNOWN
            .iter()
            .filter(|(_, first, last)| {
                has(PortRange {
                    first: *first,
                    last: *last,
                })
            })
            .map(|(name, ..)| *name);
        own.chain(known).next().unwrap_or(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_of_either_end_names_the_application() {
        let none = Applications { own: Vec::new() };
        let cases = [
            (TCP, (40_000, 443), "https"),
            (UDP, (443, 50_500), "https"),
            (TCP, (1094, 33_000), "xrootd"),
            (TCP, (50_123, 40_000), "gridftp-data"),
            (TCP, (5201, 50_123), OWN_TRAFFIC),
            (TCP, (40_000, 40_001), "other-tcp"),
            (UDP, (40_000, 40_001), "other-udp"),
            (1, (0, 0), "icmp"),
            (58, (443, 443), "icmp"),
            (47, (0, 0), "other"),
        ];
        for (protocol, ports, name) in cases {
            assert_eq!(none.name(protocol, ports), name, "{protocol} {ports:?}");
        }
        let ports = vec!["40000-40009".parse().unwrap()];
        let own = Applications {
            own: vec![("pool".to_owned(), ports)],
        };
        assert_eq!(own.name(TCP, (40_000, 443)), "pool");
        assert_eq!(own.name(TCP, (40_010, 443)), "https");
    }
}
