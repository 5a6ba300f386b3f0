//! The addresses of this host's devices.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::net::{IpAddr, Ipv6Addr};
use std::path::Path;

use nix::ifaddrs::getifaddrs;
use nix::net::if_::InterfaceFlags;
use units::{Family, can_be_dialed};

use crate::ListenAt;

/// An address, and the device that has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceAddress {
    /// The device's name.
    pub device: String,
    /// The address.
    pub address: IpAddr,
}

/// Those of all devices that are up and have a carrier, in the kernel's order (getifaddrs(3)).
///
/// # Errors
/// When the kernel does not tell.
pub fn addresses() -> io::Result<Vec<DeviceAddress>> {
    let is_up = InterfaceFlags::IFF_UP | InterfaceFlags::IFF_RUNNING;
    let found = getifaddrs()?.filter(|one| one.flags.contains(is_up));
    let found = found.filter_map(|one| {
        let address = one.address?;
        let v4 = address.as_sockaddr_in().map(|one| IpAddr::from(one.ip()));
        let v6 = address.as_sockaddr_in6().map(|one| IpAddr::from(one.ip()));
        // A further address may have a label behind the name: `eth0:1`.
        let device = one.interface_name.split(':').next()?.to_owned();
        let address = v4.or(v6)?;
        Some(DeviceAddress { device, address })
    });
    Ok(found.collect())
}

/// The addresses at which what listens there can be of use to `other`, another host or this one:
/// one of each device, of the family of `other` where the device has some. Bridges, whose networks
/// are mostly those of virtual machines of this host, are left out, and addresses that the kernel
/// will soon replace.
///
/// # Errors
/// As [`addresses`].
pub fn served(at: &ListenAt, other: IpAddr) -> io::Result<Vec<IpAddr>> {
    let passing = passing(&fs::read_to_string("/proc/net/if_inet6").unwrap_or_default());
    let is_bridge = |device: &str| {
        Path::new("/sys/class/net")
            .join(device)
            .join("bridge")
            .exists()
    };
    let mut all = addresses()?;
    all.retain(|one| !passing.contains(&one.address) && !is_bridge(&one.device));
    Ok(of_use(&all, at, other.to_canonical()))
}

/// Addresses of IPv6 with an end: temporary, or deprecated by now.
///
/// * `text`: `/proc/net/if_inet6`.
fn passing(text: &str) -> Vec<IpAddr> {
    /// `IFA_F_TEMPORARY` and `IFA_F_DEPRECATED` of `linux/if_addr.h`.
    const PASSING: u32 = 0x01 | 0x20;
    let read = |line: &str| {
        // `20010db8000000000000000000000007 02 40 00 80     eth0`
        let mut words = line.split_whitespace();
        let address = u128::from_str_radix(words.next()?, 16).ok()?;
        let flags = u32::from_str_radix(words.nth(3)?, 16).ok()?;
        (flags & PASSING != 0).then(|| IpAddr::from(Ipv6Addr::from_bits(address)))
    };
    text.lines().filter_map(read).collect()
}

fn of_use(all: &[DeviceAddress], at: &ListenAt, other: IpAddr) -> Vec<IpAddr> {
    let bound = at.source.address.filter(|one| !one.is_unspecified());
    let family = at.family.or(match at.source.address {
        Some(IpAddr::V4(_)) => Some(Family::V4),
        _ => None,
    });
    let fits = |one: &&DeviceAddress| {
        let device = at.source.device.as_ref();
        can_be_dialed(one.address, other.is_loopback())
            && bound.is_none_or(|bound| bound == one.address)
            && family.is_none_or(|family| family == Family::of(&one.address))
            && device.is_none_or(|device| *device == one.device)
    };
    let fitting: Vec<&DeviceAddress> = all.iter().filter(fits).collect();
    let is_alike = |one: &DeviceAddress| Family::of(&one.address) == Family::of(&other);
    let has_alike = |device: &str| {
        let mut of_device = fitting.iter().filter(|one| one.device == device);
        of_device.any(|one| is_alike(one))
    };
    let chosen = fitting
        .iter()
        .filter(|one| is_alike(one) || !has_alike(&one.device));
    let mut devices = BTreeSet::new();
    let first = chosen.filter(|one| devices.insert(one.device.as_str()));
    first.map(|one| one.address).collect()
}

#[cfg(test)]
mod tests {
    use units::Source;

    use super::*;

    fn host() -> Vec<DeviceAddress> {
        let all = [
            ("lo", "127.0.0.1"),
            ("lo", "::1"),
            ("eth0", "192.0.2.7"),
            ("eth0", "192.0.2.8"),
            ("eth0", "2001:db8::7"),
            ("eth0", "fe80::7"),
            ("eth1", "10.0.1.2"),
            ("eth1", "fe80::1:2"),
            ("eth2", "2001:db8:2::2"),
            ("eth3", "169.254.3.3"),
        ];
        let read = |(device, address): (&str, &str)| DeviceAddress {
            device: device.to_owned(),
            address: address.parse().unwrap(),
        };
        all.map(read).to_vec()
    }

    fn told(source: &str, family: Option<Family>, other: &str) -> Vec<String> {
        let at = ListenAt {
            family,
            source: match source {
                "" => Source::default(),
                source => source.parse().unwrap(),
            },
            ..ListenAt::from(0)
        };
        let told = of_use(&host(), &at, other.parse().unwrap());
        told.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn addresses_that_lead_here_from_elsewhere_are_told() {
        let v4 = ["192.0.2.7", "10.0.1.2", "2001:db8:2::2"];
        assert_eq!(told("", None, "198.51.100.1"), v4);
        let v6 = ["2001:db8::7", "10.0.1.2", "2001:db8:2::2"];
        assert_eq!(told("", None, "2001:db8:9::1"), v6);
        assert_eq!(told("", Some(Family::V4), "2001:db8:9::1"), v4[..2]);
        assert_eq!(told("", None, "127.0.0.1")[0], "127.0.0.1");
    }

    #[test]
    fn no_address_is_told_at_which_nothing_listens() {
        assert_eq!(told("10.0.1.2", None, "198.51.100.1"), ["10.0.1.2"]);
        assert_eq!(told("%eth2", None, "198.51.100.1"), ["2001:db8:2::2"]);
        let v4 = ["192.0.2.7", "10.0.1.2"];
        assert_eq!(told("0.0.0.0", None, "198.51.100.1"), v4);
        assert_eq!(told("::", None, "198.51.100.1").len(), 3);
        assert!(told("127.0.0.1", None, "198.51.100.1").is_empty());
    }

    #[test]
    fn temporary_and_deprecated_addresses_pass() {
        let text = "\
            20010db8000000000000000000000007 02 40 00 80     eth0\n\
            20010db8000000000000000000000008 02 40 00 01     eth0\n\
            20010db8000000000000000000000009 02 40 00 a0     eth0\n\
            nonsense\n";
        let shown: Vec<String> = passing(text).iter().map(ToString::to_string).collect();
        assert_eq!(shown, ["2001:db8::8", "2001:db8::9"]);
    }

    #[test]
    fn the_loopback_device_has_its_address() {
        let all = addresses().unwrap();
        let is_lo = |one: &&DeviceAddress| one.address.is_loopback();
        let own = all.iter().find(is_lo).map(|one| one.device.as_str());
        assert_eq!(own, Some("lo"), "{all:?}");
    }
}
