//! Storing visits.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use crate::database::{Database, Value};
use crate::rows::{self, Figured};
use crate::store::Known;
use crate::{Pair, Receipt, Refusal, Store, StoreError, StoredVisit, packed};

/// Names of the columns beside those of [`rows::FIGURES`], in the order of [`write_visit`].
static INSERT: LazyLock<String> = LazyLock::new(|| {
    let figures = rows::FIGURES.replace("v.", "");
    let columns =
        format!("id, content, series, {figures}, route, limited, far_host, failure, parts");
    let count = columns.split(',').count();
    let places: Vec<String> = (1..=count).map(|place| format!("${place}")).collect();
    let places = places.join(", ");
    format!("INSERT INTO visits ({columns}) VALUES ({places}) ON CONFLICT DO NOTHING")
});

/// The time decides, then the identity, so that the order of arrival does not.
const LATEST: &str = "UPDATE series SET latest_at = $1, latest_id = $2, goodput = $3, \
     rtt_min = $4, rtt_median = $5, sent = $6, lost = $7, failure = $8 WHERE id = $9 \
     AND (latest_at IS NULL OR latest_at < $10 OR (latest_at = $11 AND latest_id < $12))";

/// Most texts whose numbers are held in memory.
const TEXTS_MAX: usize = 20_000;
const SECONDS_OF_DAY: i64 = 86_400;

/// A visit that fits the tables, ready to be written.
struct Ready<'a> {
    place: usize,
    stored: &'a StoredVisit,
    figured: Figured,
    texts: [Option<String>; 4],
    content: i64,
    packed: Option<Vec<u8>>,
    document: Option<Vec<u8>>,
}

impl Store {
    /// Stores visits, all in one transaction. The receipts are in the order of the visits. When
    /// this returns they are on the disk, and the agent may forget those.
    ///
    /// A visit that is stored already with the same content is [`Receipt::Known`].
    ///
    /// # Errors
    /// When the database cannot be written; then none of them is stored.
    pub fn insert(&mut self, visits: &[StoredVisit]) -> Result<Vec<Receipt>, StoreError> {
        let mut receipts: Vec<Receipt> = vec![Receipt::Stored; visits.len()];
        let mut ready = Vec::new();
        for (place, stored) in visits.iter().enumerate() {
            match prepare(place, stored) {
                Ok(visit) => ready.push(visit),
                Err(refusal) => receipts[place] = Receipt::Refused(refusal),
            }
        }
        // Two writers that take the same rows in one order do not wait for each other in a circle.
        ready.sort_by_key(|visit| (visit.stored.id, visit.place));
        // Numbers that were given in a transaction that failed are not valid.
        let mut is_again = self.known.texts.len() > TEXTS_MAX;
        let known = &mut self.known;
        let written = self.database.transaction(|database| {
            if is_again {
                *known = Known::default();
            }
            is_again = true;
            write(database, known, &ready)
        });
        match written {
            Ok(written) => {
                for (place, receipt) in written {
                    receipts[place] = receipt;
                }
                Ok(receipts)
            }
            Err(error) => {
                self.known = Known::default();
                Err(error)
            }
        }
    }
}

fn prepare(place: usize, stored: &StoredVisit) -> Result<Ready<'_>, Refusal> {
    stored.check_size()?;
    let unwritable = || Refusal::Unwritable(stored.id);
    let canonical = stored.canonical().map_err(|_| unwritable())?;
    let document = stored.document.as_deref().map(packed::pack_document);
    Ok(Ready {
        place,
        stored,
        figured: Figured::of(stored)?,
        texts: rows::texts(stored)?,
        content: digest(&canonical),
        packed: packed::pack(stored.visit.round_trips.as_ref(), stored.rates.as_deref()),
        document: document.transpose().map_err(|_| unwritable())?,
    })
}

/// The first 64 bits of BLAKE3.
fn digest(bytes: &[u8]) -> i64 {
    let hash = blake3::hash(bytes);
    let first = hash.as_bytes().first_chunk().copied().unwrap_or_default();
    i64::from_be_bytes(first)
}

