//! Which application traffic is of, by its ports.

use watch_store::OWN_TRAFFIC;

const TCP: u8 = 6;
const UDP: u8 = 17;

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

/// The name of the application of a protocol above IP and the ports of both ends.
pub(crate) fn name(protocol: u8, (one, other): (u16, u16)) -> &'static str {
    let rest = match protocol {
        TCP => "other-tcp",
        UDP => "other-udp",
        1 | 58 => return "icmp",
        _ => return "other",
    };
    let has = |(_, first, last): &&(&str, u16, u16)| {
        let ports = *first..=*last;
        ports.contains(&one) || ports.contains(&other)
    };
    KNOWN.iter().find(has).map_or(rest, |(name, ..)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_of_either_end_names_the_application() {
        let cases = [
            (TCP, (40_000, 443), "https"),
            (UDP, (443, 50_500), "https"),
            (TCP, (1094, 33_000), "xrootd"),
            (TCP, (50_123, 40_000), "gridftp-data"),
            (TCP, (5201, 50_123), OWN_TRAFFIC),
            (TCP, (40_000, 40_001), "other-tcp"),
            (UDP, (40_000, 40_001), "other-udp"),
            (58, (443, 443), "icmp"),
            (47, (0, 0), "other"),
        ];
        for (protocol, ports, wanted) in cases {
            assert_eq!(name(protocol, ports), wanted, "{protocol} {ports:?}");
        }
    }
}
