//! From places and options to everything that a copy is told.

use std::ops::RangeInclusive;
use std::path::PathBuf;

use copy_protocol::{
    CongestionChoice, Connect, CopyOptions, CopySpec, Credentials, FarHost, FarProgram, Filter,
    NearEnd, Patience, Place as FarPlace, Token,
};
use observe::{Transport, Window};
use sockets::options::StreamOptions;
use units::{Family, PairChoice, Via};

use super::checksum_lists::{self, ChecksumList};
use super::multipath;
use super::pairs::{PairsAsked, not_here, pairs};
use super::{Place, Route};
use crate::Error;
use crate::history::CopyMemory;
use crate::tune::Objective;

/// How a far end is reached.
#[derive(Debug, Clone)]
pub struct Access {
    /// The ssh client, with further words for it such as `-p 2222`.
    pub ssh: Vec<String>,
    /// The program that ssh starts there.
    pub program: FarProgram,
    /// What opens a standing server; ssh needs none.
    pub token: Option<Token>,
    /// What opens the standing server that is the source of a third-party copy; `token` otherwise.
    pub source_token: Option<Token>,
    /// The far end connects the streams, where only connections from there get through.
    pub from_far: bool,
    /// Ports to listen on, where ssh starts the far end; any free one without.
    pub ports: Option<RangeInclusive<u16>>,
    /// What carries the streams.
    pub transport: Transport,
    /// How packets leave this host.
    pub via: Via,
    /// Pairs of addresses over which the streams of a copy are dealt, or all that the far end
    /// tells; without any they go where the far end answers. Pipes take none.
    pub pairs: Vec<PairChoice>,
    /// How long the far end may be away before the copy is given up.
    pub patience: Patience,
}

/// TCP, `ssh` and `trunkline` by those names, no tokens, connections to the far end, ten minutes.
impl Default for Access {
    fn default() -> Self {
        Access {
            ssh: vec!["ssh".to_owned()],
            program: FarProgram::default(),
            token: None,
            source_token: None,
            from_far: false,
            ports: None,
            transport: Transport::Tcp,
            via: Via::default(),
            pairs: Vec::new(),
            patience: Patience::default(),
        }
    }
}

/// One copy: its places as the user wrote them, and everything that it is told.
#[derive(Debug, Clone)]
pub struct CopyRequest {
    /// The sources, as written.
    pub sources: Vec<String>,
    /// The destination, as written.
    pub destination: String,
    /// Everything that the copy is told.
    pub spec: CopySpec,
    /// Lists of checksums to be written of what was copied.
    pub checksum_lists: Vec<ChecksumList>,
}

/// What else is kept of files cannot be combined with everything.
fn check_kept(options: &CopyOptions, is_between_others: bool) -> Result<(), Error> {
    let kept = options.attributes.kept;
    let asked = kept.options();
    if is_between_others && kept.any() {
        return Err(Error::wrong_request(
            format!("{asked} cannot be kept in a copy between two other hosts"),
            "start the copy at one of the two hosts",
        ));
    }
    if kept.hard_links && options.filter == Filter::Missing {
        return Err(Error::wrong_request(
            "`--hard-links` and `--ignore-existing` exclude each other: a name that stays as it is \
                becomes no name of another file",
            "leave out one of the two",
        ));
    }
    if (kept.acls || kept.owners.is_some()) && !options.attributes.permissions {
        return Err(Error::wrong_request(
            format!("{asked} and `--no-preserve permissions` exclude each other"),
            "leave out one of the two: owners and ACLs mean little without the mode",
        ));
    }
    Ok(())
}

