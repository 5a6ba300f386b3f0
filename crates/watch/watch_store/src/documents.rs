//! Documents of visits, in the order of time.

use changes::UnixTime;

use crate::database::Row;
use crate::rows::{self, second};
use crate::{Store, StoreError, VisitId, packed};

/// A document of a visit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VisitDocument {
    /// When the visit began.
    pub at: UnixTime,
    /// Its visit.
    pub id: VisitId,
    /// The whole JSON document; `None` where it is damaged.
    pub json: Option<String>,
}

impl Store {
    /// Documents of the visits that come after one in the order of time, at most `limit`.
    ///
    /// * `after`: time and identity of the last one that was read; `None` reads from the first on.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn documents(
        &mut self,
        after: Option<(UnixTime, VisitId)>,
        limit: u32,
    ) -> Result<Vec<VisitDocument>, StoreError> {
        let (at, id) = match after {
            Some((at, id)) => (second(at), id.bytes().to_vec()),
            None => (i64::MIN, Vec::new()),
        };
        let select = "SELECT at, id, zstd FROM documents WHERE (at, id) > ($1, $2) \
                      ORDER BY at, id LIMIT $3";
        let values = [at.into(), id.into(), i64::from(limit).into()];
        let rows = self.database.query(select, &values)?;
        let documents: Option<Vec<VisitDocument>> = rows.into_iter().map(read).collect();
        documents.ok_or_else(|| self.damaged("a document is not one"))
    }
}

fn read(mut row: Row) -> Option<VisitDocument> {
    Some(VisitDocument {
        at: UnixTime::from_seconds(u64::try_from(row.int()?).ok()?),
        id: rows::id(&mut row)?,
        json: packed::unpack_document(&row.bytes()?),
    })
}
