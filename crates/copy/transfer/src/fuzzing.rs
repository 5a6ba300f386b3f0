//! Entry points for fuzz targets (feature `fuzzing`): code that reads others' bytes behind files
//! and streams.

pub use crate::receiver::fuzzing::Arrivals;
pub use crate::store::fuzzing::{JournalRead, journal_of, read_journal};
