//! Kernel settings of a namespace, as the path's hosts have them.

use std::fs;

use netpath::{BufferMaxima, Hosts};

use crate::EmuError;

/// Makes the calling thread's namespace behave like one of these hosts, with its own buffers.
pub(crate) fn apply(hosts: &Hosts, buffers: BufferMaxima) -> Result<(), EmuError> {
    let (send, receive) = (buffers.send.get(), buffers.receive.get());
    // Linux's own minimum and default come first; a default above the maximum is not accepted.
    set("tcp_wmem", &format!("4096 {} {send}", send.min(16_384)))?;
    set(
        "tcp_rmem",
        &format!("4096 {} {receive}", receive.min(131_072)),
    )?;
    if hosts.ecn {
        // Without it, the kernel's 2: a host grants ECN but does not ask for it.
        set("tcp_ecn", "1")?;
    }
    // A connection must not inherit what an earlier one learned: samples are to be independent.
    set("tcp_no_metrics_save", "1")?;
    // Programs here run with group 0, the only one that a user namespace has; let them ping.
    set("ping_group_range", "0 0")?;
    // Path probes are many: each is answered, instead of one a second.
    set("icmp_ratemask", "0")?;
    match hosts.ipv6 {
        true => prepare_ipv6(),
        false => {
            // Nothing of it is to show up in the counters. A kernel without IPv6 has no such file.
            let _ = fs::write(file_v6("conf/default/disable_ipv6"), "1");
            Ok(())
        }
    }
}

/// The device to come has IPv6 with the addresses that it is given alone, which it has at once.
fn prepare_ipv6() -> Result<(), EmuError> {
    for (name, value) in [
        ("conf/default/disable_ipv6", "0"),
        ("conf/default/addr_gen_mode", "1"),
        ("conf/default/accept_dad", "0"),
        ("conf/default/accept_ra", "0"),
        ("icmp/ratelimit", "0"),
    ] {
        fs::write(file_v6(name), value).map_err(|source| EmuError::Sysctl {
            name: format!("net.ipv6.{name}"),
            value: value.to_owned(),
            source,
        })?;
    }
    Ok(())
}

fn file_v6(name: &str) -> String {
    format!("/proc/sys/net/ipv6/{name}")
}

/// Writes one setting of the calling thread's namespace.
pub(crate) fn set(name: &str, value: &str) -> Result<(), EmuError> {
    fs::write(file(name), value).map_err(|source| EmuError::Sysctl {
        name: format!("net.ipv4.{name}"),
        value: value.to_owned(),
        source,
    })
}

/// Reads one setting of the calling thread's namespace.
pub(crate) fn get(name: &str) -> Option<String> {
    let text = fs::read_to_string(file(name)).ok()?;
    Some(text.trim().to_owned())
}

fn file(name: &str) -> String {
    format!("/proc/sys/net/ipv4/{name}")
}
