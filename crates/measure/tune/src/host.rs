//! Kernel settings that stand in the way, with values that would not: a buffer, or a list of
//! congestion controls without bbr (`controls.rs`).
//!
//! Only the buffer that held the default stream back is named, at the end of the connection that
//! has it. A live target tells the limits of this host alone, so what the other has stays unknown
//! and its lines hold "if it is lower there". Of an emulated or simulated target's hosts both are
//! known, but from the path file: a real host is given the same line, under the same condition.
//!
//! Left out: the lower two values that a host has in `tcp_rmem` and `tcp_wmem`; a line holds those
//! that Linux ships and says so.

use observe::{HostLimits, Limit, StreamCount, StreamDirection, TargetKind, Window};
use units::Bytes;

use crate::advice::{End, SysctlLine};
use crate::belief::promise;
use crate::controls;
use crate::history::{History, main_direction};
use crate::verdict::verdict;

/// A buffer holds about half payload, the rest is bookkeeping (`tcp_adv_win_scale` of 1): twice the
/// bandwidth-delay product.
const BUFFER_PER_PRODUCT: u64 = 2;
/// The smallest and the initial size in `tcp_rmem` and `tcp_wmem` as Linux ships them.
const RECEIVE_DEFAULTS: [u64; 2] = [4096, 131_072];
const SEND_DEFAULTS: [u64; 2] = [4096, 16_384];

/// Lines that let one stream fill the path; empty when neither a buffer limited the default stream
/// nor losses a sender that may not use bbr.
pub(crate) fn host_advice(history: &History) -> Vec<SysctlLine> {
    let lines = || {
        let default = history.of(&history.setting(StreamCount::ONE, Window::Auto))?;
        let end = binding_end(verdict(history, default).limit)?;
        let owner = owner(
            end,
            history.target.kind,
            main_direction(default)?.direction,
            history.limits(),
        );
        Some(lines(end, owner, product(history)?))
    };
    let withheld = controls::withheld(history);
    lines().into_iter().flatten().chain(withheld).collect()
}

/// What fills the empty path.
fn product(history: &History) -> Option<Bytes> {
    let most = history
        .samples
        .iter()
        .map(|one| promise(history, one).goodput)
        .max()?;
    Some(most.bytes_in(history.rtt_min()?))
}

fn binding_end(limit: Limit) -> Option<End> {
    match limit {
        Limit::ReceiveBuffer => Some(End::Receiver),
        Limit::SendBuffer => Some(End::Sender),
        _ => None,
    }
}

/// The host that has the buffer, with its limits where they are known: read here, or from the path
/// file of an emulated or simulated target.
#[derive(Debug, Clone, Copy)]
enum Owner {
    Here(HostLimits),
    FromFile(HostLimits),
    Unknown,
}

impl Owner {
    fn limits(&self) -> Option<&HostLimits> {
        match self {
            Owner::Here(limits) | Owner::FromFile(limits) => Some(limits),
            Owner::Unknown => None,
        }
    }

    /// What precedes the reason: where else to turn, and when the line must not be used.
    fn condition(&self, file_key: &str) -> String {
        match self {
            Owner::Here(_) => String::new(),
            Owner::FromFile(_) => {
                format!("raise {file_key} in the path file; on a real host, if it is lower there: ")
            }
            Owner::Unknown => "if it is lower there: ".to_owned(),
        }
    }
}

fn owner(end: End, kind: TargetKind, client: StreamDirection, limits: Option<HostLimits>) -> Owner {
    let here = match client {
        StreamDirection::Sending => End::Sender,
        StreamDirection::Receiving => End::Receiver,
    };
    match (kind, limits) {
        (TargetKind::Emulated | TargetKind::Simulated, Some(limits)) => Owner::FromFile(limits),
        (TargetKind::Live, Some(limits)) if end == here => Owner::Here(limits),
        _ => Owner::Unknown,
    }
}

fn lines(end: End, owner: Owner, product: Bytes) -> Vec<SysctlLine> {
    let lines = [grown(end, owner, product), granted(end, owner, product)];
    let lacks = |line: &SysctlLine, needed| line.now.is_none_or(|now| now < needed);
    let lines = lines
        .into_iter()
        .filter(|(line, needed)| lacks(line, *needed));
    lines.map(|(line, _)| line).collect()
}

