//! The machine that a document was made on.

use std::fs;
use std::thread;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A machine, as far as it matters to throughput. What it does not tell is absent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Host {
    /// Its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Release of its kernel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// Processors that the program may use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpus: Option<u64>,
    /// Memory in all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
}

impl Host {
    /// Asks this machine, through `/proc`.
    pub fn read() -> Self {
        Host {
            name: line("/proc/sys/kernel/hostname"),
            kernel: line("/proc/sys/kernel/osrelease"),
            cpus: thread::available_parallelism()
                .ok()
                .and_then(|cpus| u64::try_from(cpus.get()).ok()),
            memory_bytes: memory(),
        }
    }
}

fn line(file: &str) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

fn memory() -> Option<u64> {
    memory_in(&fs::read_to_string("/proc/meminfo").ok()?)
}

/// `MemTotal` in bytes; the kernel's "kB" are 1024 bytes.
fn memory_in(meminfo: &str) -> Option<u64> {
    let rest = meminfo.lines().find_map(|l| l.strip_prefix("MemTotal:"))?;
    let kib: u64 = rest.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_in_bytes_and_absent_when_unreadable() {
        let meminfo = "MemTotal:        8052664 kB\nMemFree: 1 kB\n";
        assert_eq!(memory_in(meminfo), Some(8_052_664 * 1024));
        assert_eq!(memory_in("MemTotal: lots\n"), None);
        assert_eq!(memory_in("MemTotal: 99999999999999999999 kB\n"), None);
    }
}
