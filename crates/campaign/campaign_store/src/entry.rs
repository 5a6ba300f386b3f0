//! One name of a tree, and its form in files that only this crate reads.

use copy_protocol::FilePart;
use serde::{Deserialize, Serialize};

/// Something that is copied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Below the folder whose content is copied, as bytes.
    pub name: Vec<u8>,
    /// What it is.
    pub kind: Kind,
    /// Time of last modification in nanoseconds since 1970, negative before.
    pub modified_nanoseconds: i64,
    /// BLAKE3 of the content, where it is known.
    pub digest: Option<[u8; 32]>,
    /// Only this part of the file is meant; other shards have the others.
    pub part: Option<FilePart>,
}

/// What an entry is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// A file of so many bytes.
    File(u64),
    /// A symbolic link, and where it points.
    Link(Vec<u8>),
    /// A folder with nothing else in the listing.
    Folder,
}

impl Entry {
    /// Bytes of the file, or of its part; none of others.
    pub fn bytes(&self) -> u64 {
        match self.kind {
            Kind::File(bytes) => self.part.map_or(bytes, |part| {
                let within = part.within(bytes);
                within.end - within.start
            }),
            Kind::Link(_) | Kind::Folder => 0,
        }
    }

    /// Whether a copy of `other` serves for this one: the same kind, size and time.
    pub fn is_like(&self, other: &Entry) -> bool {
        let same_time = self.modified_nanoseconds == other.modified_nanoseconds;
        match (&self.kind, &other.kind) {
            (Kind::File(one), Kind::File(two)) => one == two && same_time,
            (Kind::Link(one), Kind::Link(two)) => one == two,
            (Kind::Folder, Kind::Folder) => true,
            _ => false,
        }
    }
}

/// Appends the entry: its length, the length of its name, the name, the rest.
pub(crate) fn encode(entry: &Entry, into: &mut Vec<u8>) -> Result<(), postcard::Error> {
    let start = into.len();
    into.extend_from_slice(&[0; 4]);
    // Names are shorter than PATH_MAX, which the walk sees to.
    let length = u16::try_from(entry.name.len()).unwrap_or(u16::MAX);
    into.extend_from_slice(&length.to_le_bytes());
    into.extend_from_slice(&entry.name);
    let rest = (&entry.kind, entry.modified_nanoseconds, entry.digest);
    let mut room = [0; 64];
    match postcard::to_slice(&rest, &mut room) {
        Ok(bytes) => into.extend_from_slice(bytes),
        Err(_) => into.extend_from_slice(&postcard::to_stdvec(&rest)?),
    }
    let length = u32::try_from(into.len() - start - 4).unwrap_or(u32::MAX);
    into[start..start + 4].copy_from_slice(&length.to_le_bytes());
    Ok(())
}

/// The name within a record that [`encode`] made, without its first four bytes.
pub(crate) fn name_of(record: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = record.split_first_chunk::<2>()?;
    rest.split_at_checked(usize::from(u16::from_le_bytes(*length)))
}

/// The entry of a record; `None` where it is none.
pub(crate) fn decode(record: &[u8]) -> Option<Entry> {
    let (name, rest) = name_of(record)?;
    let (kind, modified_nanoseconds, digest) = postcard::from_bytes(rest).ok()?;
    Some(Entry {
        name: name.to_vec(),
        kind,
        modified_nanoseconds,
        digest,
        part: None,
    })
}
