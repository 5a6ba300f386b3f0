//! Copies over multipath TCP: what they cannot be combined with, and whether this host has it.

use copy_protocol::CopyOptions;
use observe::Transport;
use sockets::options::StreamOptions;
use units::Via;

use crate::Error;

/// What a copy is asked for beside multipath TCP.
pub(super) struct Beside<'a> {
    /// How all connections leave this host.
    pub via: &'a Via,
    pub is_between_others: bool,
    pub transport: Transport,
    pub has_pairs: bool,
    pub from_far: bool,
}

/// Whether a copy can have multipath TCP, where it was asked for.
///
/// # Errors
/// What that cannot be combined with; that this host does not have it.
pub(super) fn check(beside: &Beside<'_>, options: &CopyOptions) -> Result<(), Error> {
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
    asked.try_here().map_err(|error| {
        let hint = error.hint().unwrap_or_default();
        Error::wrong_request(error.to_string(), hint)
    })
}

fn combined(beside: &Beside<'_>, options: &CopyOptions) -> Result<(), Error> {
    let (what, why) = match beside {
        it if it.is_between_others => {
            return Err(Error::wrong_request(
                "`--mptcp` cannot be used between two other hosts, whose connections this one \
                 does not make",
                "start the copy at one of the two hosts",
            ));
        }
        it if it.transport == Transport::Udp => ("--transport udp", "multipath TCP is TCP"),
        it if it.has_pairs => (
            "--via",
            "either the kernel deals the data over links, or the copy does",
        ),
        it if it.from_far => (
            "--connect from-far",
            "the end that connects has to ask for it",
        ),
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
    use units::{Dscp, Span};

    fn asked(access: Access, options: CopyOptions, places: &[&str]) -> Result<bool, String> {
        let access = Access {
            via: Via {
                multipath: true,
                ..access.via
            },
            ..access
        };
        let request = CopyRequest::new(places, options, access);
        let request = request.map_err(|error| error.to_string())?;
        Ok(request.spec.is_multipath())
    }

    #[test]
    fn what_multipath_tcp_cannot_be_combined_with_is_named() {
        let put = ["run7", "dtn:/store"];
        let refused = |access, options| asked(access, options, &put).unwrap_err();
        let usual = CopyOptions::default;
        let udp = Access {
            transport: Transport::Udp,
            ..Access::default()
        };
        assert!(refused(udp, usual()).contains("`--transport udp`"));
        let pairs = Access {
            pairs: vec!["127.0.0.1".parse().unwrap()],
            ..Access::default()
        };
        assert!(refused(pairs, usual()).contains("`--via`"));
        let from_far = Access {
            from_far: true,
            ..Access::default()
        };
        assert!(refused(from_far, usual()).contains("`--connect from-far`"));
        let mut marked = Access::default();
        marked.via.dscp = Some(Dscp::LOWER_EFFORT);
        assert!(refused(marked, usual()).contains("`--dscp`"));
        let gentle = CopyOptions {
            gentle: Some(Span::from_millis(10)),
            ..usual()
        };
        assert!(refused(Access::default(), gentle).contains("`--gentle`"));
        let between = asked(Access::default(), usual(), &["a:x", "b:y"]).unwrap_err();
        assert!(between.contains("two other hosts"), "{between}");
    }

    #[test]
    fn it_is_asked_of_hosts_that_have_it() {
        let asked = |access| asked(access, CopyOptions::default(), &["run7", "dtn:/store"]);
        match asked(Access::default()) {
            Ok(is_multipath) => assert!(is_multipath),
            Err(error) => return testkit::skip(&error),
        }
        let sftp = Access {
            program: FarProgram::Sftp,
            ..Access::default()
        };
        assert!(
            asked(sftp)
                .unwrap_err()
                .contains("`--mptcp` needs trunkline")
        );
    }
}
