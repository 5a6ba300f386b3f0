//! The log of a run: every packet that was sent, dropped or received.

use std::fmt;

use link::DropCause;
use netpath::Class;
use units::{Bytes, Time};

use crate::packet::{Block, Flags, Kind, Packet};

/// Something happened to a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// When.
    pub at: Time,
    /// What.
    pub fate: Fate,
    /// The group of hosts: 0 for the streams, then the cross traffic in the order of the path file.
    pub group: u16,
    /// The flow's place within the run; short transfers that are over leave theirs to others.
    pub flow: u32,
    /// Which of the flows that used this place, modulo 256.
    pub incarnation: u8,
    /// The class of service that it asks for.
    pub class: Class,
    /// What kind of packet it is.
    pub kind: PacketKind,
    /// Size on the wire.
    pub size: Bytes,
    /// The segment, counted from 0; of an acknowledgement the one that is expected next.
    pub number: u32,
    /// Selectively acknowledged runs of segments, from the first up to below the second.
    pub sacked: [Option<(u32, u32)>; 3],
    /// Sent before.
    pub again: bool,
    /// Asks to be marked instead of dropped (ECT, RFC 3168).
    pub ecn_capable: bool,
    /// Marked by a queue (CE).
    pub marked: bool,
    /// Tells the sender of a mark (ECE).
    pub echoes_mark: bool,
    /// Tells the receiver that the window was reduced (CWR).
    pub reduced: bool,
}

/// What happened to a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// A host sent it.
    Sent,
    /// It was dropped.
    Dropped(DropCause),
    /// A host received it.
    Received,
}

/// What a packet is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PacketKind {
    /// A segment of data.
    Data,
    /// An acknowledgement.
    Acknowledgement,
    /// Asks for a connection.
    Request,
    /// Grants it.
    Grant,
    /// Data without acknowledgements.
    Datagram,
    /// Measures a round trip.
    Probe,
    /// Answers it.
    ProbeAnswer,
}

impl Event {
    pub(crate) fn of(packet: &Packet, fate: Fate, at: Time) -> Self {
        let run = |block: &Block| (block.start, block.end);
        let mut sacked = [None; 3];
        for (place, block) in sacked.iter_mut().zip(packet.sacked()) {
            *place = Some(run(block));
        }
        Event {
            at,
            fate,
            group: packet.group,
            flow: packet.flow,
            incarnation: packet.incarnation,
            class: packet.class,
            kind: match packet.kind {
                Kind::Data => PacketKind::Data,
                Kind::Ack => PacketKind::Acknowledgement,
                Kind::Syn => PacketKind::Request,
                Kind::SynAck => PacketKind::Grant,
                Kind::Datagram => PacketKind::Datagram,
                Kind::Echo => PacketKind::Probe,
                Kind::EchoReply => PacketKind::ProbeAnswer,
            },
            size: Bytes::new(u64::from(packet.size)),
            number: packet.number,
            sacked,
            again: packet.flags.has(Flags::AGAIN),
            ecn_capable: packet.flags.has(Flags::ECN_CAPABLE),
            marked: packet.flags.has(Flags::CONGESTION),
            echoes_mark: packet.flags.has(Flags::ECHO),
            reduced: packet.flags.has(Flags::REDUCED),
        }
    }
}

impl fmt::Display for Event {
    /// One line: seconds, what happened, group and flow, kind, number, size, and what else is
    /// known.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanos = self.at.as_nanos();
        let (seconds, rest) = (nanos / 1_000_000_000, nanos % 1_000_000_000);
        write!(
            f,
            "{seconds}.{rest:09} {} {}/{} {} {} {}",
            self.fate,
            self.group,
            self.flow,
            self.kind,
            self.number,
            self.size.get()
        )?;
        for (start, end) in self.sacked.into_iter().flatten() {
            write!(f, " sack {start}-{end}")?;
        }
        if self.again {
            f.write_str(" again")?;
        }
        if self.marked {
            f.write_str(" marked")?;
        }
        Ok(())
    }
}

impl fmt::Display for Fate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Fate::Sent => "sent",
            Fate::Dropped(DropCause::QueueFull) => "dropped:queue-full",
            Fate::Dropped(DropCause::Early) => "dropped:early",
            Fate::Dropped(DropCause::Sojourn) => "dropped:sojourn",
            Fate::Dropped(DropCause::Policed) => "dropped:policed",
            Fate::Dropped(DropCause::WireLoss) => "dropped:wire-loss",
            Fate::Received => "received",
        })
    }
}

impl fmt::Display for PacketKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PacketKind::Data => "data",
            PacketKind::Acknowledgement => "ack",
            PacketKind::Request => "syn",
            PacketKind::Grant => "synack",
            PacketKind::Datagram => "datagram",
            PacketKind::Probe => "probe",
            PacketKind::ProbeAnswer => "answer",
        })
    }
}