/// A copy that goes on sees only what is new in each pass, and only files of this host.
fn check_follow(route: &Route, options: &CopyOptions) -> Result<(), Error> {
    if options.follow.is_none() {
        return Ok(());
    }
    if !matches!(route, Route::Put { .. }) {
        return Err(Error::wrong_request(
            "`--follow` looks at files of this host, and those of this copy are on another",
            "start the copy at the host that has the files",
        ));
    }
    let (what, why) = match options {
        CopyOptions { delete: true, .. } => (
            "--delete",
            "a copy that follows its sources removes nothing at the destination",
        ),
        CopyOptions { dry_run: true, .. } => {
            ("--dry-run", "a dry run looks once, and cannot follow")
        }
        _ if options.attributes.kept.hard_links => (
            "--hard-links",
            "a second name that appears later would be a file of its own",
        ),
        _ if options.selection.listed.is_some() => {
            ("--files-from", "a fixed list never gets new names")
        }
        _ => return Ok(()),
    };
    Err(Error::wrong_request(
        format!("`--follow` and `{what}` exclude each other: {why}"),
        "leave out one of the two",
    ))
}

/// What differs is found out while files are replaced, by the two ends.
fn check_delta(route: &Route, options: &CopyOptions) -> Result<(), Error> {
    if !options.delta {
        return Ok(());
    }
    if route.commanded().is_some() {
        return Err(Error::wrong_request(
            "`--delta` is not for a copy between two other hosts",
            "start the copy at one of the two hosts",
        ));
    }
    let (what, why) = match options {
        CopyOptions { dry_run: true, .. } => ("--dry-run", "a dry run reads no contents"),
        _ if options.filter == Filter::Missing => {
            ("--ignore-existing", "no file is replaced there")
        }
        _ => return Ok(()),
    };
    Err(Error::wrong_request(
        format!("`--delta` and `{what}` exclude each other: {why}"),
        "leave out one of the two",
    ))
}

impl CopyRequest {
    /// Reads `places`, of which the last is the destination: `PATH`, `[USER@]HOST:PATH` or
    /// `trunkline://HOST[:PORT]/PATH`. Where both ends are on other hosts, this one commands a
    /// third-party copy.
    ///
    /// ```
    /// use trunkline::copy::{Access, CopyOptions, CopyRequest};
    /// let options = CopyOptions { recursive: true, ..CopyOptions::default() };
    /// let request = CopyRequest::new(&["run7", "dtn:/store"], options, Access::default())?;
    /// assert_eq!(request.destination, "dtn:/store");
    ///
    /// let refused = CopyRequest::new(&["a", "b"], CopyOptions::default(), Access::default());
    /// assert_eq!(refused.unwrap_err().to_string(), "both ends are on this host");
    /// # Ok::<(), trunkline::Error>(())
    /// ```
    ///
    /// # Errors
    /// When they name no copy, or the options or the access do not fit.
    pub fn new(
        places: &[impl Into<PathBuf> + Clone],
        options: CopyOptions,
        access: Access,
    ) -> Result<Self, Error> {
        let places: Vec<PathBuf> = places.iter().cloned().map(Into::into).collect();
        let route = Route::parse(&places)?;
        check_tokens(&route, &access)?;
        check_kept(&options, route.commanded().is_some())?;
        check_follow(&route, &options)?;
        check_delta(&route, &options)?;
        let mut names: Vec<String> = places
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        let spec = spec(&route, options, access)?;
        check_sftp(&spec)?;
        Ok(CopyRequest {
            destination: names.pop().unwrap_or_default(),
            sources: names,
            spec,
            checksum_lists: Vec::new(),
        })
    }

    /// The same copy, which writes these lists once all is copied: of each file that it copied or
    /// found to be there, as this end has it.
    ///
    /// # Errors
    /// When both ends are on other hosts, it is a dry run, or a checksum or a file is named twice.
    pub fn listing(mut self, lists: Vec<ChecksumList>) -> Result<Self, Error> {
        checksum_lists::check(&lists, &self.spec)?;
        self.checksum_lists = lists;
        Ok(self)
    }

