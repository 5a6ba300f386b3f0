//! From places of a plan to places of a copy, as they are named on the host that runs it.

use std::fs;
use std::path::{Path, PathBuf};

use campaign_plan::{Campaign as Plan, Group, HostName, Spot};
use units::Span;

use crate::Error;
use crate::copy::{Access, CopyDirection, Place};

const SERVER: &str = "trunkline://";

/// A copy's two ends: one here, the other one elsewhere.
#[derive(Debug, Clone)]
pub(super) struct Ends {
    /// What `trunkline copy` takes.
    pub source: PathBuf,
    /// The same.
    pub destination: PathBuf,
    /// Which way.
    pub direction: CopyDirection,
    /// The folder on this host.
    pub here: PathBuf,
    /// How the other one is reached.
    pub access: Access,
}

/// The ends of a group's copies.
///
/// * `host`: which host of the plan this machine is, if any.
///
/// # Errors
/// When none of both, or both, are on this machine, or the token of a server cannot be read.
pub(super) fn ends(
    plan: &Plan,
    group: &Group,
    host: Option<&str>,
    patience: Span,
) -> Result<Ends, Error> {
    let (direction, here, far) = match spots_here(group, host) {
        (true, false) => (CopyDirection::Put, &group.from, &group.to),
        (false, true) => (CopyDirection::Get, &group.to, &group.from),
        (true, true) => return Err(both_here(group)),
        (false, false) => return Err(none_here(group, host)),
    };
    let here = local(plan, here)?;
    let place = far_place(plan, far)?;
    // With a slash, what is in the folder goes, and not the folder.
    let (source, destination) = match direction {
        CopyDirection::Put => (here.join(""), place),
        CopyDirection::Get => (place.join(""), here.clone()),
    };
    let access = access(plan, far.host.as_ref(), patience)?;
    Ok(Ends {
        source,
        destination,
        direction,
        here,
        access,
    })
}

/// Whether an end of the group is on this machine.
pub(super) fn is_here(group: &Group, host: Option<&str>) -> bool {
    let (from, to) = spots_here(group, host);
    from || to
}

/// Whether each end of the group is on this machine.
fn spots_here(group: &Group, host: Option<&str>) -> (bool, bool) {
    let is_here = |spot: &Spot| match &spot.host {
        None => true,
        Some(name) => Some(name.as_str()) == host,
    };
    (is_here(&group.from), is_here(&group.to))
}

/// A folder of this machine.
///
/// # Errors
/// When the plan does not say from `/` where it is.
pub(super) fn local(plan: &Plan, spot: &Spot) -> Result<PathBuf, Error> {
    let host = spot.host.as_ref().and_then(|name| plan.hosts().get(name));
    if let Some(root) = host.and_then(|host| host.root.as_deref()) {
        return Ok(Path::new(root).join(spot.path.trim_start_matches('/')));
    }
    match spot.path.starts_with('/') {
        true => Ok(PathBuf::from(&spot.path)),
        false => Err(Error::wrong_request(
            format!("`{spot}` does not begin with `/`, and it is on this host"),
            "write the whole path in the plan, or the `root` of the host: tasks run in any folder",
        )),
    }
}

fn both_here(group: &Group) -> Error {
    Error::wrong_request(
        format!(
            "both ends of group `{}` are on this host: {} and {}",
            group.name, group.from, group.to
        ),
        "use cp; or leave out `--host`, and files go through the other host's address",
    )
}

fn none_here(group: &Group, host: Option<&str>) -> Error {
    let names = [&group.from, &group.to].map(|spot| spot.host.as_ref().map(HostName::as_str));
    let names: Vec<&str> = names.into_iter().flatten().collect();
    let here = host.map_or("this machine is no host of the plan".to_owned(), |host| {
        format!("this machine is `{host}`")
    });
    Error::wrong_request(
        format!(
            "neither {} nor {} of group `{}` is here: {here}",
            group.from, group.to, group.name
        ),
        format!(
            "run it at one of both, with `--host {}`",
            names.join("` or `--host ")
        ),
    )
}

/// How a folder of another host is named for a copy.
pub(super) fn far_place(plan: &Plan, spot: &Spot) -> Result<PathBuf, Error> {
    let host = spot.host.as_ref().and_then(|name| plan.hosts().get(name));
    let Some(host) = host else {
        return Err(Error::wrong_request(
            format!("`{spot}` is on a host that the plan does not have"),
            "write it under `[hosts]`",
        ));
    };
    Ok(PathBuf::from(match host.address.starts_with(SERVER) {
        true => {
            let address = host.address.trim_end_matches('/');
            let path = spot.path.trim_start_matches('/');
            format!("{address}/{}", escaped(path))
        }
        false => format!("{}:{}", host.address, spot.path),
    }))
}

/// What a place of a server takes for itself: `%` (RFC 3986, section 2.1).
fn escaped(path: &str) -> String {
    path.replace('%', "%25")
}

fn access(plan: &Plan, host: Option<&HostName>, patience: Span) -> Result<Access, Error> {
    let host = host.and_then(|name| plan.hosts().get(name));
    let token = host.and_then(|host| host.token.as_deref());
    let read = |file: &str| -> Result<_, Error> {
        let file = Path::new(file);
        let text = fs::read_to_string(file).map_err(|error| Error::unreadable(file, error))?;
        Ok(text.parse()?)
    };
    let defaults = Access::default();
    let program = host.and_then(|host| host.program.clone());
    Ok(Access {
        token: token.map(read).transpose()?,
        program: program.unwrap_or(defaults.program),
        patience,
        ..defaults
    })
}

/// Whether a host's address is one.
pub(super) fn check_address(address: &str) -> Result<(), (String, String)> {
    let place = match address.starts_with(SERVER) {
        true => address.to_owned(),
        false => format!("{address}:x"),
    };
    match Place::parse(place.as_ref()) {
        Ok(Place::Here(_)) => Err((
            format!("`{address}` is no address of a host"),
            "write `ana@dtn.example.org` for ssh, or `trunkline://dtn.example.org`".to_owned(),
        )),
        Ok(_) => Ok(()),
        Err(error) => Err((error.what, error.hint)),
    }
}
