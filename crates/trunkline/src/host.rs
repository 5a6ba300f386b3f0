//! What this process may use of its host.

/// Raises the bound on open files as far as this user may: 128 streams both ways with both ends
/// in one process are above the customary one. A program that measures or serves calls it first.
pub fn raise_open_files() {
    sockets::host::raise_open_files();
}
