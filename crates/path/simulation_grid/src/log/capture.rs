//! The packets of a run as a capture, as `tcpdump` takes it on the sending hosts.
//!
//! One interface, because the same packet seen at both ends would look like one that was sent
//! twice. Packets begin with IPv4; only their headers are kept.

use std::borrow::Cow;
use std::io::{self, Write};
use std::time::Duration;

use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::{DataLink, Endianness, PcapError};
use sim::{Event, Fate, Scenario};

use super::headers::{Headers, is_forward};

/// The longest headers: 60 bytes of IPv4 and 60 of TCP.
const SNAP_LENGTH: u32 = 120;
/// Time in units of 10^-9 s.
const NANOSECONDS: u8 = 9;

/// A capture that is being written.
pub(super) struct Capture<W: Write> {
    file: PcapNgWriter<W>,
    headers: Headers,
}

impl<W: Write> Capture<W> {
    pub(super) fn new(scenario: &Scenario, out: W) -> io::Result<Self> {
        // The order of bytes is fixed, so that every machine writes the same file.
        let mut file = PcapNgWriter::with_endianness(out, Endianness::Little).map_err(plain)?;
        file.write_pcapng_block(InterfaceDescriptionBlock {
            linktype: DataLink::RAW,
            snaplen: SNAP_LENGTH,
            options: vec![
                InterfaceDescriptionOption::IfName(Cow::Borrowed("senders")),
                InterfaceDescriptionOption::IfTsResol(NANOSECONDS),
            ],
        })
        .map_err(plain)?;
        Ok(Capture {
            file,
            headers: Headers::new(scenario),
        })
    }

    /// Adds a packet, if the sending hosts see it.
    pub(super) fn add(&mut self, event: &Event) -> io::Result<()> {
        if !is_seen_by_senders(event) {
            return Ok(());
        }
        let (data, original_len) = self.headers.of(event).map_err(io::Error::other)?;
        self.file
            .write_pcapng_block(EnhancedPacketBlock {
                interface_id: 0,
                timestamp: Duration::from_nanos(event.at.as_nanos()),
                original_len,
                data: Cow::Owned(data),
                options: Vec::new(),
            })
            .map_err(plain)?;
        Ok(())
    }

    pub(super) fn finish(self) -> io::Result<()> {
        self.file.into_inner().flush()
    }
}

fn is_seen_by_senders(event: &Event) -> bool {
    match event.fate {
        Fate::Sent => is_forward(event.kind),
        Fate::Received => !is_forward(event.kind),
        Fate::Dropped(_) => false,
    }
}

/// What the system said, where it said something.
fn plain(error: PcapError) -> io::Error {
    match error {
        PcapError::IoError(error) => error,
        other => io::Error::other(other),
    }
}
