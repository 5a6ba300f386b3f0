//! What this process may use of its host.

/// The name of this host, as the kernel has it; empty where it has none.
pub fn name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname");
    name.unwrap_or_default().trim().to_owned()
}

/// Raises the bound on open files as far as this user may: 128 streams both ways with both ends
/// in one process are above the customary one. A program that measures or serves calls it first.
pub fn raise_open_files() {
    sockets::host::raise_open_files();
}
