//! Notes that people write to events, and what they have acknowledged.

use changes::UnixTime;

use crate::database::Row;
use crate::rows::{second, time};
use crate::{EventKey, Store, StoreError, grid};

/// Notes that are read at once, at most.
const LIMIT: i64 = 10_000;

/// What a note does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoteKind {
    /// It says something.
    Remark,
    /// Its author takes care of the event, and of the incident that it is of.
    Acknowledged,
    /// An acknowledgement before it is taken back.
    Released,
}

/// A note to an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// The event.
    pub event: EventKey,
    /// When it was written.
    pub at: UnixTime,
    /// What it does.
    pub kind: NoteKind,
    /// Who wrote it, as they call themselves.
    pub author: String,
    /// What it says; may be empty where it acknowledges.
    pub words: String,
}

impl NoteKind {
    const ALL: [NoteKind; 3] = [NoteKind::Remark, NoteKind::Acknowledged, NoteKind::Released];

    /// `note`, `acknowledged` or `released`.
    pub fn name(self) -> &'static str {
        match self {
            NoteKind::Remark => "note",
            NoteKind::Acknowledged => "acknowledged",
            NoteKind::Released => "released",
        }
    }
}

/// The acknowledgement that holds after these notes, in their order; `None` for none.
pub fn acknowledgement<'a>(notes: &[&'a Note]) -> Option<&'a Note> {
    let mut latest = notes.iter().rev();
    let latest = latest.find(|note| note.kind != NoteKind::Remark)?;
    (latest.kind == NoteKind::Acknowledged).then_some(latest)
}

impl Store {
    /// Stores a note.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn insert_note(&mut self, note: &Note) -> Result<(), StoreError> {
        let insert = "INSERT INTO notes (series, event, at, kind, author, words) \
             VALUES ($1, $2, $3, $4, $5, $6)";
        let series = self.series(&note.event.pair, &note.event.task)?;
        let values = [
            series.into(),
            note.event.id.cast_signed().into(),
            second(note.at).into(),
            (note.kind as i64).into(),
            note.author.as_str().into(),
            note.words.as_str().into(),
        ];
        self.database
            .transaction(|database| database.execute(insert, &values))?;
        Ok(())
    }

    /// The notes that were written from `from` on, the earliest first: of more than 10,000 the
    /// latest.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn notes(&mut self, from: UnixTime) -> Result<Vec<Note>, StoreError> {
        let select = "SELECT s.from_host, s.to_host, s.task, n.event, n.at, n.kind, n.author, \
             n.words FROM notes AS n JOIN series AS s ON s.id = n.series WHERE n.at >= $1 \
             ORDER BY n.at DESC, n.id DESC LIMIT $2";
        let rows = self
            .database
            .query(select, &[second(from).into(), LIMIT.into()])?;
        let notes: Option<Vec<Note>> = rows.into_iter().map(note).collect();
        let mut notes = notes.ok_or_else(|| self.damaged("a note is not one"))?;
        notes.reverse();
        Ok(notes)
    }
}

fn note(mut row: Row) -> Option<Note> {
    Some(Note {
        event: EventKey {
            pair: grid::pair(&mut row)?,
            task: row.text()?.parse().ok()?,
            id: row.int()?.cast_unsigned(),
        },
        at: time(row.int()?),
        kind: *NoteKind::ALL.get(usize::try_from(row.int()?).ok()?)?,
        author: row.text()?,
        words: row.text()?,
    })
}
