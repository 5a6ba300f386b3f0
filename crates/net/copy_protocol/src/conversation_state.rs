//! Which messages are legal now, and which parts of them are valid.
//!
//! Both ends pass every message, received or about to be sent, through a [`ConversationState`] of
//! their own. The result needs no further checks: it was that end's turn, files
//! exist, ranges lie within them, lists are bounded and texts are printable. Parts
//! about a file that has ended meanwhile, because two messages crossed, are removed.
//!
//! A message is checked against all earlier messages at this end. These are never fewer than the
//! peer knew when it sent it, so an honest peer is never refused. Whether a piece was sent that the
//! receiver confirms is not known here: the sender's ledger knows it.

use super::{CopyDirection, Filter, Kept, Message, Opening, PAIRS_MAX, PATH_MAX};

mod error;
mod files;
mod opening;

pub use error::{ProtocolRule, ProtocolViolation};
use files::Files;
pub use opening::{LISTED_MAX, check as check_opening};

/// Most files that are announced and not finished. A sender waits before it
/// announces more.
pub const UNFINISHED_MAX: usize = 1 << 17;
/// Most entries of a copy; an end keeps some 60 bytes and the last component of the name for each,
/// and about 140 were measured while its lists grow.
pub const ENTRIES_MAX: u32 = 50_000_000;
/// Most bytes of their names together, and of what links say.
pub const NAMES_MAX: usize = 64 << 20;
/// Entries of which something else is told before they are.
const INODES_MAX: usize = 1 << 14;
/// Most parts of one file in a [`Want`](super::Want); a receiver that lacks more asks for what lies
/// between some of them too.
pub const PARTS_MAX: usize = 8192;
/// Most streams of a copy.
pub const COPY_STREAMS_MAX: u16 = 1024;

/// Most characters of a peer's text for users.
const TEXT_CHARACTERS: usize = 500;

/// One of the two ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Speaker {
    /// Started by the user.
    Near,
    /// The other.
    Far,
}

/// State of a conversation, as far as it decides which messages are legal next.
/// ```
/// use copy_protocol::{ConversationState, Speaker, Message};
/// let mut protocol = ConversationState::default();
/// let refused = protocol.pass(Speaker::Far, Message::Complete).unwrap_err();
/// assert_eq!(refused.to_string(), "the far end said `Complete`: the copy is not open yet");
/// ```
#[derive(Debug, Default)]
pub struct ConversationState {
    opening: Option<Agreed>,
    is_opened: bool,
    /// A failure of everything, or a user, ended it.
    is_given_up: bool,
    is_complete: bool,
    /// The far end is to tell its addresses.
    awaits_addresses: bool,
    files: Files,
    bye: [bool; 2],
}

/// What matters of the opening.
#[derive(Debug, Clone, Copy)]
struct Agreed {
    direction: CopyDirection,
    is_dry: bool,
    /// Something may be removed.
    may_remove: bool,
    /// Entries may have digests.
    has_digests: bool,
    /// What else may be told of them.
    kept: Kept,
    /// Older versions of files may be told.
    has_older: bool,
}

impl ConversationState {
    /// Checks a message of `speaker`.
    ///
    /// * Returns the message, without what is over already, and with texts that can be printed.
    ///
    /// # Errors
    /// When it is not legal now, or not in this form. A peer that sends it breaks the protocol, and
    /// the session ends.
    pub fn pass(
        &mut self,
        speaker: Speaker,
        message: Message,
    ) -> Result<Message, ProtocolViolation> {
        let name = name_of(&message);
        self.check(speaker, message)
            .map_err(|rule| ProtocolViolation {
                speaker,
                message: name,
                rule,
            })
    }

    /// State of an open copy, after the opening and its answer.
    ///
    /// # Errors
    /// When the opening asks for what cannot be.
    pub fn opened(opening: &Opening, fresh: bool) -> Result<Self, ProtocolViolation> {
        let mut protocol = ConversationState::default();
        let open = Message::Open(Box::new(opening.clone()));
        protocol.pass(Speaker::Near, open)?;
        protocol.pass(Speaker::Far, Message::Opened { session: 0, fresh })?;
        Ok(protocol)
    }

    /// Size of a file that is announced and not finished.
    pub fn size(&self, file: super::FileId) -> Option<u64> {
        self.files.size(file)
    }

    /// Whether the sender should wait for files to be done before it tells of more: half of what
    /// would be refused is told.
    pub fn is_full(&self) -> bool {
        self.files.is_full()
    }

