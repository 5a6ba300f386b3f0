//! How packets leave this host: over which family, from which address, with which mark.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use thiserror::Error;

/// Longest name of a network device (`IFNAMSIZ` less its zero).
const DEVICE_MAX: usize = 15;

/// A version of the internet protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub enum Family {
    /// IPv4.
    #[serde(rename = "IPv4")]
    V4,
    /// IPv6.
    #[serde(rename = "IPv6")]
    V6,
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Family::V4 => "IPv4",
            Family::V6 => "IPv6",
        })
    }
}

impl Family {
    /// That of an address.
    pub fn of(address: &IpAddr) -> Self {
        match address {
            IpAddr::V4(_) => Family::V4,
            IpAddr::V6(_) => Family::V6,
        }
    }
}

/// An address of this host that is of another family than the one that was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{address} is no address of {family}")]
pub struct FamilyClash {
    /// The family.
    pub family: Family,
    /// The address.
    pub address: IpAddr,
}

impl Source {
    /// Whether both are left to the kernel.
    fn is_free(&self) -> bool {
        *self == Source::default()
    }

    /// That it has no address of another family.
    ///
    /// ```
    /// use units::{Family, Source};
    /// let source: Source = "192.0.2.7".parse().unwrap();
    /// let clash = source.check(Some(Family::V6)).unwrap_err();
    /// assert_eq!(clash.to_string(), "192.0.2.7 is no address of IPv6");
    /// ```
    ///
    /// # Errors
    /// When it has one.
    pub fn check(&self, family: Option<Family>) -> Result<(), FamilyClash> {
        match (family, self.address) {
            (Some(family), Some(address)) if Family::of(&address) != family => {
                Err(FamilyClash { family, address })
            }
            _ => Ok(()),
        }
    }
}

/// How packets leave this host; what is `None` is left to the kernel.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Via {
    /// Only addresses of this family are tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub family: Option<Family>,
    /// From where: `ADDRESS`, `%DEVICE` or both.
    #[serde(rename = "bind", skip_serializing_if = "Source::is_free")]
    #[schemars(with = "Option<String>")]
    pub source: Source,
    /// How packets are marked: `LE`, `CS0` to `CS7`, `AF11` to `AF43`, `EF`, `VA` or a number.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub dscp: Option<Dscp>,
    /// TCP connections are of multipath TCP (RFC 8684), which no plan asks for.
    #[serde(skip)]
    pub multipath: bool,
}

impl Via {
    /// Whether an address of the far end can be reached so.
    pub fn fits(&self, far: &IpAddr) -> bool {
        let far = Family::of(&far.to_canonical());
        let source = self.source.address.as_ref().map(Family::of);
        [self.family, source]
            .into_iter()
            .flatten()
            .all(|one| one == far)
    }

    /// Whether all is left to the kernel.
    pub fn is_free(&self) -> bool {
        *self == Via::default()
    }
}

/// Address and device that packets leave from: `10.0.0.1`, `10.0.0.1%eth1`, `%eth1`.
///
/// ```
/// use units::Source;
/// let source: Source = "192.0.2.7%eth1".parse().unwrap();
/// assert_eq!(source.device.as_deref(), Some("eth1"));
/// assert_eq!(source.to_string(), "192.0.2.7%eth1");
/// assert_eq!("%eth1".parse::<Source>().unwrap().address, None);
/// assert!("eth1".parse::<Source>().is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Source {
    /// An address of this host.
    pub address: Option<IpAddr>,
    /// A device of this host.
    pub device: Option<String>,
}

/// A text that is no `ADDRESS[%DEVICE]`.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SourceError {
    /// What stands before the percent sign is no address.
    #[error(
        "`{0}` is no address of this host: write a number like `192.0.2.7`, with `%DEVICE` behind \
         it, or `%DEVICE` alone; `ip address` shows both"
    )]
    Address(String),
    /// The name of the device is empty or too long.
    #[error("a device has a name of 1 to {DEVICE_MAX} characters, and `{0}` is none")]
    Device(String),
}

impl FromStr for Source {
    type Err = SourceError;

    fn from_str(text: &str) -> Result<Self, SourceError> {
        let (address, device) = match text.split_once('%') {
            Some((address, device)) => (address, Some(device)),
            None => (text, None),
        };
        let is_device = |name: &str| {
            let is_plain = |c: char| !c.is_whitespace() && !c.is_control() && c != '/';
            !name.is_empty() && name.len() <= DEVICE_MAX && name.chars().all(is_plain)
        };
        if let Some(name) = device.filter(|name| !is_device(name)) {
            return Err(SourceError::Device(name.to_owned()));
        }
        let address = match address {
            "" if device.is_some() => None,
            address => {
                let number = address
                    .trim_start_matches('[')
                    .trim_end_matches(']')
                    .parse();
                Some(number.map_err(|_| SourceError::Address(text.to_owned()))?)
            }
        };
        Ok(Source {
            address,
            device: device.map(str::to_owned),
        })
    }
}