    /// The same copy, which begins with the streams that served before. The congestion control that
    /// a search found is used over TCP where the copy leaves its streams to trunkline, is not
    /// gentle, and is for the knee or the highest goodput.
    #[must_use]
    pub fn remembering(mut self, memory: CopyMemory) -> Self {
        let options = &mut self.spec.options;
        let seeks_goodput = matches!(options.objective, Objective::Knee { .. } | Objective::Max);
        let is_free = seeks_goodput
            && self.spec.transport == Transport::Tcp
            && options.gentle.is_none()
            && options.streams.is_none()
            && options.congestion.is_none();
        options.remembered = memory.streams;
        if let Some(found) = memory.control.filter(|_| is_free) {
            options.remembered = Some(found.streams);
            options.congestion = Some(CongestionChoice {
                name: found.name,
                if_allowed: true,
            });
        }
        self
    }
}

fn spec(route: &Route, options: CopyOptions, access: Access) -> Result<CopySpec, Error> {
    let asked = PairsAsked {
        pairs: &access.pairs,
        via: &access.via,
        is_between_others: route.commanded().is_some(),
        from_far: access.from_far,
        transport: access.transport,
    };
    multipath::check(&asked, &options)?;
    let (near, far) = match route {
        Route::Put {
            sources,
            destination,
        } => (
            NearEnd::Here(sources.clone()),
            far_place(
                &access,
                access.token.as_ref(),
                std::slice::from_ref(destination),
            )?,
        ),
        Route::Get {
            sources,
            destination,
        } => (
            NearEnd::Here(vec![destination.clone()]),
            far_place(&access, access.token.as_ref(), sources)?,
        ),
        Route::ThirdParty {
            sources,
            destination,
        } => (
            NearEnd::At(far_place(&access, access.source_token(), sources)?),
            far_place(
                &access,
                access.token.as_ref(),
                std::slice::from_ref(destination),
            )?,
        ),
    };
    let (pairs, all_addresses) = pairs(&asked, &options)?;
    Ok(CopySpec {
        direction: route.direction(),
        near,
        far,
        pairs,
        all_addresses,
        transport: checked_transport(route, &access, &options)?,
        options: checked(route, options)?,
        connect: match access.from_far {
            false => Connect::ToFar(access.ports),
            true => Connect::FromFar(access.ports),
        },
        patience: access.patience,
    })
}

impl Access {
    fn source_token(&self) -> Option<&Token> {
        self.source_token.as_ref().or(self.token.as_ref())
    }
}

/// What SFTP cannot do is not left out.
fn check_sftp(spec: &CopySpec) -> Result<(), Error> {
    let is_asked = |host: &FarHost| {
        let FarHost::Ssh { program, .. } = host else {
            return false;
        };
        *program == FarProgram::Sftp
    };
    let source = match &spec.near {
        NearEnd::At(source) => is_asked(&source.host),
        NearEnd::Here(_) => false,
    };
    match spec.beyond_sftp() {
        Some((what, hint)) if source || is_asked(&spec.far.host) => {
            Err(Error::wrong_request(what, hint))
        }
        _ => Ok(()),
    }
}

/// A token that opens nothing is a mistake.
fn check_tokens(route: &Route, access: &Access) -> Result<(), Error> {
    let is_server = |place: Option<&Place>| matches!(place, Some(Place::Server { .. }));
    let (far, commanded) = (is_server(route.far()), is_server(route.commanded()));
    let is_unused = access.token.is_some() && !far && !commanded;
    match is_unused || access.source_token.is_some() && !commanded {
        true => Err(Error::wrong_request(
            "a token is for a trunkline:// server, and this copy goes over ssh",
            "leave it out: ssh says who you are",
        )),
        false => Ok(()),
    }
}

/// Places of one host, and how it is reached.
fn far_place(access: &Access, token: Option<&Token>, places: &[Place]) -> Result<FarPlace, Error> {
    Ok(FarPlace {
        paths: places.iter().map(Place::path).collect(),
        host: host(access, token, places.first())?,
    })
}

