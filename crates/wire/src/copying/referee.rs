//! Which message may be said now, and what in it can be believed.
//!
//! Both ends pass every message, heard or about to be said, through a [`Referee`] of their own.
//! What comes out can be acted upon without looking again: it was this end's turn, files exist,
//! ranges lie within them, lists are bounded and texts can be printed. What the peer said about a
//! file that is over meanwhile, because two messages crossed, is taken out.
//!
//! A message is judged by what had been said before it, at this end. That is never less than the
//! peer knew when it said it, so an honest peer is never refused. Whether a piece was sent that the
//! receiver confirms is not known here: the sender's ledger knows it.

use super::{Filter, Message, Opening, PATH_MAX, Way};

mod error;
mod files;
mod opening;

pub use error::{RefereeError, Rule};
use files::Files;
pub use opening::LISTED_MAX;

/// Most files that are told of and neither published nor failed nor there already. A sender tells
/// no more before some are.
pub const UNFINISHED_MAX: usize = 1 << 17;
/// Most entries of a copy; an end keeps some 60 bytes and the last component of the name for each,
/// and about 140 were measured while its lists grow.
pub const ENTRIES_MAX: u32 = 50_000_000;
/// Most bytes of their names together, and of what links say.
pub const NAMES_MAX: usize = 64 << 20;
/// Most parts of one file in a [`Want`](super::Want); a receiver that lacks more asks for what lies
/// between some of them too.
pub const PARTS_MAX: usize = 8192;
/// Most streams of a copy.
pub const COPY_STREAMS_MAX: u16 = 1024;

/// Characters of what a peer tells people.
const TEXT_CHARACTERS: usize = 500;

/// One of the two ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Speaker {
    /// Started by the user.
    Near,
    /// The other.
    Far,
}

/// What was said so far, as far as it matters for what may be said next.
/// ```
/// use wire::copying::{Referee, Speaker, Message};
/// let mut referee = Referee::default();
/// let refused = referee.pass(Speaker::Far, Message::Complete).unwrap_err();
/// assert_eq!(refused.to_string(), "the far end said `Complete`: the copy is not open yet");
/// ```
#[derive(Debug, Default)]
pub struct Referee {
    opening: Option<Agreed>,
    is_opened: bool,
    /// A failure of everything, or a user, ended it.
    is_given_up: bool,
    is_complete: bool,
    files: Files,
    bye: [bool; 2],
}

/// What matters of the opening.
#[derive(Debug, Clone, Copy)]
struct Agreed {
    way: Way,
    is_dry: bool,
    /// Something may be removed.
    may_remove: bool,
    /// Entries may have digests.
    has_digests: bool,
}

impl Referee {
    /// Judges what `speaker` says.
    ///
    /// * Returns the message, without what is over already, and with texts that can be printed.
    ///
    /// # Errors
    /// When it may not be said now, or not so; with a peer that says it there is nothing more to
    /// talk about.
    pub fn pass(&mut self, speaker: Speaker, message: Message) -> Result<Message, RefereeError> {
        let name = name_of(&message);
        self.judge(speaker, message).map_err(|rule| RefereeError {
            speaker,
            message: name,
            rule,
        })
    }

    /// Of a copy that is open: the opening and its answer were said.
    ///
    /// # Errors
    /// When the opening asks for what cannot be.
    pub fn opened(opening: &Opening, fresh: bool) -> Result<Self, RefereeError> {
        let mut referee = Referee::default();
        let open = Message::Open(Box::new(opening.clone()));
        referee.pass(Speaker::Near, open)?;
        referee.pass(Speaker::Far, Message::Opened { session: 0, fresh })?;
        Ok(referee)
    }

    /// The file's size, while it is told of and not over.
    pub fn size(&self, file: super::FileId) -> Option<u64> {
        self.files.size(file)
    }

    /// Whether the sender should wait for files to be done before it tells of more: half of what
    /// would be refused is told.
    pub fn is_full(&self) -> bool {
        self.files.is_full()
    }

    fn judge(&mut self, speaker: Speaker, message: Message) -> Result<Message, Rule> {
        let farewell = &mut self.bye[speaker as usize];
        if *farewell {
            return Err(Rule::AfterBye);
        }
        match message {
            Message::Bye => {
                let is_over = self.is_complete || self.is_given_up;
                *farewell = true;
                require(is_over, Rule::Unfinished).map(|()| Message::Bye)
            }
            Message::Cancel => {
                self.is_given_up = true;
                Ok(Message::Cancel)
            }
            Message::Open(opening) => self.on_open(speaker, opening),
            other => {
                let agreed = self.opening.ok_or(Rule::NotOpen)?;
                match self.is_opened {
                    true => self.on_running(speaker, agreed, other),
                    false => self.on_answer(speaker, other),
                }
            }
        }
    }

