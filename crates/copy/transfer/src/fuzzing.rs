//! Entry points for fuzz targets (feature `fuzzing`): code that reads others' bytes behind files
//! and streams.

pub use crate::receiver::fuzzing::Arrivals;
