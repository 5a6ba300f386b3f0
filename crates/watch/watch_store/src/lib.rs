//! Storage of the results of repeated visits to many network paths, for months and years.
//!
//! A [`Store`] is a SQLite file or a database of a PostgreSQL server; both run the same statements
//! (`database.rs`). It holds visits with their raw values, roll-ups of hours, days and months,
//! events, and the latest visit of each pair. [`Store::insert`] stores a batch in one transaction:
//! a visit that is sent twice is stored once. A [`Spool`] holds the results of an agent on its own
//! disk until they are stored.
//!
//! Left out: TLS to PostgreSQL (use a socket of the same host or a tunnel), and a SQLite file on a
//! file system that several hosts share, where its log is not safe.
//!
//! Reading order: `visit.rs` for what is stored, `schema.rs` for the tables, `database.rs` for the
//! two dialects, `insert.rs`, `roll_up.rs`, then the queries: `grid.rs`, `pair.rs`, `months.rs`,
//! `events.rs`, `notes.rs`, `incidents.rs`, `queries.rs`, and `flows.rs` for what routers tell of
//! traffic; `detectors.rs`, `documents.rs`, `retention.rs`, `spool.rs`, and `export.rs`.
//! docs/decisions/015-storage-of-visits.md has the figures.

mod database;
mod detectors;
mod documents;
mod error;
mod events;
mod export;
mod flows;
mod grid;
mod incidents;
mod insert;
mod months;
mod name;
mod notes;
mod packed;
mod pair;
mod queries;
mod retention;
mod roll_up;
mod rows;
mod schema;
mod spool;
mod store;
mod visit;

pub use detectors::{SavedDetector, SavedState, Series};
pub use documents::VisitDocument;
pub use error::StoreError;
pub use events::{EventKey, StoredEvent};
pub use export::{Cell, Column, Format, Kind, Selection, Table, UnknownFormat};
pub use flows::{ApplicationTraffic, Border, Crossing, OWN_TRAFFIC, RouterHour, Traffic, Volume};
pub use grid::{GridCell, HostSeen};
pub use incidents::{Incident, SilentHost, are_one, incidents, silent_hosts};
pub use months::Month;
pub use name::{DatabaseName, Name, NameError, Pair, UnknownDatabase};
pub use notes::{Note, NoteKind, acknowledgement};
pub use pair::{Kept, LoadedVisit, PairHistory};
pub use roll_up::{Figures, Level, RollUp};
pub use spool::{Spool, SpoolError};
pub use store::Store;
pub use visit::{Receipt, Refusal, StoredVisit, VisitId};
