//! Reads a range of a far file with many requests at once, however short the answers are.

use copy_protocol::sftp::{Reply, Request, StatusCode};

use super::asks::{Asks, Tag};
use super::talk::has_code;

/// A range that is read.
#[derive(Debug)]
pub(super) struct Reading {
    offset: u64,
    bytes: Vec<u8>,
    handle: Vec<u8>,
    owed: usize,
    is_short: bool,
    trouble: Option<Reply>,
}

/// How it stands.
#[derive(Debug)]
pub(super) enum ReadEnd {
    Goes,
    /// All of it is there.
    Whole,
    /// The file ended before.
    Short,
    /// It cannot be read.
    Failed(Reply),
}

impl Reading {
    pub fn new(offset: u64, length: usize) -> Self {
        Reading {
            offset,
            bytes: vec![0; length],
            handle: Vec::new(),
            owed: 0,
            is_short: false,
            trouble: None,
        }
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Whether the next answer may be the last of its requests.
    pub fn owes_one(&self) -> bool {
        self.owed == 1
    }

    /// Asks for everything.
    pub fn ask_all(&mut self, handle: &[u8], asks: &mut Asks<'_>) {
        self.handle = handle.to_vec();
        let most = asks.channel.server().read_max;
        let mut at = 0;
        while at < self.bytes.len() {
            let length = (self.bytes.len() - at).min(most as usize) as u32;
            self.ask(at, length, asks);
            at += length as usize;
        }
    }

    fn ask(&mut self, at: usize, length: u32, asks: &mut Asks<'_>) {
        self.owed += 1;
        let request = Request::Read(&self.handle, self.offset + at as u64, length);
        asks.send(Tag::Read(at, length), &request);
    }

    /// One of its requests was answered.
    pub fn on_reply(&mut self, tag: Tag, reply: &Reply, asks: &mut Asks<'_>) -> ReadEnd {
        self.owed = self.owed.saturating_sub(1);
        match (tag, reply) {
            (Tag::Read(at, wanted), Reply::Data(bytes)) => self.take(at, wanted, bytes, asks),
            (_, reply) if has_code(reply, StatusCode::End) => self.is_short = true,
            (_, reply) => {
                self.trouble.get_or_insert(reply.clone());
            }
        }
        match self.owed {
            0 => self.end(),
            _ => ReadEnd::Goes,
        }
    }

    /// A server may give less than it was asked for, and never more.
    fn take(&mut self, at: usize, wanted: u32, bytes: &[u8], asks: &mut Asks<'_>) {
        let got = bytes.len();
        let place = self.bytes.get_mut(at..at + got);
        let Some(place) = place.filter(|_| got > 0 && got <= wanted as usize) else {
            self.trouble.get_or_insert(Reply::Data(Vec::new()));
            return;
        };
        place.copy_from_slice(bytes);
        let left = wanted - got as u32;
        if left > 0 && self.trouble.is_none() {
            self.ask(at + got, left, asks);
        }
    }

    fn end(&mut self) -> ReadEnd {
        match (self.trouble.take(), self.is_short) {
            (Some(reply), _) => ReadEnd::Failed(reply),
            (None, true) => ReadEnd::Short,
            (None, false) => ReadEnd::Whole,
        }
    }
}
