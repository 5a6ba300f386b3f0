//! What processes cost.

use std::fs;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;
use nix::unistd::{SysconfVar, sysconf};

use crate::Outcome;

/// Processor seconds of this process.
pub fn own_seconds() -> Outcome<f64> {
    let usage = getrusage(UsageWho::RUSAGE_SELF)?;
    let seconds = |time: TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
    Ok(seconds(usage.user_time()) + seconds(usage.system_time()))
}

/// Processor seconds of another process.
pub fn seconds(process: u32) -> Outcome<f64> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat"))?;
    let behind_name = stat.rsplit_once(')').ok_or("stat has no name")?.1;
    let fields: Vec<&str> = behind_name.split_whitespace().collect();
    let ticks =
        |place: usize| -> Outcome<f64> { Ok(fields.get(place).ok_or("stat is short")?.parse()?) };
    let each = sysconf(SysconfVar::CLK_TCK)?.ok_or("the kernel tells no ticks")? as f64;
    Ok((ticks(11)? + ticks(12)?) / each)
}

/// The most memory that a process has had at once.
pub fn peak_kib(process: u32) -> Outcome<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    Ok(number.ok_or("status has no VmHWM")?.parse()?)
}
