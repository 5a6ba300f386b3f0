//! From places of a plan to places of a copy, as they are named on the host that runs it.

use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};

use campaign_plan::{Campaign as Plan, Group, Host, HostName, Spot};
use units::{Span, Via};

use trunkline::Error;
use trunkline::copy::{Access, FarProgram, Patience, Place, Token};

/// How the address of a standing server begins.
pub(super) const SERVER: &str = "trunkline://";

/// A copy's two ends. One is here and the other one elsewhere, or both are elsewhere and this
/// machine commands.
#[derive(Debug, Clone)]
pub(super) struct Ends {
    /// What `trunkline copy` takes.
    pub source: PathBuf,
    /// The same.
    pub destination: PathBuf,
    /// The end that is on this machine.
    pub here: Here,
    /// How the others are reached.
    pub access: Access,
}

/// The end of a copy that is on this machine.
#[derive(Debug, Clone)]
pub(super) enum Here {
    /// The folder that it is from.
    Source(PathBuf),
    /// The folder that it goes into.
    Destination(PathBuf),
    /// None: a third-party copy.
    Neither,
}

impl Here {
    /// Whether the source is another host's, which takes only so many names at once.
    pub(super) fn sends_elsewhere(&self) -> bool {
        !matches!(self, Here::Source(_))
    }

    /// The folder on this machine.
    pub(super) fn folder(&self) -> Option<&Path> {
        match self {
            Here::Source(folder) | Here::Destination(folder) => Some(folder),
            Here::Neither => None,
        }
    }
}

/// The ends of a group's copies.
///
/// * `host`: which host of the plan this machine is, if any.
/// * `turn`: which of its addresses a far host is reached at, in turn.
///
/// # Errors
/// When both are on this machine, or none of both and it is a host of the plan, or the token of a
/// server cannot be read.
pub(super) fn ends(
    plan: &Plan,
    group: &Group,
    host: Option<&str>,
    turn: u64,
    patience: Span,
) -> Result<Ends, Error> {
    let here = match (spots_here(group, host), host) {
        ((true, false), _) => Here::Source(local(plan, &group.from)?),
        ((false, true), _) => Here::Destination(local(plan, &group.to)?),
        ((true, true), _) => return Err(both_here(group)),
        ((false, false), None) => Here::Neither,
        ((false, false), Some(host)) => return Err(none_here(group, host)),
    };
    // With a slash, what is in the folder goes, and not the folder.
    let source = match &here {
        Here::Source(folder) => folder.join(""),
        Here::Destination(_) | Here::Neither => far_place(plan, &group.from, turn)?.join(""),
    };
    let destination = match &here {
        Here::Destination(folder) => folder.clone(),
        Here::Source(_) | Here::Neither => far_place(plan, &group.to, turn)?,
    };
    let access = access(plan, group, &here, patience)?;
    Ok(Ends {
        source,
        destination,
        here,
        access,
    })
}

/// Whether this machine runs the group: it has an end of it, or is no host of the plan and commands
/// the two that have.
pub(super) fn is_run_here(group: &Group, host: Option<&str>) -> bool {
    let (from, to) = spots_here(group, host);
    from || to || host.is_none()
}

/// Whether each end of the group is on this machine.
fn spots_here(group: &Group, host: Option<&str>) -> (bool, bool) {
    (is_here(&group.from, host), is_here(&group.to, host))
}

/// Whether a place is on this machine.
pub(super) fn is_here(spot: &Spot, host: Option<&str>) -> bool {
    match &spot.host {
        None => true,
        Some(name) => Some(name.as_str()) == host,
    }
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

fn none_here(group: &Group, host: &str) -> Error {
    let names = [&group.from, &group.to].map(|spot| spot.host.as_ref().map(HostName::as_str));
    let names: Vec<&str> = names.into_iter().flatten().collect();
    Error::wrong_request(
        format!(
            "neither {} nor {} of group `{}` is here: this machine is `{host}`",
            group.from, group.to, group.name
        ),
        format!(
            "run it at one of both, with `--host {}`, or at any machine without `--host`, which \
             then commands the two",
            names.join("` or `--host ")
        ),
    )
}

/// How a folder of another host is named for a copy.
///
/// * `turn`: which of the host's addresses, in turn.
pub(super) fn far_place(plan: &Plan, spot: &Spot, turn: u64) -> Result<PathBuf, Error> {
    let host = spot.host.as_ref().and_then(|name| plan.hosts().get(name));
    let Some(host) = host else {
        return Err(Error::wrong_request(
            format!("`{spot}` is on a host that the plan does not have"),
            "write it under `[hosts]`",
        ));
    };
    let address = address(host, turn);
    Ok(PathBuf::from(match address.starts_with(SERVER) {
        true => {
            let address = address.trim_end_matches('/');
            let path = spot.path.trim_start_matches('/');
            format!("{address}/{}", escaped(path))
        }
        false => format!("{address}:{}", spot.path),
    }))
}

fn address(host: &Host, turn: u64) -> &str {
    let at = usize::try_from(turn % (host.also.len() as u64 + 1)).unwrap_or(0);
    let other = at.checked_sub(1).and_then(|at| host.also.get(at));
    other.map_or(host.address.as_str(), String::as_str)
}

/// A turn at random, for what is asked once: the next time another address may answer.
pub(super) fn any_turn() -> u64 {
    RandomState::new().hash_one(std::process::id())
}

/// What a place of a server takes for itself: `%` (RFC 3986, section 2.1).
fn escaped(path: &str) -> String {
    path.replace('%', "%25")
}

/// How the other ends of a group are reached.
pub(super) fn access(
    plan: &Plan,
    group: &Group,
    here: &Here,
    patience: Span,
) -> Result<Access, Error> {
    let (far, source) = match here {
        Here::Source(_) => (&group.to, None),
        Here::Destination(_) => (&group.from, None),
        Here::Neither => (&group.to, Some(&group.from)),
    };
    let host = far.host.as_ref().and_then(|name| plan.hosts().get(name));
    let defaults = Access::default();
    let program = host.and_then(|host| host.program.clone());
    let link = plan.links().get(&group.link);
    Ok(Access {
        token: token(plan, far)?,
        source_token: source.map_or(Ok(None), |spot| token(plan, spot))?,
        program: program.map_or(defaults.program, FarProgram::There),
        via: Via {
            family: link.and_then(|link| link.ip),
            dscp: link.and_then(|link| link.dscp),
            ..defaults.via
        },
        // What never was there is waited for by the run, which says so in its status.
        patience: Patience::once_there(patience),
        ..defaults
    })
}

/// Whether a standing server has the place.
pub(super) fn is_at_server(plan: &Plan, spot: &Spot) -> bool {
    let host = spot.host.as_ref().and_then(|name| plan.hosts().get(name));
    host.is_some_and(|host| host.address.starts_with(SERVER))
}

/// What opens the server of a place; none where ssh does.
pub(super) fn token(plan: &Plan, spot: &Spot) -> Result<Option<Token>, Error> {
    let host = spot.host.as_ref().and_then(|name| plan.hosts().get(name));
    let Some(file) = host.and_then(|host| host.token.as_deref()) else {
        return Ok(None);
    };
    let file = Path::new(file);
    let text = fs::read_to_string(file).map_err(|error| Error::unreadable(file, error))?;
    Ok(Some(text.parse()?))
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
