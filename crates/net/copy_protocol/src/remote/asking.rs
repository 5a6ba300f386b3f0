//! The near end of one connection: requests out, answers in, in the same order.

use std::collections::VecDeque;

use thiserror::Error;

use super::{
    Answer, Ask, Failure, FileIdentity, FileInfo, Listed, READ_MAX, Request, STORE_MAX, Told,
};
use crate::CodecError;

/// Requests of one connection that are not answered yet, and what has come of the first.
#[derive(Debug, Default)]
pub struct Asking {
    last: u32,
    open: VecDeque<Open>,
}

#[derive(Debug)]
struct Open {
    id: u32,
    ask: Ask,
    /// Entries or bytes that have come.
    came: u64,
    identity: Option<FileIdentity>,
}

/// What an answer means for the oldest request that is open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// What the name is; with that the request is done.
    Info(FileInfo),
    /// Some entries.
    Listed(Vec<Listed>),
    /// Some bytes, whose hash is right.
    Data {
        /// Of which version of the file.
        identity: FileIdentity,
        /// Permission bits of the file.
        mode: u32,
        /// The bytes.
        bytes: Vec<u8>,
        /// With these the request is done.
        is_last: bool,
    },
    /// The request is done.
    Done,
    /// It takes longer.
    Working(u64),
    /// It cannot be done; with that it is over.
    Failed(Failure),
}

impl Event {
    /// Whether nothing more comes for the request.
    pub fn is_last(&self) -> bool {
        match self {
            Event::Info(_) | Event::Done | Event::Failed(_) => true,
            Event::Data { is_last, .. } => *is_last,
            Event::Listed(_) | Event::Working(_) => false,
        }
    }
}

/// A breach of the rules, after which nothing of the peer is believed on that connection.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RemoteViolation {
    /// Not the number that was due.
    #[error("request {came} came where {} was due", due(*wanted))]
    RequestNumber {
        /// The number that was due; `None` when there is none left.
        wanted: Option<u32>,
        /// The number that came.
        came: u32,
    },
    /// More bytes than one request may ask for, or beyond what a file can have.
    #[error(
        "{length} bytes from byte {offset} were asked for; at most {READ_MAX} at once, and none \
         beyond byte {}",
        i64::MAX
    )]
    Range {
        /// The first byte.
        offset: u64,
        /// How many.
        length: u32,
    },
    /// A file that is too long to be stored by one request.
    #[error("a file of {0} bytes was to be stored; at most {STORE_MAX} go in one request")]
    TooLong(u32),
    /// The content of a file that is stored is not what was announced.
    #[error("the content of `{0}` does not have the digest that came with it")]
    Content(String),
    /// Not the number of the oldest request that is open.
    #[error("an answer to request {came} came where one to {} was due", due(*wanted))]
    AnswerNumber {
        /// The number that was due; `None` when nothing was asked.
        wanted: Option<u32>,
        /// The number that came.
        came: u32,
    },
    /// An answer to something else.
    #[error("the answer does not fit what was asked about `{0}`")]
    Kind(String),
    /// Bytes whose hash is wrong.
    #[error("the bytes of `{path}` from byte {offset} do not have the hash that came with them")]
    Hash {
        /// The file.
        path: String,
        /// The first byte.
        offset: u64,
    },
    /// More or fewer bytes than were asked for.
    #[error("{came} bytes of `{path}` came where {wanted} were due")]
    Length {
        /// The file.
        path: String,
        /// What was due.
        wanted: u64,
        /// What came.
        came: u64,
    },
    /// One range has bytes of two versions of a file.
    #[error("`{0}` came as two versions in one answer")]
    Mixed(String),
    /// A name that cannot be in that folder.
    #[error("`{name}` came as an entry of `{folder}`")]
    Entry {
        /// The folder.
        folder: String,
        /// The name.
        name: String,
    },
    /// Entries are missing.
    #[error("{came} entries of `{folder}` came, and the other end says that it sent {told}")]
    Count {
        /// The folder.
        folder: String,
        /// What came.
        came: u64,
        /// What was said.
        told: u64,
    },
}

fn due(number: Option<u32>) -> String {
    number.map_or_else(|| "none".to_owned(), |number| number.to_string())
}

impl Asking {
    /// The next request, to be sent.
    ///
    /// # Errors
    /// When it is too long, or the numbers are used up; the connection is of no more use then.
    pub fn ask(&mut self, ask: Ask) -> Result<Vec<u8>, CodecError> {
        let id = self.last.checked_add(1);
        let id = id.ok_or(CodecError::Outgoing(usize::MAX))?;
        let request = Request { id, ask };
        let frame = request.encode()?;
        self.last = id;
        self.open.push_back(Open {
            id,
            ask: request.ask,
            came: 0,
            identity: None,
        });
        Ok(frame)
    }

