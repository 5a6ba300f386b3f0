//! What a user may give as a target.

use path::PathSpec;

use crate::LabError;

/// iperf3's port, and so ours.
pub const DEFAULT_PORT: u16 = 5201;

/// A host and the port of its server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostAddress {
    /// A name or a numeric address, without brackets.
    pub host: String,
    /// The server's TCP port.
    pub port: u16,
}

/// A target by its name.
#[derive(Debug, Clone, PartialEq)]
pub enum TargetName {
    /// A host on the network.
    Live(HostAddress),
    /// A path between two namespaces of this host.
    Emulated(Box<PathSpec>),
}

impl TargetName {
    /// Reads a name; `port` is used where it gives none.
    ///
    /// ```
    /// use lab::TargetName;
    /// use lab::name::HostAddress;
    ///
    /// let live = TargetName::parse("dtn.example.org:5301", 5201).unwrap();
    /// let address = HostAddress { host: "dtn.example.org".to_owned(), port: 5301 };
    /// assert_eq!(live, TargetName::Live(address));
    /// assert!(matches!(TargetName::parse("emu:slac-cern", 5201), Ok(TargetName::Emulated(_))));
    /// ```
    ///
    /// # Errors
    /// When the name cannot be one of a host, or the path file is wrong.
    pub fn parse(name: &str, port: u16) -> Result<Self, LabError> {
        let wrong = |problem| LabError::Name {
            name: name.to_owned(),
            problem,
        };
        if let Some(path) = name.strip_prefix("emu:") {
            return Ok(TargetName::Emulated(Box::new(PathSpec::load(path)?)));
        }
        if name.starts_with("sim:") {
            return Err(wrong("simulated paths are not built yet"));
        }
        let address = match name.strip_prefix('[') {
            Some(rest) => bracketed(rest, port),
            None => plain(name, port),
        };
        address.map(TargetName::Live).map_err(wrong)
    }
}

/// `::1]` or `::1]:5201`, after the opening bracket.
fn bracketed(rest: &str, default: u16) -> Result<HostAddress, &'static str> {
    let (host, after) = rest.split_once(']').ok_or("the `]` is missing")?;
    let port = match after.strip_prefix(':') {
        Some(port) => parse_port(port)?,
        None if after.is_empty() => default,
        None => return Err("only a port may follow the `]`"),
    };
    address(host, port)
}

/// `host`, `host:5201`, or a bare IPv6 address.
fn plain(name: &str, default: u16) -> Result<HostAddress, &'static str> {
    match name.split_once(':') {
        None => address(name, default),
        Some((_, rest)) if rest.contains(':') => address(name, default),
        Some((host, port)) => address(host, parse_port(port)?),
    }
}

fn address(host: &str, port: u16) -> Result<HostAddress, &'static str> {
    let possible = |c: char| c.is_alphanumeric() || "-._:%".contains(c);
    if host.is_empty() {
        return Err("the host is missing");
    }
    if !host.chars().all(possible) || host.starts_with('-') {
        return Err("that cannot be the name of a host");
    }
    Ok(HostAddress {
        host: host.to_owned(),
        port,
    })
}

fn parse_port(text: &str) -> Result<u16, &'static str> {
    match text.parse() {
        Ok(0) | Err(_) => Err("a port is a number from 1 to 65535"),
        Ok(port) => Ok(port),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn live(name: &str) -> Result<(String, u16), String> {
        match TargetName::parse(name, DEFAULT_PORT) {
            Ok(TargetName::Live(address)) => Ok((address.host, address.port)),
            Ok(TargetName::Emulated(path)) => panic!("{name} is {path}"),
            Err(error) => Err(error.to_string()),
        }
    }

    #[test]
    fn hosts_and_ports_are_told_apart() {
        for (name, host, port) in [
            ("far", "far", 5201),
            ("far:80", "far", 80),
            ("198.18.0.2:9000", "198.18.0.2", 9000),
            ("::1", "::1", 5201),
            ("[::1]", "::1", 5201),
            ("[fe80::1%eth0]:7", "fe80::1%eth0", 7),
        ] {
            assert_eq!(live(name), Ok((host.to_owned(), port)), "{name}");
        }
    }

    #[test]
    fn what_cannot_be_a_host_is_refused() {
        for (name, problem) in [
            ("", "the host is missing"),
            (":5201", "the host is missing"),
            ("far:0", "a port is a number from 1 to 65535"),
            ("far:99999", "a port is a number"),
            ("[::1", "the `]` is missing"),
            ("[::1]5201", "only a port may follow"),
            ("two words", "cannot be the name of a host"),
            ("--help", "cannot be the name of a host"),
            ("sim:lan", "not built yet"),
        ] {
            let error = live(name).unwrap_err();
            assert!(error.contains(problem), "{name}: {error}");
        }
    }

    #[test]
    fn a_wrong_path_is_told_as_the_path_tells_it() {
        let error = TargetName::parse("emu:nowhere", DEFAULT_PORT).unwrap_err();
        assert_eq!(error.to_string(), "`nowhere` is neither a named path nor a readable file");
        assert!(error.is_wrong_request());
    }
}
