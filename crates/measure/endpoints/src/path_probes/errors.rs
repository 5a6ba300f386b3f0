//! Why a path was not probed, in words for the one who asked for it.

use measure_protocol::trains::{Cause, Refused};
use observe::{Fault, ProbesError, TargetError};
use units::{Address, Bytes};

use super::session::LinkError;
use crate::client::ClientError;
use probe_net::trains::TransmitError;

/// No server of ours at the far end.
pub(super) fn not_ours(address: &Address, what: &str) -> ProbesError {
    ProbesError::Unsupported {
        why: format!("trains need `trunkline serve` at the far end, and {address} runs {what}"),
        hint: Some(format!(
            "start `trunkline serve` of this version on {}, on a port of its own",
            address.host
        )),
    }
}

/// No server that looks for the way back.
pub(super) fn no_way_back(address: &Address) -> ProbesError {
    ProbesError::Unsupported {
        why: format!(
            "the way back needs `trunkline serve` of this version, which {address} does not run"
        ),
        hint: Some(format!(
            "start it on {}, on a port of its own",
            address.host
        )),
    }
}

/// No echoes of a size that one chooses; without an error the far host answers none.
pub(super) fn no_icmp(address: &Address, error: Option<std::io::Error>) -> ProbesError {
    let why = match error {
        Some(error) => format!("this host sends no ICMP echoes: {error}"),
        None => format!("{} answers no ICMP echoes", address.host),
    };
    let hint = "open firewalls for ICMP, and `net.ipv4.ping_group_range` for this user's group";
    ProbesError::Unsupported {
        why,
        hint: Some(hint.to_owned()),
    }
}

/// No kind of probe is answered.
pub(super) fn unanswered(address: &Address) -> ProbesError {
    failed(
        Fault::Run,
        format!(
            "{} answers neither echo datagrams nor ICMP nor TCP connections",
            address.host
        ),
        Some(format!(
            "check that {} is up; a firewall may drop all three",
            address.host
        )),
    )
}

/// The session came to an end.
pub(super) fn ended(address: &Address, error: LinkError) -> ProbesError {
    match error {
        LinkError::Cancelled | LinkError::Transmit(TransmitError::Cancelled) => cancelled(),
        LinkError::Transmit(TransmitError::TooLarge { packet, mtu }) => too_large(packet, mtu),
        error => failed(
            Fault::Run,
            format!("{address}: {error}"),
            Some("see what the server says, and try again".to_owned()),
        ),
    }
}

/// The packets do not pass.
pub(super) fn too_large(packet: Bytes, mtu: Bytes) -> ProbesError {
    let error = TransmitError::TooLarge { packet, mtu };
    let hint = format!("send packets of at most {} bytes", mtu.get());
    failed(Fault::Request, error.to_string(), Some(hint))
}

/// The server will not have this train.
pub(super) fn refused(address: &Address, refused: &Refused) -> ProbesError {
    let words = refused.words();
    match refused.cause {
        Cause::Unopened => ProbesError::Unsupported {
            why: format!("{address}: {words}"),
            hint: Some(format!(
                "open UDP port {} beside the TCP port in the server's firewall",
                address.port
            )),
        },
        Cause::Bound => failed(
            Fault::Request,
            format!("{address}: {words}"),
            Some("send shorter trains or smaller packets".to_owned()),
        ),
        _ => failed(Fault::Run, format!("{address}: {words}"), None),
    }
}

/// It went wrong again and again.
pub(super) fn gave_up(address: &Address, why: &str, tries: usize) -> ProbesError {
    failed(
        Fault::Run,
        format!("{address}: {why}, {tries} times in a row"),
        None,
    )
}

/// The user has had enough.
pub(super) fn cancelled() -> ProbesError {
    TargetError::from(ClientError::Cancelled).into()
}

/// The train itself cannot be.
pub(super) fn wrong_train(what: String) -> ProbesError {
    failed(Fault::Request, what, None)
}

fn failed(fault: Fault, what: String, hint: Option<String>) -> ProbesError {
    ProbesError::Failed(TargetError {
        fault,
        what,
        hint,
        source: None,
    })
}
