//! Ctrl-C, SIGTERM and a terminal that goes away (SIGHUP), turned into a cancel token.

use std::fs;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use trunkline::Cancel;

/// How soon a signal is noticed.
const TICK: Duration = Duration::from_millis(50);
/// Signals this close together are one.
const SAME: Duration = Duration::from_millis(500);

/// A token that a signal cancels from now on. A second signal ends the process at once.
pub(crate) fn listen() -> io::Result<Cancel> {
    let cancel = listen_as_server()?;
    register_hangup(&cancel)?;
    Ok(cancel)
}

/// The same for a server that does something else at SIGHUP.
pub(crate) fn listen_as_server() -> io::Result<Cancel> {
    let cancel = Cancel::new();
    register(&cancel, &cancel.flag())?;
    Ok(cancel)
}

/// The same, but a second signal counts only half a second after the first: `timeout` and
/// others send it to the process and to its group. Takes a thread, which those who make
/// namespaces may not have.
pub(crate) fn listen_calmly() -> io::Result<Cancel> {
    let (cancel, is_sure) = (Cancel::new(), Arc::default());
    register(&cancel, &is_sure)?;
    register_hangup(&cancel)?;
    let asked = cancel.clone();
    thread::spawn(move || {
        while !asked.is_cancelled() {
            thread::sleep(TICK);
        }
        thread::sleep(SAME);
        is_sure.store(true, Ordering::Relaxed);
    });
    Ok(cancel)
}

/// The process ends at a signal once `is_sure`.
fn register(cancel: &Cancel, is_sure: &Arc<AtomicBool>) -> io::Result<()> {
    for signal in [SIGINT, SIGTERM] {
        flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(is_sure))?;
        flag::register(signal, cancel.flag())?;
    }
    Ok(())
}

/// A program that goes on without its terminal (`nohup`) is started with SIGHUP ignored. Shells and
/// the kernel may both send it, so that a second one says no more than the first.
fn register_hangup(cancel: &Cancel) -> io::Result<()> {
    if !is_ignored(SIGHUP) {
        flag::register(SIGHUP, cancel.flag())?;
    }
    Ok(())
}

/// Whether this process was started with a signal ignored: proc(5).
fn is_ignored(signal: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let bits = ignored.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok());
    bits.is_some_and(|bits| bits >> (signal - 1) & 1 == 1)
}
