//! The one-byte messages of the control connection.

use thiserror::Error;

/// A state byte. The numbers are iperf3's, except [`State::Capabilities`] and [`State::Report`],
/// which are ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum State {
    /// Server to client: all streams have arrived.
    TestStart = 1,
    /// Server to client: data may flow.
    TestRunning = 2,
    /// Client to server: the test is over.
    TestEnd = 4,
    /// Server to client: send your parameters.
    ParamExchange = 9,
    /// Server to client: open the streams.
    CreateStreams = 10,
    /// Server to client: the server was told to stop.
    ServerTerminate = 11,
    /// Client to server: the client was told to stop.
    ClientTerminate = 12,
    /// Server to client: send your results, then read mine.
    ExchangeResults = 13,
    /// Server to client: all results are exchanged.
    DisplayResults = 14,
    /// Client to server: goodbye.
    Done = 16,
    /// Client to server, in a test that lasts: tell what you have counted, and count anew.
    /// Server to client: the JSON of [`crate::Results`] follows, counted since the report before.
    ///
    /// 82 (the letter R) is a value no iperf3 version uses; it is only ever sent after both ends
    /// agreed on a lasting test.
    Report = 82,
    /// Trunkline server to a client that offered our extension: a JSON [`crate::Answer`] follows.
    ///
    /// 84 (the letter T) is a value no iperf3 version uses; it is only ever sent after an offer.
    Capabilities = 84,
    /// Server to client: an error number follows, on most versions two.
    ServerError = 0xFE,
    /// Server to client, in place of anything else: busy.
    AccessDenied = 0xFF,
}

/// A byte that is no state of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub struct UnknownState(pub u8);

/// `H` and `<` are what a web server begins with.
impl std::fmt::Display for UnknownState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            b'H' | b'<' => f.write_str("a web server answers there"),
            byte => write!(f, "byte {byte} is not a state of the iperf3 protocol"),
        }
    }
}

const ALL: [State; 14] = [
    State::TestStart,
    State::TestRunning,
    State::TestEnd,
    State::ParamExchange,
    State::CreateStreams,
    State::ServerTerminate,
    State::ClientTerminate,
    State::ExchangeResults,
    State::DisplayResults,
    State::Done,
    State::Report,
    State::Capabilities,
    State::ServerError,
    State::AccessDenied,
];

impl State {
    /// The byte on the wire.
    pub const fn byte(self) -> u8 {
        self as u8
    }
}

impl TryFrom<u8> for State {
    type Error = UnknownState;

    fn try_from(byte: u8) -> Result<Self, UnknownState> {
        let known = ALL.into_iter().find(|state| state.byte() == byte);
        known.ok_or(UnknownState(byte))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fourteen_bytes_are_known_and_read_back() {
        let known = (0..=u8::MAX).filter_map(|byte| State::try_from(byte).ok());
        let known: Vec<State> = known.collect();
        assert_eq!(known, ALL);
    }

    #[test]
    fn unused_and_internal_bytes_are_refused() {
        for byte in [0, 3, 5, 8, 15, 17, 83, 0xFD] {
            assert_eq!(State::try_from(byte), Err(UnknownState(byte)));
        }
    }
}