    fn check(&mut self, speaker: Speaker, message: Message) -> Result<Message, ProtocolRule> {
        let farewell = &mut self.bye[speaker as usize];
        if *farewell {
            return Err(ProtocolRule::AfterBye);
        }
        match message {
            Message::Bye => {
                let is_over = self.is_complete || self.is_given_up;
                *farewell = true;
                require(is_over, ProtocolRule::Unfinished).map(|()| Message::Bye)
            }
            Message::Cancel => {
                self.is_given_up = true;
                Ok(Message::Cancel)
            }
            Message::Open(opening) => self.on_open(speaker, opening),
            other => {
                let agreed = self.opening.ok_or(ProtocolRule::NotOpen)?;
                match self.is_opened {
                    true => self.on_running(speaker, agreed, other),
                    false => self.on_answer(speaker, other),
                }
            }
        }
    }

    fn on_open(
        &mut self,
        speaker: Speaker,
        opening: Box<Opening>,
    ) -> Result<Message, ProtocolRule> {
        require(speaker == Speaker::Near, ProtocolRule::Speaker)?;
        require(self.opening.is_none(), ProtocolRule::Again)?;
        opening::check(&opening)?;
        self.awaits_addresses = opening.asks_addresses;
        self.opening = Some(Agreed {
            direction: opening.direction,
            is_dry: opening.dry_run,
            may_remove: opening.delete,
            has_digests: opening.filter == Filter::Content,
            kept: opening.attributes.kept,
            has_older: opening.delta,
        });
        Ok(Message::Open(opening))
    }

    /// Between the opening and its answer.
    fn on_answer(&mut self, speaker: Speaker, message: Message) -> Result<Message, ProtocolRule> {
        match message {
            Message::Opened { fresh, .. } => {
                require(speaker == Speaker::Far, ProtocolRule::Speaker)?;
                let agreed = self.opening.ok_or(ProtocolRule::NotOpen)?;
                self.is_opened = true;
                self.files.begin(fresh, agreed.is_dry, agreed.has_digests);
                Ok(message)
            }
            Message::Alive(_) => Ok(message),
            Message::RateMax(_) | Message::FixedStreams(_) => {
                require(speaker == Speaker::Near, ProtocolRule::Speaker).map(|()| message)
            }
            Message::Failed(problem) => {
                require(problem.file.is_none(), ProtocolRule::UnknownFile)?;
                self.is_given_up = true;
                Ok(Message::Failed(printable_problem(problem)))
            }
            _ => Err(ProtocolRule::NotOpen),
        }
    }

    fn on_running(
        &mut self,
        speaker: Speaker,
        agreed: Agreed,
        message: Message,
    ) -> Result<Message, ProtocolRule> {
        let is_sender = (speaker == Speaker::Near) == (agreed.direction == CopyDirection::Put);
        let who_may = match message {
            Message::Alive(_) | Message::Failed(_) | Message::LeftOut { .. } => true,
            Message::Entries(_)
            | Message::Inodes(_)
            | Message::EntriesEnd { .. }
            | Message::FileEnds(_)
            | Message::Streams(_)
            | Message::Sending(..) => is_sender,
            Message::RateMax(_) | Message::FixedStreams(_) => speaker == Speaker::Near,
            Message::Addresses(_) => speaker == Speaker::Far,
            Message::SharedStreams(_) | Message::ServerBounds { .. } => {
                speaker == Speaker::Far && !is_sender
            }
            Message::Opened { .. } | Message::Open(_) => return Err(ProtocolRule::Again),
            _ => !is_sender,
        };
        require(who_may, ProtocolRule::Speaker)?;
        let is_idle = matches!(
            message,
            Message::Alive(_)
                | Message::Sending(..)
                | Message::Streams(_)
                | Message::RateMax(_)
                | Message::FixedStreams(_)
                | Message::SharedStreams(_)
                | Message::ServerBounds { .. }
        );
        // What the sender says about files that failed here may cross this end's word that all is
        // done.
        let may_go_on = !self.is_complete || is_sender || is_idle;
        require(may_go_on, ProtocolRule::AfterComplete)?;
        let may_remove = agreed.may_remove || !matches!(message, Message::Removed(_));
        require(may_remove, ProtocolRule::NotAsked)?;
        if let Message::Inodes(inodes) = &message {
            self.files.on_inodes(inodes, agreed.kept)?;
        }
        if let Message::Older(_) | Message::Chunks { .. } = message {
            require(agreed.has_older, ProtocolRule::OlderUnasked)?;
        }
        if let Message::Addresses(all) = &message {
            let is_due = std::mem::take(&mut self.awaits_addresses);
            let fits = all.len() <= usize::from(PAIRS_MAX);
            require(is_due && fits, ProtocolRule::Addresses)?;
        }
        self.on_content(message, is_sender)
    }