fn write(
    database: &mut Database,
    known: &mut Known,
    ready: &[Ready<'_>],
) -> Result<Vec<(usize, Receipt)>, StoreError> {
    let wanted: BTreeSet<&String> = ready
        .iter()
        .flat_map(|v| v.texts.iter().flatten())
        .collect();
    for json in wanted {
        know_text(database, known, json)?;
    }
    let wanted: BTreeSet<_> = ready.iter().map(|visit| series_key(visit.stored)).collect();
    for key in wanted {
        know_series(database, known, &key)?;
    }
    let mut receipts = Vec::new();
    let mut latest: BTreeMap<i64, &Ready<'_>> = BTreeMap::new();
    let mut stale: BTreeSet<(i64, i64)> = BTreeSet::new();
    for visit in ready {
        let series = know_series(database, known, &series_key(visit.stored))?;
        let receipt = write_visit(database, known, visit, series)?;
        if receipt == Receipt::Stored {
            stale.insert((series, visit.figured.at / SECONDS_OF_DAY));
            let newest = latest.entry(series).or_insert(visit);
            let when = |visit: &Ready<'_>| (visit.figured.at, visit.stored.id);
            if when(visit) > when(newest) {
                *newest = visit;
            }
        }
        receipts.push((visit.place, receipt));
    }
    // Marks come before the rows of series, as in `roll_up.rs`. The update locks a mark that is
    // there already: otherwise a roll-up could remove it without having seen these visits.
    let mark = "INSERT INTO stale (series, day) VALUES ($1, $2) \
         ON CONFLICT (series, day) DO UPDATE SET day = excluded.day";
    for (series, day) in stale {
        database.execute(mark, &[series.into(), day.into()])?;
    }
    for (series, visit) in latest {
        write_latest(database, known, visit, series)?;
    }
    Ok(receipts)
}

fn write_visit(
    database: &mut Database,
    known: &Known,
    visit: &Ready<'_>,
    series: i64,
) -> Result<Receipt, StoreError> {
    let id = visit.stored.id;
    let mut values: Vec<Value> = vec![id.bytes().into(), visit.content.into(), series.into()];
    values.extend(visit.figured.values());
    let number = |json: &Option<String>| known.text(json.as_ref()).into();
    values.extend(visit.texts.iter().map(number));
    values.push(parts(&visit.packed, &visit.document).into());
    if database.execute(&INSERT, &values)? == 0 {
        return same_or_conflict(database, visit);
    }
    let parts = [
        (
            &visit.packed,
            "INSERT INTO raw (at, id, packed) VALUES ($1, $2, $3)",
        ),
        (
            &visit.document,
            "INSERT INTO documents (at, id, zstd) VALUES ($1, $2, $3)",
        ),
    ];
    for (bytes, statement) in parts {
        if let Some(bytes) = bytes {
            let values = [
                visit.figured.at.into(),
                id.bytes().into(),
                bytes.clone().into(),
            ];
            database.execute(statement, &values)?;
        }
    }
    Ok(Receipt::Stored)
}

/// What a visit came with, as a column.
pub(crate) fn parts(packed: &Option<Vec<u8>>, document: &Option<Vec<u8>>) -> i64 {
    i64::from(packed.is_some()) + 2 * i64::from(document.is_some())
}

fn same_or_conflict(database: &mut Database, visit: &Ready<'_>) -> Result<Receipt, StoreError> {
    let id = visit.stored.id;
    let select = "SELECT content FROM visits WHERE id = $1";
    let content = database.number(select, &[id.bytes().into()])?;
    let is_same = content == visit.content || contents_before(visit.stored).contains(&content);
    Ok(match is_same {
        true => Receipt::Known,
        false => Receipt::Refused(Refusal::Conflict(id)),
    })
}

/// The contents as collectors saw them that did not read all parts of a visit: those before version
/// 7 had no losses and slopes, those before version 5 no order of probes either. None of a visit
/// that has no such part.
fn contents_before(stored: &StoredVisit) -> Vec<i64> {
    let mut before = stored.clone();
    let digest_of = |before: &StoredVisit| before.canonical().ok().map(|all| digest(&all));
    let mut contents = Vec::new();
    let parts = [
        before.visit.losses.take().is_some(),
        before.visit.slowest_link.take().is_some(),
    ];
    if parts.contains(&true) {
        contents.extend(digest_of(&before));
    }
    if before.visit.sequence.take().is_some() {
        contents.extend(digest_of(&before));
    }
    contents
}

fn write_latest(
    database: &mut Database,
    known: &Known,
    visit: &Ready<'_>,
    series: i64,
) -> Result<(), StoreError> {
    let figured = &visit.figured;
    let (at, id) = (figured.at, visit.stored.id.bytes());
    let probe = |count: fn(&changes::ProbeCount) -> u32| {
        Value::from(
            figured
                .probes
                .as_ref()
                .map(|probes| i64::from(count(probes))),
        )
    };
    let failure = known.text(visit.texts[3].as_ref());
    let values = [
        at.into(),
        id.clone().into(),
        figured.goodput.into(),
        figured.trips.map(|trips| trips[0]).into(),
        figured.trips.map(|trips| trips[1]).into(),
        probe(|probes| probes.sent),
        probe(|probes| probes.lost),
        failure.into(),
        series.into(),
        at.into(),
        at.into(),
        id.into(),
    ];
    database.execute(LATEST, &values).map(|_| ())
}

fn know_text(database: &mut Database, known: &mut Known, json: &str) -> Result<(), StoreError> {
    if known.texts.contains_key(json) {
        return Ok(());
    }
    let digest = blake3::hash(json.as_bytes()).as_bytes()[..16].to_vec();
    let insert = "INSERT INTO texts (digest, json) VALUES ($1, $2) ON CONFLICT (digest) DO NOTHING";
    database.execute(insert, &[digest.clone().into(), json.into()])?;
    let id = database.number("SELECT id FROM texts WHERE digest = $1", &[digest.into()])?;
    known.texts.insert(json.to_owned(), id);
    Ok(())
}

type SeriesKey = (crate::Name, crate::Name, crate::Name);

fn series_key(stored: &StoredVisit) -> SeriesKey {
    let Pair { from, to } = &stored.pair;
    (stored.task.clone(), from.clone(), to.clone())
}

fn know_series(
    database: &mut Database,
    known: &mut Known,
    key: &SeriesKey,
) -> Result<i64, StoreError> {
    if let Some(id) = known.series.get(key) {
        return Ok(*id);
    }
    let (task, from, to) = key;
    let values = [
        task.as_str().into(),
        from.as_str().into(),
        to.as_str().into(),
    ];
    let insert = "INSERT INTO series (task, from_host, to_host) VALUES ($1, $2, $3) \
         ON CONFLICT (task, from_host, to_host) DO NOTHING";
    database.execute(insert, &values)?;
    let select = "SELECT id FROM series WHERE task = $1 AND from_host = $2 AND to_host = $3";
    let id = database.number(select, &values)?;
    known.series.insert(key.clone(), id);
    Ok(id)
}

impl Store {
    /// The number of a series within a transaction or outside of one; it is made where it is new.
    pub(crate) fn series(&mut self, pair: &Pair, task: &crate::Name) -> Result<i64, StoreError> {
        let key = (task.clone(), pair.from.clone(), pair.to.clone());
        know_series(&mut self.database, &mut self.known, &key)
    }

    /// The number of a series that has visits or events.
    pub(crate) fn series_of(
        &mut self,
        pair: &Pair,
        task: &crate::Name,
    ) -> Result<Option<i64>, StoreError> {
        let values = [
            task.as_str().into(),
            pair.from.as_str().into(),
            pair.to.as_str().into(),
        ];
        let select = "SELECT id FROM series WHERE task = $1 AND from_host = $2 AND to_host = $3";
        let rows = self.database.query(select, &values)?;
        Ok(rows.into_iter().next().and_then(|mut row| row.int()))
    }
}
