//! What a user may give as a target.

use movers::Far;
use netpath::{PathError, PathSpec};
use units::{Address, Via};

use crate::OpenError;

/// A target by its name.
#[derive(Debug, Clone, PartialEq)]
pub enum TargetName {
    /// A host on the network.
    Live(Address),
    /// A path between two namespaces of this host.
    Emulated(Box<PathSpec>),
    /// A path in virtual time.
    Simulated(Box<PathSpec>),
    /// The far end of another program, whose own client is run here.
    Mover {
        /// The program and its far end.
        far: Box<Far>,
        /// Words to pass to the client.
        options: Vec<String>,
    },
}

const EMULATED: &str = "emu:";
const SIMULATED: &str = "sim:";

/// Loads a path where only a path can be meant: the prefix of a target may stand before its name.
///
/// ```
/// let path = target::load_path("sim:slac-cern").unwrap();
/// assert_eq!(path, target::load_path("slac-cern").unwrap());
/// ```
///
/// # Errors
/// As [`PathSpec::load`].
pub fn load_path(name: &str) -> Result<PathSpec, PathError> {
    let bare = [EMULATED, SIMULATED]
        .into_iter()
        .find_map(|prefix| name.strip_prefix(prefix));
    PathSpec::load(bare.unwrap_or(name))
}

impl TargetName {
    /// Reads a name; `port` is used where it gives none.
    ///
    /// ```
    /// use target::TargetName;
    /// let live = TargetName::parse("dtn.example.org", 5301).unwrap();
    /// assert_eq!(live, TargetName::Live("dtn.example.org:5301".parse().unwrap()));
    /// assert!(matches!(TargetName::parse("emu:slac-cern", 5201), Ok(TargetName::Emulated(_))));
    /// assert!(matches!(TargetName::parse("sim:slac-cern", 5201), Ok(TargetName::Simulated(_))));
    /// ```
    ///
    /// # Errors
    /// When the name cannot be one of a host, or the path file is wrong.
    pub fn parse(name: &str, port: u16) -> Result<Self, OpenError> {
        if let Some(path) = name.strip_prefix(EMULATED) {
            return Ok(TargetName::Emulated(Box::new(PathSpec::load(path)?)));
        }
        if let Some(path) = name.strip_prefix(SIMULATED) {
            return Ok(TargetName::Simulated(Box::new(PathSpec::load(path)?)));
        }
        if let Some(far) = Far::parse(name) {
            return Ok(TargetName::Mover {
                far: Box::new(far?),
                options: Vec::new(),
            });
        }
        if let Some((scheme, _)) = name.split_once("://") {
            return Err(OpenError::UnknownScheme {
                name: name.to_owned(),
                scheme: scheme.to_owned(),
            });
        }
        Ok(TargetName::Live(Address::parse_with(name, port)?))
    }

    /// The same, whose packets leave this host so.
    ///
    /// # Errors
    /// When it is no host on the network.
    pub fn leaving(self, via: Via) -> Result<Self, OpenError> {
        match self {
            TargetName::Live(address) => Ok(TargetName::Live(address.leaving(via))),
            other if via.is_free() => Ok(other),
            _ => Err(OpenError::NoHost),
        }
    }

    /// The same, over connections of multipath TCP.
    ///
    /// # Errors
    /// When it is no host on the network.
    pub fn over_multipath(self) -> Result<Self, OpenError> {
        let TargetName::Live(mut address) = self else {
            return Err(OpenError::NoMultipath);
        };
        address.via.multipath = true;
        Ok(TargetName::Live(address))
    }

    /// The path that it runs; `None` of a live host.
    pub fn path(&self) -> Option<&PathSpec> {
        match self {
            TargetName::Live(_) | TargetName::Mover { .. } => None,
            TargetName::Emulated(path) | TargetName::Simulated(path) => Some(path),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_hosts_are_reached_over_multipath_tcp() {
        let over = |name| TargetName::parse(name, 5201).unwrap().over_multipath();
        let live = over("dtn.example.org").unwrap();
        assert!(matches!(live, TargetName::Live(address) if address.via.multipath));
        for name in ["emu:slac-cern", "sim:slac-cern", "gridftp://dtn/FILE"] {
            assert!(matches!(over(name), Err(OpenError::NoMultipath)), "{name}");
        }
    }

    #[test]
    fn a_wrong_path_is_told_as_the_path_tells_it() {
        for name in ["emu:nowhere", "sim:nowhere"] {
            let error = TargetName::parse(name, 5201).unwrap_err();
            assert_eq!(
                error.to_string(),
                "`nowhere` is neither a named path nor a readable file"
            );
            assert!(error.is_wrong_request());
        }
    }
}
