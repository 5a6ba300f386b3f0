//! What happens on each connection, packet by packet, as qlog files for tools such as qvis
//! (draft-ietf-quic-qlog-main-schema, a JSON text sequence each). Off unless a program asks for it.

use std::fs::File;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use quinn_proto::{QlogConfig, QlogStream};

static PREFIX: OnceLock<PathBuf> = OnceLock::new();
static CONNECTIONS: AtomicU64 = AtomicU64::new(0);

/// Connections that begin from now on write to `PREFIX.1.sqlog` and so on. The first prefix holds.
pub fn write_qlogs(prefix: PathBuf) {
    PREFIX.get_or_init(|| prefix);
}

/// Where one more connection writes to.
pub(crate) fn next_qlog() -> Option<QlogStream> {
    let mut name = PREFIX.get()?.clone().into_os_string();
    let number = CONNECTIONS.fetch_add(1, Ordering::Relaxed) + 1;
    name.push(format!(".{number}.sqlog"));
    let file = File::create(&name);
    let file = file.inspect_err(|error| tracing::warn!(?name, %error, "no qlog"));
    let mut config = QlogConfig::default();
    config.writer(Box::new(file.ok()?));
    config.into_stream()
}