/// Over UDP the window, the congestion control, the encryption and the octet of the class are
/// QUIC's, and a standing server has the port.
fn checked_transport(
    route: &Route,
    access: &Access,
    options: &CopyOptions,
) -> Result<Transport, Error> {
    if access.transport == Transport::Tcp {
        return Ok(Transport::Tcp);
    }
    let is_server = matches!(route.far(), Some(Place::Server { .. }));
    if !is_server || route.commanded().is_some() {
        return Err(Error::wrong_request(
            "`--transport udp` is for copies between this host and a trunkline:// server",
            "start `trunkline serve --root` at the other end, or leave it out",
        ));
    }
    let what = match options {
        _ if access.via.dscp.is_some() => "--dscp",
        CopyOptions { plain: true, .. } => "--plain",
        CopyOptions {
            congestion: Some(_),
            ..
        } => "--congestion",
        CopyOptions {
            window: Window::Fixed(_),
            ..
        } => "--window",
        _ => return Ok(Transport::Udp),
    };
    Err(Error::wrong_request(
        format!("`{what}` is for TCP, and this copy has `--transport udp`"),
        "leave out one of the two",
    ))
}

/// Without folders none has anything that should not be in it, and this host has to have the
/// congestion control that it is to send with.
fn checked(route: &Route, options: CopyOptions) -> Result<CopyOptions, Error> {
    let control = options.congestion.as_ref().filter(|one| !one.if_allowed);
    if let (Some(control), Route::Put { .. }) = (control, route) {
        let option = StreamOptions {
            congestion: Some(control.name.clone()),
            ..StreamOptions::default()
        };
        option.try_here().map_err(not_here)?;
    }
    if options.delete && options.selection.listed.is_some() {
        return Err(Error::wrong_request(
            "`--delete` and `--files-from` exclude each other: a list says nothing of the rest",
            "leave out one of the two",
        ));
    }
    match options.delete && !options.recursive {
        true => Err(Error::wrong_request(
            "`--delete` is for folders, and without `-r` none is copied",
            "add `-r`; with `-n` it says what would be removed",
        )),
        false => Ok(options),
    }
}

/// How the host of a place is reached, with the token of the access.
pub(crate) fn host_of(access: &Access, far: &Place) -> Result<FarHost, Error> {
    host(access, access.token.as_ref(), Some(far))
}

fn host(access: &Access, token: Option<&Token>, far: Option<&Place>) -> Result<FarHost, Error> {
    match far {
        Some(Place::Server { address, .. }) => {
            only_over_ssh(access)?;
            Ok(FarHost::Server {
                address: address.clone().leaving(access.via.clone()),
                credentials: credentials(token)?,
            })
        }
        Some(Place::Ssh { destination, .. }) => Ok(over_ssh(access, destination)),
        Some(Place::Here(_)) | None => Err(Error::wrong_request(
            "no other host is named",
            "write HOST:PATH or trunkline://HOST/PATH",
        )),
    }
}

fn over_ssh(access: &Access, destination: &str) -> FarHost {
    let (client, options) = access.ssh.split_first().map_or_else(
        || ("ssh".to_owned(), Vec::new()),
        |(client, options)| (client.clone(), options.to_vec()),
    );
    let mut words = words_for_ssh(&access.via);
    words.extend(options);
    FarHost::Ssh {
        destination: destination.to_owned(),
        client,
        options: words,
        program: access.program.clone(),
        via: access.via.clone(),
    }
}

/// What ssh is told of it, which connects for itself.
fn words_for_ssh(via: &Via) -> Vec<String> {
    let family = via.family.map(|family| match family {
        Family::V4 => vec!["-4".to_owned()],
        Family::V6 => vec!["-6".to_owned()],
    });
    let address = via.source.address.as_ref();
    let address = address.map(|address| vec!["-b".to_owned(), address.to_string()]);
    let device = via.source.device.as_ref();
    let device = device.map(|device| vec!["-B".to_owned(), device.clone()]);
    [family, address, device]
        .into_iter()
        .flatten()
        .flatten()
        .collect()
}