    /// Requests that are not answered yet.
    pub fn open(&self) -> usize {
        self.open.len()
    }

    /// Takes an answer: what it means for the oldest open request, which is gone with the last.
    ///
    /// # Errors
    /// When it breaks the rules.
    pub fn on_answer(&mut self, answer: Answer) -> Result<Event, RemoteViolation> {
        let wanted = self.open.front().map(|open| open.id);
        let (Some(open), true) = (self.open.front_mut(), wanted == Some(answer.id)) else {
            let came = answer.id;
            return Err(RemoteViolation::AnswerNumber { wanted, came });
        };
        let event = open.on_answer(answer)?;
        if event.is_last() {
            self.open.pop_front();
        }
        Ok(event)
    }
}

impl Open {
    fn on_answer(&mut self, answer: Answer) -> Result<Event, RemoteViolation> {
        match (&self.ask, answer.told) {
            (_, Told::Failed(failure)) => Ok(Event::Failed(failure)),
            (Ask::Info { .. }, Told::Info(info)) => Ok(Event::Info(info)),
            (Ask::List { .. }, Told::Listed(entries)) => self.on_listed(entries),
            (Ask::List { path, .. }, Told::ListEnd { count }) if count != self.came => {
                Err(RemoteViolation::Count {
                    folder: path.to_string(),
                    came: self.came,
                    told: count,
                })
            }
            (Ask::List { .. }, Told::ListEnd { .. }) => Ok(Event::Done),
            (Ask::Read { .. }, Told::Data { hash, .. })
                if *blake3::hash(&answer.data).as_bytes() != hash =>
            {
                Err(self.wrong_hash())
            }
            (
                Ask::Read { .. },
                Told::Data {
                    identity,
                    mode,
                    is_last,
                    ..
                },
            ) => self.on_data(identity, mode, answer.data, is_last),
            (
                Ask::MakeFolder { .. } | Ask::Remove { .. } | Ask::Rename { .. } | Ask::Store(_),
                Told::Done,
            ) => Ok(Event::Done),
            (Ask::Remove { .. } | Ask::Store(_), Told::Working { count }) => {
                Ok(Event::Working(count))
            }
            (ask, _) => Err(RemoteViolation::Kind(ask.path().to_string())),
        }
    }

    fn on_listed(&mut self, entries: Vec<Listed>) -> Result<Event, RemoteViolation> {
        let Ask::List { path, is_recursive } = &self.ask else {
            return Err(RemoteViolation::Kind(self.ask.path().to_string()));
        };
        let most = match is_recursive {
            true => usize::MAX,
            false => 1,
        };
        let is_wrong =
            |entry: &&Listed| !(1..=most).contains(&entry.name.components().take(2).count());
        if let Some(wrong) = entries.iter().find(is_wrong) {
            return Err(RemoteViolation::Entry {
                folder: path.to_string(),
                name: wrong.name.to_string(),
            });
        }
        self.came = self.came.saturating_add(entries.len() as u64);
        Ok(Event::Listed(entries))
    }

    fn on_data(
        &mut self,
        identity: FileIdentity,
        mode: u32,
        bytes: Vec<u8>,
        is_last: bool,
    ) -> Result<Event, RemoteViolation> {
        let Ask::Read {
            path,
            offset,
            length,
            expected,
        } = &self.ask
        else {
            return Err(RemoteViolation::Kind(self.ask.path().to_string()));
        };
        let known = expected.or(self.identity);
        if known.is_some_and(|known| known != identity) {
            return Err(RemoteViolation::Mixed(path.to_string()));
        }
        self.identity = Some(identity);
        self.came = self.came.saturating_add(bytes.len() as u64);
        let wanted = u64::from(*length).min(identity.size.saturating_sub(*offset));
        let fits = match is_last {
            true => self.came == wanted,
            // An answer without bytes would be one of many that lead nowhere.
            false => self.came < wanted && !bytes.is_empty(),
        };
        match fits {
            true => Ok(Event::Data {
                identity,
                mode,
                bytes,
                is_last,
            }),
            false => Err(RemoteViolation::Length {
                path: path.to_string(),
                wanted,
                came: self.came,
            }),
        }
    }

    fn wrong_hash(&self) -> RemoteViolation {
        let start = match self.ask {
            Ask::Read { offset, .. } => offset,
            _ => 0,
        };
        RemoteViolation::Hash {
            path: self.ask.path().to_string(),
            offset: start.saturating_add(self.came),
        }
    }
}
