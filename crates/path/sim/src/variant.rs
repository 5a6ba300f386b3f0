//! The kinds of sender, by name.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// How a sender finds its rate and repairs losses.
///
/// ```
/// use sim::Variant;
/// assert_eq!("cubic".parse(), Ok(Variant::Cubic));
/// // What Linux calls reno repairs losses with selective acknowledgements.
/// assert_eq!(Variant::of_kernel("reno"), Some(Variant::Sack));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Variant {
    /// Slow start, congestion avoidance, fast retransmit back to one segment (Jacobson 1988).
    Tahoe,
    /// With fast recovery until the first new acknowledgement (RFC 2581).
    Reno,
    /// Recovery that lasts until all that was outstanding is repaired (RFC 6582).
    NewReno,
    /// AIMD with selective acknowledgements (RFC 5681, RFC 6675); the kernel's `reno`.
    Sack,
    /// Forward acknowledgement: holes below the highest acknowledged segment are losses (Mathis,
    /// Mahdavi 1996).
    Fack,
    /// Keeps between two and four segments in the queue (Brakmo, Peterson 1995).
    Vegas,
    /// RFC 9438, with slow start that leaves early (HyStart: Ha, Rhee 2011), as Linux has it.
    Cubic,
    /// RFC 3649.
    HighSpeed,
    /// Kelly 2003: 0.01 segments an acknowledgement, an eighth less a loss.
    Scalable,
    /// Delay-based with a fixed number of segments in the queue (Wei, Jin, Low, Hegde 2006).
    Fast,
    /// A scavenger: gives way when the queue grows (draft-irtf-iccrg-ledbat-plus-plus).
    LedbatPlusPlus,
    /// Version 1 (draft-cardwell-iccrg-bbr-congestion-control-00).
    Bbr,
    /// What sends over UDP: the rate at which the path delivers (`rate_control::PathModel`).
    PathModel,
    /// UDT's own control: steps by what the link has left (Gu, Grossman 2007).
    Udt,
    /// A fixed rate, whatever is lost (after RBUDP: He, Leigh, Yu, DeFanti 2002).
    Rbudp,
    /// A fixed rate, in blocks that are repaired by selective retransmission (after NETBLT, RFC
    /// 998).
    Netblt,
    /// The streams of one transfer share one window and one round-trip estimate (RFC 2140), each of
    /// them with SACK.
    Ensemble,
}

/// A name that is none of a variant.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{asked}` is not a TCP variant; known: {known}", known = known())]
pub struct VariantError {
    /// What was asked for.
    pub asked: String,
}

impl Variant {
    /// All of them, in the order of the documentation.
    pub const ALL: [Variant; 17] = [
        Variant::Tahoe,
        Variant::Reno,
        Variant::NewReno,
        Variant::Sack,
        Variant::Fack,
        Variant::Vegas,
        Variant::Cubic,
        Variant::HighSpeed,
        Variant::Scalable,
        Variant::Fast,
        Variant::LedbatPlusPlus,
        Variant::Bbr,
        Variant::PathModel,
        Variant::Udt,
        Variant::Rbudp,
        Variant::Netblt,
        Variant::Ensemble,
    ];

    /// The names of Linux's congestion controls that are simulated, see [`Variant::of_kernel`].
    ///
    /// ```
    /// use sim::Variant;
    /// assert!(Variant::KERNEL_NAMES.iter().all(|name| Variant::of_kernel(name).is_some()));
    /// assert!(!Variant::KERNEL_NAMES.contains(&"newreno"));
    /// ```
    pub const KERNEL_NAMES: [&'static str; 6] =
        ["cubic", "reno", "bbr", "vegas", "highspeed", "scalable"];

    /// The name under which users give it.
    pub const fn name(self) -> &'static str {
        match self {
            Variant::Tahoe => "tahoe",
            Variant::Reno => "reno",
            Variant::NewReno => "newreno",
            Variant::Sack => "sack",
            Variant::Fack => "fack",
            Variant::Vegas => "vegas",
            Variant::Cubic => "cubic",
            Variant::HighSpeed => "highspeed",
            Variant::Scalable => "scalable",
            Variant::Fast => "fast",
            Variant::LedbatPlusPlus => "ledbat++",
            Variant::Bbr => "bbr",
            Variant::PathModel => "path-model",
            Variant::Udt => "udt",
            Variant::Rbudp => "rbudp",
            Variant::Netblt => "netblt",
            Variant::Ensemble => "ensemble",
        }
    }

    /// What a path file means by a name: first what Linux means by it, then the simulator's own.
    ///
    /// ```
    /// # use sim::Variant;
    /// assert_eq!(Variant::of_path("reno"), Some(Variant::Sack));
    /// assert_eq!(Variant::of_path("newreno"), Some(Variant::NewReno));
    /// assert_eq!(Variant::of_path("westwood"), None);
    /// ```
    pub fn of_path(name: &str) -> Option<Self> {
        Self::of_kernel(name).or_else(|| name.parse().ok())
    }

    /// What simulates a congestion control of Linux; `None` for those that nothing here resembles.
    pub fn of_kernel(name: &str) -> Option<Self> {
        match name {
            "reno" => Some(Variant::Sack),
            "cubic" => Some(Variant::Cubic),
            "bbr" => Some(Variant::Bbr),
            "vegas" => Some(Variant::Vegas),
            "highspeed" => Some(Variant::HighSpeed),
            "scalable" => Some(Variant::Scalable),
            _ => None,
        }
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Variant {
    type Err = VariantError;

    fn from_str(text: &str) -> Result<Self, VariantError> {
        let found = Variant::ALL
            .into_iter()
            .find(|variant| variant.name() == text);
        found.ok_or_else(|| VariantError {
            asked: text.to_owned(),
        })
    }
}

fn known() -> String {
    Variant::ALL.map(Variant::name).join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_parse_back() {
        for variant in Variant::ALL {
            assert_eq!(variant.to_string().parse(), Ok(variant));
        }
    }

    #[test]
    fn an_unknown_name_is_told_with_the_known_ones() {
        let error = "westwood".parse::<Variant>().unwrap_err().to_string();
        assert!(
            error.starts_with("`westwood` is not a TCP variant; known: tahoe, reno"),
            "{error}"
        );
    }
}
