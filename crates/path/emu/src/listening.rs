//! Whether a program on an emulated host is ready for connections.

use std::fs;

use crate::{EmuError, Namespace};

/// `TCP_LISTEN` in the state column of `/proc/net/tcp`.
const LISTEN: &str = "0A";
/// The state is the fourth column.
const STATE_COLUMN: usize = 3;

impl Namespace {
    /// Whether any program in this namespace listens for TCP connections.
    ///
    /// # Errors
    /// When the namespace cannot be entered.
    pub fn has_listener(&self) -> Result<bool, EmuError> {
        self.run(|| {
            let tables = ["/proc/thread-self/net/tcp", "/proc/thread-self/net/tcp6"];
            let mut texts = tables
                .iter()
                .filter_map(|file| fs::read_to_string(file).ok());
            texts.any(|text| names_listener(&text))
        })
    }
}

fn names_listener(table: &str) -> bool {
    let mut sockets = table.lines().skip(1);
    sockets.any(|line| line.split_whitespace().nth(STATE_COLUMN) == Some(LISTEN))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_listening_sockets_count() {
        let head = "  sl  local_address rem_address   st tx_queue rx_queue\n";
        let listening = "   0: 00000000:1451 00000000:0000 0A 00000000:00000000\n";
        let connected = "   1: 0200120A:1451 0100120A:9C40 01 00000000:00000000\n";
        assert!(names_listener(&format!("{head}{connected}{listening}")));
        assert!(!names_listener(&format!("{head}{connected}")));
        assert!(!names_listener(head));
    }
}
