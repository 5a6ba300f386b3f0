//! Any bytes as a word of the command line that names files here or elsewhere: refused with the
//! next step, or a place that no ssh client takes for an option.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use trunkline::copy::Place;

/// The check of this target.
pub fn check(bytes: &[u8]) {
    match Place::parse(OsStr::from_bytes(bytes)) {
        Ok(Place::Here(path)) => assert_eq!(path.as_os_str().as_bytes(), bytes),
        Ok(Place::Ssh { destination, path }) => {
            let host = destination.rsplit('@').next().unwrap_or_default();
            assert!(!destination.starts_with('-') && !host.starts_with('-'));
            assert!(!host.is_empty() && !path.is_empty());
            assert!(bytes.contains(&b':') && !destination.contains(['[', ']']));
        }
        Ok(Place::Server { address, path }) => {
            assert!(!address.to_string().is_empty());
            assert!(path.len() <= copy_protocol::PATH_MAX);
            assert!(bytes.contains(&0) || !path.contains(&0), "a made-up zero");
        }
        Err(error) => assert!(!error.what.is_empty() && !error.hint.is_empty()),
    }
}