impl Serialize for Source {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Source {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(address) = &self.address {
            write!(f, "{address}")?;
        }
        match &self.device {
            Some(device) => write!(f, "%{device}"),
            None => Ok(()),
        }
    }
}

/// A differentiated services code point: the upper six bits of IPv4's TOS and IPv6's traffic class
/// (RFC 2474).
///
/// ```
/// use units::Dscp;
/// // Lower effort is 000001 (RFC 8622), so the whole octet is 4.
/// assert_eq!(Dscp::LOWER_EFFORT.octet(), 4);
/// assert_eq!(Dscp::new(64), None);
/// assert_eq!("af41".parse::<Dscp>().unwrap().code_point(), 34);
/// assert_eq!("46".parse::<Dscp>().unwrap().to_string(), "EF");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Dscp(u8);

/// A text that is no class.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{0}` is no class: write CS0 to CS7, AF11 to AF43, EF, VA, LE, or a number from 0 to 63")]
pub struct DscpError(String);

impl Dscp {
    /// The default class.
    pub const DEFAULT: Dscp = Dscp(0);
    /// Routers may prefer all others: "LE" of RFC 8622.
    pub const LOWER_EFFORT: Dscp = Dscp(1);
    /// Expedited forwarding: RFC 3246.
    const EXPEDITED: Dscp = Dscp(46);
    /// Voice with admission: RFC 5865.
    const VOICE_ADMIT: Dscp = Dscp(44);

    /// A code point of 0 to 63.
    pub fn new(code_point: u8) -> Option<Self> {
        (code_point < 64).then_some(Dscp(code_point))
    }

    /// The code point.
    pub fn code_point(self) -> u8 {
        self.0
    }

    /// As it stands in a packet without congestion notification (RFC 3168), whose two bits lie
    /// below.
    pub fn octet(self) -> u8 {
        self.0 << 2
    }
}

/// Class selectors are RFC 2474's, AF those of RFC 2597.
impl FromStr for Dscp {
    type Err = DscpError;

    fn from_str(text: &str) -> Result<Self, DscpError> {
        let name = text.to_ascii_uppercase();
        let digits = |prefix: &str| {
            let rest = name.strip_prefix(prefix)?;
            let all = rest.bytes().all(|byte| byte.is_ascii_digit());
            all.then(|| rest.bytes().map(|byte| byte - b'0').collect::<Vec<u8>>())
        };
        let found = match (
            name.as_str(),
            digits("CS").as_deref(),
            digits("AF").as_deref(),
        ) {
            ("EF", ..) => Some(Dscp::EXPEDITED),
            ("VA", ..) => Some(Dscp::VOICE_ADMIT),
            ("LE", ..) => Some(Dscp::LOWER_EFFORT),
            (_, Some([class @ 0..=7]), _) => Some(Dscp(class << 3)),
            (_, _, Some([class @ 1..=4, drop @ 1..=3])) => Some(Dscp(class << 3 | drop << 1)),
            _ => text.parse().ok().and_then(Dscp::new),
        };
        found.ok_or_else(|| DscpError(text.to_owned()))
    }
}

impl Serialize for Dscp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Dscp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

impl fmt::Display for Dscp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0 >> 3, self.0 & 7) {
            _ if *self == Dscp::EXPEDITED => f.write_str("EF"),
            _ if *self == Dscp::VOICE_ADMIT => f.write_str("VA"),
            _ if *self == Dscp::LOWER_EFFORT => f.write_str("LE"),
            (class, 0) => write!(f, "CS{class}"),
            (class @ 1..=4, drop @ (2 | 4 | 6)) => write!(f, "AF{class}{}", drop / 2),
            _ => write!(f, "{}", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_is_read_as_it_is_written() {
        for point in 0..64 {
            let class = Dscp::new(point).unwrap();
            assert_eq!(class.to_string().parse(), Ok(class));
            assert_eq!(point.to_string().parse(), Ok(class));
        }
    }

    #[test]
    fn what_is_no_class_is_refused_with_those_that_are() {
        for text in ["", "64", "CS8", "AF44", "AF51", "AF1", "-1", "EFF", "CS"] {
            let error = text.parse::<Dscp>().unwrap_err().to_string();
            assert!(error.contains("0 to 63"), "{error}");
        }
    }

    #[test]
    fn a_source_fits_addresses_of_its_family() {
        let via = |source: &str, family| Via {
            family,
            source: source.parse().unwrap(),
            ..Via::default()
        };
        let (v4, v6) = ("192.0.2.1".parse().unwrap(), "2001:db8::1".parse().unwrap());
        assert!(via("192.0.2.7", None).fits(&v4) && !via("192.0.2.7", None).fits(&v6));
        assert!(via("%eth0", Some(Family::V6)).fits(&v6));
        assert!(!via("%eth0", Some(Family::V6)).fits(&v4));
        assert!(Via::default().fits(&v4) && Via::default().fits(&v6));
        assert!(via("%eth0", Some(Family::V4)).fits(&"::ffff:192.0.2.1".parse().unwrap()));
    }
}
