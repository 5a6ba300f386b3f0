//! Why a server turns a client away.

use std::fmt;

use units::Span;

use crate::State;

/// The number that says that no test is served at all.
const FILES_ONLY: u16 = u16::MAX;

/// Why a server serves no test.
///
/// iperf3 has one byte for it. Our server adds two, most significant first: seconds until a test
/// ends that runs now, 0 where it does not know, 65535 where it serves no tests. iperf3's clients
/// read the first byte alone, and its servers send no more.
///
/// ```
/// use units::Span;
/// use measure_protocol::Denial;
/// let busy = Denial::Busy { ends_in: Some(Span::from_millis(11_200)) };
/// assert_eq!(busy.encode(), [0xFF, 0, 12]);
/// assert_eq!(busy.to_string(), "the server is busy with another test, for about 12 s");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Denial {
    /// Other tests have all places.
    Busy {
        /// About when one of them has ended; `None` where the server does not say.
        ends_in: Option<Span>,
    },
    /// Copies are served, and no tests.
    FilesOnly,
}

impl Denial {
    /// What a server sends.
    pub fn encode(self) -> [u8; 3] {
        let number = match self {
            Denial::Busy { ends_in: None } => 0,
            Denial::Busy {
                ends_in: Some(left),
            } => seconds(left).clamp(1, FILES_ONLY - 1),
            Denial::FilesOnly => FILES_ONLY,
        };
        let [high, low] = number.to_be_bytes();
        [State::AccessDenied.byte(), high, low]
    }

    /// From what came behind the byte of iperf3.
    pub(crate) fn parse(rest: &[u8]) -> Self {
        let number = rest.first_chunk().map_or(0, |two| u16::from_be_bytes(*two));
        match number {
            0 => Denial::Busy { ends_in: None },
            FILES_ONLY => Denial::FilesOnly,
            left => Denial::Busy {
                ends_in: Some(Span::from_secs(left.into())),
            },
        }
    }

    /// What the user can try next.
    pub fn hint(self) -> &'static str {
        match self {
            Denial::Busy { .. } => "wait for the other test to end, or use another port",
            Denial::FilesOnly => {
                "start a `trunkline serve` without `--files-only` on another port of that host"
            }
        }
    }
}

/// Whole seconds, rounded up.
fn seconds(left: Span) -> u16 {
    left.as_secs_f64().ceil().min(f64::from(u16::MAX)) as u16
}

impl fmt::Display for Denial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Denial::Busy { ends_in: None } => f.write_str("the server is busy with another test"),
            Denial::Busy {
                ends_in: Some(left),
            } => {
                let left = seconds(*left);
                write!(
                    f,
                    "the server is busy with another test, for about {left} s"
                )
            }
            Denial::FilesOnly => f.write_str("the server serves files and no tests"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_denial_comes_back() {
        for left in [1, 2, 59, 86_400 / 2, 65_534] {
            let ends_in = Some(Span::from_secs(left));
            let denial = Denial::Busy { ends_in };
            assert_eq!(Denial::parse(&denial.encode()[1..]), denial);
        }
        for denial in [Denial::Busy { ends_in: None }, Denial::FilesOnly] {
            assert_eq!(Denial::parse(&denial.encode()[1..]), denial);
        }
    }

    #[test]
    fn times_beyond_the_field_are_the_nearest_that_it_has() {
        let [_, rest @ ..] = Denial::Busy {
            ends_in: Some(Span::ZERO),
        }
        .encode();
        assert_eq!(rest, [0, 1]);
        let [_, rest @ ..] = Denial::Busy {
            ends_in: Some(Span::from_secs(86_400)),
        }
        .encode();
        assert_eq!(rest, [0xFF, 0xFE]);
    }

    #[test]
    fn iperf3_says_no_more_than_its_byte() {
        for rest in [&[][..], &[7]] {
            assert_eq!(Denial::parse(rest), Denial::Busy { ends_in: None });
        }
    }
}
