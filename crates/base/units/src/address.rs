//! Where a server is: `HOST[:PORT]`.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::Via;

/// iperf3's port.
pub const PORT_DEFAULT: u16 = 5201;

/// A host by name or number, and a port.
///
/// ```
/// use units::Address;
/// let address: Address = "[fe80::1]:5202".parse().unwrap();
/// assert_eq!((address.host.as_str(), address.port), ("fe80::1", 5202));
/// assert_eq!("dtn.example.org".parse::<Address>().unwrap().to_string(), "dtn.example.org:5201");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Address {
    /// Name or number; IPv6 without brackets.
    pub host: String,
    /// TCP and UDP port.
    pub port: u16,
    /// How it is reached.
    pub via: Via,
}

/// A text that is no `HOST[:PORT]`.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum AddressError {
    /// Nothing before the colon.
    #[error("`{0}` names no host; write it like `dtn.example.org` or `[2001:db8::1]:5201`")]
    NoHost(String),
    /// Something else than a port behind the bracket.
    #[error(
        "`{text}` goes on with `{rest}` behind the bracket; write it like `[2001:db8::1]:5201`"
    )]
    Trailing {
        /// What was written.
        text: String,
        /// What is too much.
        rest: String,
    },
    /// The port is no number from 1 to 65535.
    #[error("port `{port}` of `{text}` is not a number from 1 to 65535")]
    Port {
        /// What was written.
        text: String,
        /// The part behind the colon.
        port: String,
    },
}

impl Address {
    /// A host, reached as the kernel likes.
    pub fn new(host: impl Into<String>, port: u16) -> Self {
        Address {
            host: host.into(),
            port,
            via: Via::default(),
        }
    }

    /// The same, reached so.
    pub fn leaving(self, via: Via) -> Self {
        Address { via, ..self }
    }

    /// Reads `HOST[:PORT]`; `port_default` is used where the text names none.
    ///
    /// # Errors
    /// When the host is missing, a bracket is followed by something else than a port, or the port
    /// is no number from 1 to 65535.
    pub fn parse_with(text: &str, port_default: u16) -> Result<Self, AddressError> {
        let (host, port) = split(text)?;
        let port = port.map_or(Ok(port_default), |port| {
            let number = port.parse().ok().filter(|number| *number > 0);
            number.ok_or_else(|| AddressError::Port {
                text: text.to_owned(),
                port: port.to_owned(),
            })
        })?;
        match host.trim() {
            "" => Err(AddressError::NoHost(text.to_owned())),
            host => Ok(Address::new(host, port)),
        }
    }
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        Address::parse_with(text, PORT_DEFAULT)
    }
}

/// A bare IPv6 number has several colons and no port.
fn split(text: &str) -> Result<(&str, Option<&str>), AddressError> {
    if let Some((host, rest)) = text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        return Ok((host, behind_bracket(text, rest)?));
    }
    Ok(match text.split_once(':') {
        Some((host, port)) if !port.contains(':') => (host, Some(port)),
        _ => (text, None),
    })
}

fn behind_bracket<'a>(text: &str, rest: &'a str) -> Result<Option<&'a str>, AddressError> {
    match rest.strip_prefix(':') {
        None if !rest.is_empty() => Err(AddressError::Trailing {
            text: text.to_owned(),
            rest: rest.to_owned(),
        }),
        port => Ok(port),
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host.contains(':') {
            true => write!(f, "[{}]:{}", self.host, self.port),
            false => write!(f, "{}:{}", self.host, self.port),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_and_ports_are_told_apart() {
        let read = |text: &str| text.parse::<Address>().map(|a| (a.host, a.port));
        assert_eq!(read("::1"), Ok(("::1".to_owned(), 5201)));
        assert_eq!(read("[::1]"), Ok(("::1".to_owned(), 5201)));
        assert_eq!(read("10.0.0.1:80"), Ok(("10.0.0.1".to_owned(), 80)));
    }

    #[test]
    fn a_wrong_port_is_named() {
        for port in ["0", "65536", "x", "", "-1"] {
            let error = format!("host:{port}").parse::<Address>().unwrap_err();
            assert!(error.to_string().contains("1 to 65535"), "{error}");
        }
    }

    #[test]
    fn nothing_behind_a_bracket_is_overlooked() {
        for rest in ["5202", " ", "]:5202"] {
            let error = format!("[::1]{rest}").parse::<Address>().unwrap_err();
            assert!(matches!(error, AddressError::Trailing { .. }), "{error}");
        }
    }

    #[test]
    fn a_missing_host_is_refused() {
        assert!("".parse::<Address>().is_err());
        assert!(":5201".parse::<Address>().is_err());
    }
}
