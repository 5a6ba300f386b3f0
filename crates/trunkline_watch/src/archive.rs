//! The documents of a watch in the archive of results.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use archive::{Archive, ArchiveError};
use trunkline::Error;
use watch_store::{DatabaseName, Store, VisitDocument};

/// Documents that are read at once: some have megabytes.
const AT_ONCE: u32 = 16;
/// The first bytes of each SQLite file.
const SQLITE: &[u8] = b"SQLite format 3\0";

/// What became of the documents of a watch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Archived {
    /// Numbers of the runs that they are in the archive, in the order of time; one that was there
    /// already kept its number.
    pub runs: Vec<i64>,
    /// How many are damaged, or of a version or kind that the archive does not keep.
    pub left_out: u64,
}

/// The database that a word names: a URL of PostgreSQL, or a file of SQLite; `None` of any other
/// file.
pub fn named_database(word: &Path) -> Option<DatabaseName> {
    let name: DatabaseName = word.to_str()?.parse().ok()?;
    let is_database = match &name {
        DatabaseName::Postgres(_) => true,
        DatabaseName::Sqlite(file) => begins_as_sqlite(file),
    };
    is_database.then_some(name)
}

fn begins_as_sqlite(file: &Path) -> bool {
    let mut begin = [0; SQLITE.len()];
    let read = File::open(file).and_then(|mut file| file.read_exact(&mut begin));
    read.is_ok() && begin == *SQLITE
}

/// Keeps the documents of all visits: searches, examinations of paths, responsiveness.
///
/// * `on_document`: hears after each how many were read.
///
/// # Errors
/// When the database cannot be read or the archive cannot be written. The next call adds what is
/// missing.
pub fn archive_documents(
    database: &DatabaseName,
    archive: &mut Archive,
    on_document: &mut dyn FnMut(u64),
) -> Result<Archived, Error> {
    let mut store = Store::open_to_read(database)?;
    let mut archived = Archived::default();
    let (mut after, mut read) = (None, 0);
    loop {
        let page = store.documents(after, AT_ONCE)?;
        for document in &page {
            match keep(document, archive)? {
                Some(run) => archived.runs.push(run),
                None => archived.left_out += 1,
            }
            read += 1;
            on_document(read);
        }
        match page.last() {
            Some(last) => after = Some((last.at, last.id)),
            None => return Ok(archived),
        }
    }
}

/// The number of the run; `None` of a document that the archive does not keep.
fn keep(document: &VisitDocument, archive: &mut Archive) -> Result<Option<i64>, Error> {
    let Some(json) = &document.json else {
        return Ok(None);
    };
    let name = format!("the document of visit {}", document.id);
    let Ok(document) = record::parse(Path::new(&name), json) else {
        return Ok(None);
    };
    match archive.keep(&document) {
        Ok(run) => Ok(Some(run)),
        Err(ArchiveError::NotKept { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use changes::{UnixTime, Visit, VisitKind};
    use watch_store::{Pair, StoredVisit, VisitId};

    use super::*;

    fn visit(number: u8, document: &str) -> StoredVisit {
        let at = UnixTime::from_seconds(1_790_000_000 + u64::from(number / 3));
        StoredVisit {
            id: VisitId::new(at, [number; 10]),
            pair: Pair {
                from: "a".parse().unwrap(),
                to: "b".parse().unwrap(),
            },
            task: "search".parse().unwrap(),
            visit: Visit::new(at, VisitKind::Throughput),
            rates: None,
            document: Some(document.to_owned()),
        }
    }

    /// Also where a later version wrote some, and when asked again.
    #[test]
    fn each_document_becomes_one_run() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("watch.db");
        let mut target = trunkline::Target::open("sim:slac-cern", 1).unwrap();
        let mut plan = tune::TunePlan::default();
        plan.budget.samples = 2;
        let tuning = tune::tune(&mut *target.observed, &plan, &mut ());
        let body = record::Tune::new(&target.describe(), &tuning.unwrap());
        let mut document = record::Document::new(trunkline::origin(Some(1)), body);
        let visits: Vec<StoredVisit> = (0..20)
            .map(|number| match number % 10 {
                9 => visit(number, "{\"schema\": \"trunkline/tune/999\"}"),
                _ => {
                    document.origin.seed = Some(number.into());
                    visit(number, &document.to_json())
                }
            })
            .collect();
        let database = DatabaseName::Sqlite(file.clone());
        Store::open(&database).unwrap().insert(&visits).unwrap();
        assert_eq!(named_database(&file), Some(database.clone()));
        let mut archive = Archive::open(&folder.path().join("archive.sqlite")).unwrap();
        let mut read = 0;
        let archived =
            archive_documents(&database, &mut archive, &mut |count| read = count).unwrap();
        assert_eq!((read, archived.left_out), (20, 2));
        assert_eq!(archived.runs, (1..=18).collect::<Vec<i64>>());
        let again = archive_documents(&database, &mut archive, &mut |_| {}).unwrap();
        assert_eq!(again, archived);
    }

    #[test]
    fn other_files_are_no_database() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("run.json");
        std::fs::write(&file, "{}").unwrap();
        assert_eq!(named_database(&file), None);
        assert_eq!(named_database(&folder.path().join("absent")), None);
        assert_eq!(named_database(Path::new("https://host/x")), None);
        assert!(named_database(Path::new("postgres://host/watch")).is_some());
    }
}