/// How far the kernel grows the buffer by itself, and how far it must.
fn grown(end: End, owner: Owner, product: Bytes) -> (SysctlLine, Bytes) {
    let needed = power_of_two(product.times(BUFFER_PER_PRODUCT));
    let (key, defaults, file_key) = match end {
        End::Sender => ("net.ipv4.tcp_wmem", SEND_DEFAULTS, "send_buffer_max"),
        End::Receiver => ("net.ipv4.tcp_rmem", RECEIVE_DEFAULTS, "receive_buffer_max"),
    };
    let now = |limits: &HostLimits| match end {
        End::Sender => limits.send_auto_max,
        End::Receiver => limits.receive_auto_max,
    };
    let [min, initial] = defaults.map(|size| size.min(needed.get()));
    let line = SysctlLine {
        end,
        key: key.to_owned(),
        value: format!("{min} {initial} {}", needed.get()),
        now: owner.limits().map(now),
        why: format!(
            "{}the kernel grows the buffer no further by itself, and {} fill the path; the first \
             two values are those of Linux, keep your own",
            owner.condition(file_key),
            product.human()
        ),
    };
    (line, needed)
}

/// How much a program gets that asks, and how much it must.
fn granted(end: End, owner: Owner, product: Bytes) -> (SysctlLine, Bytes) {
    let needed = power_of_two(product);
    let key = match end {
        End::Sender => "net.core.wmem_max",
        End::Receiver => "net.core.rmem_max",
    };
    let now = |limits: &HostLimits| match end {
        End::Sender => limits.send_fixed_max,
        End::Receiver => limits.receive_fixed_max,
    };
    let condition = match owner {
        Owner::Here(_) => "",
        Owner::FromFile(_) | Owner::Unknown => "if it is lower there: ",
    };
    let line = SysctlLine {
        end,
        key: key.to_owned(),
        value: needed.get().to_string(),
        now: owner.limits().map(now),
        why: format!(
            "{condition}a program that asks for a buffer gets no more, and {} fill the path",
            product.human()
        ),
    };
    (line, needed)
}

fn power_of_two(bytes: Bytes) -> Bytes {
    Bytes::new(
        bytes
            .get()
            .checked_next_power_of_two()
            .unwrap_or(bytes.get()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: HostLimits = HostLimits {
        send_fixed_max: Bytes::from_kib(208),
        receive_fixed_max: Bytes::from_mib(16),
        send_auto_max: Bytes::from_mib(4),
        receive_auto_max: Bytes::from_mib(1),
    };
    /// 45 Mbit/s at 165 ms: 928 kB; twice that rounds up to 2 MiB.
    const PRODUCT: Bytes = Bytes::new(928_125);

    fn settings(end: End, owner: Owner, product: Bytes) -> Vec<String> {
        let lines = lines(end, owner, product);
        lines.iter().map(SysctlLine::text).collect()
    }

    #[test]
    fn only_the_binding_buffer_is_named_and_only_where_it_is_below_the_need() {
        assert_eq!(
            settings(End::Receiver, Owner::Here(LIMITS), PRODUCT),
            ["net.ipv4.tcp_rmem = 4096 131072 2097152"]
        );
        assert_eq!(
            settings(End::Sender, Owner::Here(LIMITS), PRODUCT),
            ["net.core.wmem_max = 1048576"]
        );
        let small = Bytes::from_kib(64);
        assert!(settings(End::Receiver, Owner::Here(LIMITS), small).is_empty());
    }

    #[test]
    fn no_lower_value_exceeds_the_maximum() {
        assert_eq!(
            settings(End::Receiver, Owner::Unknown, Bytes::new(30_000))[0],
            "net.ipv4.tcp_rmem = 4096 65536 65536"
        );
    }

    #[test]
    fn an_unknown_or_emulated_host_gets_its_lines_under_a_condition() {
        for owner in [Owner::Unknown, Owner::FromFile(LIMITS)] {
            for line in lines(End::Receiver, owner, PRODUCT) {
                assert!(line.why.contains("if it is lower there"), "{line:?}");
            }
        }
        let emulated = lines(End::Receiver, Owner::FromFile(LIMITS), PRODUCT);
        let why = &emulated[0].why;
        assert!(why.starts_with("raise receive_buffer_max in the path file"));
        assert_eq!(emulated[0].now, Some(Bytes::from_mib(1)));
    }

    #[test]
    fn a_live_target_tells_the_limits_of_this_end_only() {
        use StreamDirection::{Receiving, Sending};
        let known = |end, kind, client| owner(end, kind, client, Some(LIMITS)).limits().is_some();
        assert!(known(End::Sender, TargetKind::Live, Sending));
        assert!(!known(End::Receiver, TargetKind::Live, Sending));
        assert!(known(End::Receiver, TargetKind::Live, Receiving));
        assert!(!known(End::Sender, TargetKind::Live, Receiving));
        assert!(known(End::Receiver, TargetKind::Emulated, Sending));
        assert!(known(End::Receiver, TargetKind::Simulated, Sending));
    }
}