    fn on_open(&mut self, speaker: Speaker, opening: Box<Opening>) -> Result<Message, Rule> {
        require(speaker == Speaker::Near, Rule::Speaker)?;
        require(self.opening.is_none(), Rule::Again)?;
        opening::check(&opening)?;
        self.opening = Some(Agreed {
            way: opening.way,
            is_dry: opening.dry_run,
            may_remove: opening.delete,
            has_digests: opening.filter == Filter::Content,
        });
        Ok(Message::Open(opening))
    }

    /// Between the opening and its answer.
    fn on_answer(&mut self, speaker: Speaker, message: Message) -> Result<Message, Rule> {
        match message {
            Message::Opened { fresh, .. } => {
                require(speaker == Speaker::Far, Rule::Speaker)?;
                let agreed = self.opening.ok_or(Rule::NotOpen)?;
                self.is_opened = true;
                self.files.begin(fresh, agreed.is_dry, agreed.has_digests);
                Ok(message)
            }
            Message::Alive(_) => Ok(message),
            Message::RateMax(_) => {
                require(speaker == Speaker::Near, Rule::Speaker).map(|()| message)
            }
            Message::Failed(problem) => {
                require(problem.file.is_none(), Rule::UnknownFile)?;
                self.is_given_up = true;
                Ok(Message::Failed(printable_problem(problem)))
            }
            _ => Err(Rule::NotOpen),
        }
    }

    fn on_running(
        &mut self,
        speaker: Speaker,
        agreed: Agreed,
        message: Message,
    ) -> Result<Message, Rule> {
        let is_sender = (speaker == Speaker::Near) == (agreed.way == Way::Put);
        let who_may = match message {
            Message::Alive(_) | Message::Failed(_) | Message::LeftOut { .. } => true,
            Message::Entries(_)
            | Message::EntriesEnd { .. }
            | Message::FileEnds(_)
            | Message::Streams(_)
            | Message::Sending { .. } => is_sender,
            Message::RateMax(_) => speaker == Speaker::Near,
            Message::Opened { .. } | Message::Open(_) => return Err(Rule::Again),
            _ => !is_sender,
        };
        require(who_may, Rule::Speaker)?;
        let is_idle = matches!(
            message,
            Message::Alive(_) | Message::Sending { .. } | Message::Streams(_) | Message::RateMax(_)
        );
        // What the sender says about files that failed here may cross this end's word that all is
        // done.
        let may_go_on = !self.is_complete || is_sender || is_idle;
        require(may_go_on, Rule::AfterComplete)?;
        let may_remove = agreed.may_remove || !matches!(message, Message::Removed(_));
        require(may_remove, Rule::NotAsked)?;
        self.on_content(message, is_sender)
    }

    fn on_content(&mut self, message: Message, is_sender: bool) -> Result<Message, Rule> {
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
            Message::Received(ranges) => Message::Received(files.on_received(ranges)?),
            // A piece of a file that is over is nobody's concern; an empty list says nothing.
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
                require(problem.file.is_none(), Rule::UnknownFile)?;
                let name = super::text::printable(&name, PATH_MAX);
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
                require((1..=bound).contains(&count), Rule::Streams { count, bound })?;
                message
            }
            Message::Sending { .. } => sane_sending(message),
            other => other,
        })
    }
}

fn require(holds: bool, rule: Rule) -> Result<(), Rule> {
    if holds { Ok(()) } else { Err(rule) }
}

fn printable_problem(problem: super::Problem) -> super::Problem {
    let shown = |text: String| super::text::printable(&text, TEXT_CHARACTERS);
    super::Problem {
        what: shown(problem.what),
        hint: problem.hint.map(shown),
        ..problem
    }
}

/// A share that is none is left out, and what cannot be shown.
fn sane_sending(message: Message) -> Message {
    match message {
        Message::Sending {
            streams,
            rtt,
            retransmitted_share,
            binds,
            limited,
        } => Message::Sending {
            streams,
            rtt,
            retransmitted_share: retransmitted_share.filter(|share| (0.0..=1.0).contains(share)),
            binds: binds.map(|name| super::text::printable(&name, TEXT_CHARACTERS)),
            limited: limited.and_then(|limited| limited.sane()).map(Box::new),
        },
        other => other,
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
        Message::Sending { .. } => "Sending",
        Message::Cancel => "Cancel",
        Message::Bye => "Bye",
        Message::ReadBack { .. } => "ReadBack",
        Message::Removed(_) => "Removed",
    }
}

#[cfg(test)]
mod tests;
