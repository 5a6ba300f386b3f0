//! Copies in the archive: what they come down to, and with how many streams the next one begins.

use observe::StreamCount;
use rusqlite::params;

use super::essence::{Essence, Outcome, Point, Tried};
use super::{Archive, ArchiveError, rows};
use record::{AnyDocument, Copy, Direction, Origin, Schema};

/// Copies looked through for one whose number of streams says something.
const COPIES_MAX: i64 = 8;

/// `None` of a dry run, and where nothing was sent: there was no operating point.
pub(super) fn of_copy(body: &Copy, origin: &Origin) -> Option<Essence> {
    let outcome = outcome(body)?;
    let sample = Tried {
        purpose: "copy".to_owned(),
        outcome: outcome.clone(),
    };
    Some(Essence {
        cut_because: body.cut_because.clone(),
        samples: vec![sample],
        ..Essence::new(Schema::Copy, origin, body.target.clone(), outcome)
    })
}

fn outcome(body: &Copy) -> Option<Outcome> {
    Some(Outcome {
        setting: Point {
            transport: body.asked.transport.unwrap_or_default(),
            streams: body.streams.into(),
            window: body.asked.window,
            direction: body.direction,
            congestion: body.asked.congestion.clone(),
            pacing: None,
            mss: None,
        },
        goodput_bits_per_second: body.goodput_bits_per_second?,
        interval: None,
        degrees_of_freedom: None,
        rtt_unloaded_seconds: None,
        rtt_loaded_seconds: body.rtt_mean_seconds,
        retransmitted_ratio: None,
        limit: body.limit.as_ref().map(|limit| limit.by.name().to_owned()),
    })
}

impl Archive {
    /// Streams that carried the latest copy with this far end whose number says something of the
    /// path, see [`Copy::teaches`]; `None` where there is none.
    ///
    /// * `target`: its name as documents have it.
    ///
    /// # Errors
    /// When the archive cannot be read.
    pub fn streams_of_copies(
        &self,
        target: &str,
        direction: Direction,
    ) -> Result<Option<StreamCount>, ArchiveError> {
        let statement = "SELECT id FROM documents WHERE schema = ?1 AND target = ?2 AND direction \
            = ?3 ORDER BY created DESC, id DESC LIMIT ?4";
        let asked = params![
            rows::word(&Schema::Copy),
            target,
            rows::word(&direction),
            COPIES_MAX
        ];
        let ids: Vec<i64> = self.ask(|connection| {
            let mut statement = connection.prepare(statement)?;
            statement.query_map(asked, |row| row.get(0))?.collect()
        })?;
        for id in ids {
            if let AnyDocument::Copy(copy) = self.load(id)?
                && copy.body.teaches()
            {
                return Ok(StreamCount::new(copy.body.streams.into()).ok());
            }
        }
        Ok(None)
    }
}