/// A standing server has one port, and everybody connects to it.
fn only_over_ssh(access: &Access) -> Result<(), Error> {
    if access.program == FarProgram::Sftp {
        return Err(Error::wrong_request(
            "`--sftp` is for copies over ssh, and a trunkline:// server speaks its own protocol",
            "leave it out, or write the place as HOST:PATH",
        ));
    }
    let what = match (access.from_far, &access.ports) {
        (true, _) => "--connect from-far",
        (_, Some(_)) => "--port-range",
        _ => return Ok(()),
    };
    Err(Error::wrong_request(
        format!(
            "`{what}` is for copies over ssh; a trunkline:// server has one port for everything"
        ),
        "leave it out, and name the port in the place: trunkline://HOST:PORT/PATH",
    ))
}

fn credentials(token: Option<&Token>) -> Result<Credentials, Error> {
    let token = token.ok_or_else(|| {
        Error::wrong_request(
            "a trunkline:// server wants a token, and there is none",
            "name the file that has it with `--token-file FILE`, or set TRUNKLINE_TOKEN; on the \
             server, `trunkline serve --tokens FILE --new-token NAME` makes one",
        )
    })?;
    Ok(Credentials(token.text()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use archive::FoundControl;
    use copy_protocol::Follow;
    use observe::StreamCount;
    use units::Span;

    fn memory() -> CopyMemory {
        CopyMemory {
            streams: StreamCount::new(16).ok(),
            control: Some(FoundControl {
                name: "bbr".to_owned(),
                streams: StreamCount::ONE,
            }),
        }
    }

    /// The streams to begin with and the congestion control of a copy with memory.
    fn begun(options: CopyOptions) -> (Option<u16>, Option<String>) {
        let request = CopyRequest::new(&["run7", "dtn:/store"], options, Access::default());
        let spec = request.unwrap().remembering(memory()).spec;
        let streams = spec.options.remembered.map(StreamCount::get);
        (streams, spec.options.congestion.map(|one| one.name))
    }

    #[test]
    fn a_copy_begins_with_the_control_and_the_streams_that_a_search_found() {
        let usual = CopyOptions::default();
        assert_eq!(begun(usual.clone()), (Some(1), Some("bbr".to_owned())));
        let cubic = CopyOptions {
            congestion: Some(CongestionChoice::required("cubic".to_owned())),
            ..usual
        };
        assert_eq!(begun(cubic), (Some(16), Some("cubic".to_owned())));
    }

    #[test]
    fn a_copy_that_goes_on_is_refused_with_what_looks_at_all_at_once() {
        let following = CopyOptions {
            recursive: true,
            follow: Some(Follow::UNTIL_STOPPED),
            ..CopyOptions::default()
        };
        let refused = |places: [&str; 2], options: &CopyOptions| {
            CopyRequest::new(&places, options.clone(), Access::default())
                .err()
                .map(|error| error.to_string())
        };
        let put = ["run7", "dtn:/store"];
        assert_eq!(refused(put, &following), None);
        let get = refused(["dtn:/store", "."], &following).unwrap();
        assert!(get.contains("looks at files of this host"), "{get}");
        let mut listed = following.clone();
        listed.selection.listed = Some(vec![b"a".to_vec()]);
        let mut linked = following.clone();
        linked.attributes.kept.hard_links = true;
        let others = [
            ("--files-from", listed),
            ("--hard-links", linked),
            (
                "--delete",
                CopyOptions {
                    delete: true,
                    ..following.clone()
                },
            ),
            (
                "--dry-run",
                CopyOptions {
                    dry_run: true,
                    ..following
                },
            ),
        ];
        for (name, options) in others {
            let told = refused(put, &options).unwrap();
            assert!(told.contains(name), "{name}: {told}");
        }
    }

    #[test]
    fn a_copy_that_gives_way_or_has_its_number_of_streams_keeps_the_hosts_control() {
        let usual = CopyOptions::default();
        let others = [
            CopyOptions {
                gentle: Some(Span::from_millis(30)),
                ..usual.clone()
            },
            CopyOptions {
                streams: StreamCount::new(4).ok(),
                ..usual.clone()
            },
            CopyOptions {
                objective: Objective::Power,
                ..usual
            },
        ];
        for options in others {
            assert_eq!(begun(options), (Some(16), None));
        }
    }
}
