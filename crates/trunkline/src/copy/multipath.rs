//! Copies over multipath TCP: what they cannot be combined with, and whether this host has it.

use copy_protocol::CopyOptions;
use observe::Transport;
use sockets::options::StreamOptions;
use units::Via;

use super::pairs::{PairsAsked, not_here};
use crate::Error;

/// Whether a copy can have multipath TCP, where it was asked for.
///
/// # Errors
/// What that cannot be combined with; that this host does not have it.
pub(super) fn check(beside: &PairsAsked<'_>, options: &CopyOptions) -> Result<(), Error> {
    if !beside.via.multipath {
        return Ok(());
    }
    combined(beside, options)?;
    let asked = StreamOptions {
        via: Via {
            multipath: true,
            ..Via::default()
        },
        ..StreamOptions::default()
    };
    asked.try_here().map_err(not_here)
}

fn combined(beside: &PairsAsked<'_>, options: &CopyOptions) -> Result<(), Error> {
    let (what, why) = match beside {
        it if it.is_between_others => {
            return Err(Error::wrong_request(
                "`--mptcp` cannot be used between two other hosts, whose connections this one \
                 does not make",
                "start the copy at one of the two hosts",
            ));
        }
        it if it.transport == Transport::Udp => ("--transport udp", "multipath TCP is TCP"),
        it if !it.pairs.is_empty() => (
            "--via",
            "either the kernel deals the data over links, or the copy does",
        ),
        it if it.from_far => (
            "--connect from-far",
            "the end that connects has to ask for it",
        ),
        it if it.via.source.device.is_some() => {
            ("--bind %DEVICE", "all subflows would leave by that device")
        }
        it if it.via.dscp.is_some() => {
            ("--dscp", "Linux does not mark all packets of multipath TCP")
        }
        _ if options.gentle.is_some() => ("--gentle", "Linux does not pace multipath TCP"),
        _ => return Ok(()),
    };
    Err(Error::wrong_request(
        format!("`--mptcp` and `{what}` exclude each other: {why}"),
        "leave out one of the two",
    ))
}

#[cfg(test)]
mod tests {
    use super::super::{Access, CopyRequest};
    use super::*;
    use copy_protocol::FarProgram;
    use units::Dscp;

    fn refused(change: impl Fn(&mut Access)) -> Option<String> {
        let mut access = Access::default();
        access.via.multipath = true;
        change(&mut access);
        let request = CopyRequest::new(&["run7", "dtn:/store"], CopyOptions::default(), access);
        request.err().map(|error| error.to_string())
    }

    /// `errors.txt` of `trunkline-cli` has the other ones.
    #[test]
    fn what_multipath_tcp_cannot_be_combined_with_is_named() {
        let said =
            |error: Option<String>, what: &str| assert!(error.unwrap().contains(what), "{what}");
        said(
            refused(|it| it.transport = Transport::Udp),
            "`--transport udp`",
        );
        said(refused(|it| it.from_far = true), "`--connect from-far`");
        said(
            refused(|it| it.via.source.device = Some("lo".to_owned())),
            "`--bind %DEVICE`",
        );
        said(
            refused(|it| it.via.dscp = Some(Dscp::LOWER_EFFORT)),
            "`--dscp`",
        );
        if let Some(error) = refused(|_| ()) {
            assert!(error.contains("no multipath TCP"), "{error}");
            return testkit::skip(&error);
        }
        said(
            refused(|it| it.program = FarProgram::Sftp),
            "`--mptcp` needs trunkline",
        );
    }
}