    fn on_content(&mut self, message: Message, is_sender: bool) -> Result<Message, ProtocolRule> {
        let files = &mut self.files;
        Ok(match message {
            Message::Entries(entries) => Message::Entries(files.on_entries(entries)?),
            Message::EntriesEnd {
                count,
                bytes,
                linked,
            } => {
                files.on_entries_end(count, bytes, linked)?;
                message
            }
            Message::Wants(wants) => Message::Wants(files.on_wants(wants)?),
            Message::Older(older) => Message::Older(files.on_older(older)?),
            Message::ReadBack {
                file,
                parts,
                is_all,
            } => match files.on_read_back(file, &parts, is_all)? {
                true => Message::ReadBack {
                    file,
                    parts,
                    is_all,
                },
                // An empty list says nothing.
                false => Message::Received(Vec::new()),
            },
            Message::Chunks {
                file,
                start,
                chunks,
            } => match files.on_chunks(file, start, &chunks)? {
                true => Message::Chunks {
                    file,
                    start,
                    chunks,
                },
                false => Message::Received(Vec::new()),
            },
            Message::Received(ranges) => Message::Received(files.on_received(ranges)?),
            // A piece of a file that is over does not matter; an empty list says nothing.
            Message::Damaged(range) => match files.on_received(vec![range])?.pop() {
                Some(range) => Message::Damaged(range),
                None => Message::Received(Vec::new()),
            },
            Message::FileEnds(ends) => Message::FileEnds(files.on_file_ends(ends)?),
            Message::Published(published) => Message::Published(files.on_published(published)?),
            Message::Failed(problem) => {
                match problem.file {
                    Some(file) => files.on_failed(file, is_sender)?,
                    None => self.is_given_up = true,
                }
                Message::Failed(printable_problem(problem))
            }
            Message::LeftOut { name, problem } => {
                require(problem.file.is_none(), ProtocolRule::UnknownFile)?;
                let name = units::printable(&name, PATH_MAX);
                let problem = printable_problem(problem);
                Message::LeftOut { name, problem }
            }
            Message::Removed(removed) => {
                files.on_complete()?;
                Message::Removed(removed)
            }
            Message::Complete => {
                files.on_complete()?;
                self.is_complete = true;
                message
            }
            Message::Streams(count) => {
                let bound = COPY_STREAMS_MAX;
                require(
                    (1..=bound).contains(&count),
                    ProtocolRule::Streams { count, bound },
                )?;
                message
            }
            Message::Sending(sending, limited) => {
                let limited = limited.map(|limited| Box::new(limited.sane()));
                Message::Sending(sending.sane(), limited)
            }
            other => other,
        })
    }
}

fn require(holds: bool, rule: ProtocolRule) -> Result<(), ProtocolRule> {
    if holds { Ok(()) } else { Err(rule) }
}

fn printable_problem(problem: super::Problem) -> super::Problem {
    let shown = |text: String| units::printable(&text, TEXT_CHARACTERS);
    super::Problem {
        what: shown(problem.what),
        hint: problem.hint.map(shown),
        ..problem
    }
}

fn name_of(message: &Message) -> &'static str {
    match message {
        Message::Open(_) => "Open",
        Message::Opened { .. } => "Opened",
        Message::Entries(_) => "Entries",
        Message::EntriesEnd { .. } => "EntriesEnd",
        Message::Wants(_) => "Wants",
        Message::Received(_) => "Received",
        Message::Damaged(_) => "Damaged",
        Message::FileEnds(_) => "FileEnds",
        Message::Published(_) => "Published",
        Message::Failed(_) => "Failed",
        Message::LeftOut { .. } => "LeftOut",
        Message::Complete => "Complete",
        Message::Streams(_) => "Streams",
        Message::RateMax(_) => "RateMax",
        Message::Alive(_) => "Alive",
        Message::Sending(..) => "Sending",
        Message::Cancel => "Cancel",
        Message::Bye => "Bye",
        Message::ReadBack { .. } => "ReadBack",
        Message::Removed(_) => "Removed",
        Message::FixedStreams(_) => "FixedStreams",
        Message::SharedStreams(_) => "SharedStreams",
        Message::ServerBounds { .. } => "ServerBounds",
        Message::Inodes(_) => "Inodes",
        Message::Older(_) => "Older",
        Message::Addresses(_) => "Addresses",
        Message::Chunks { .. } => "Chunks",
    }
}

#[cfg(test)]
mod tests;
