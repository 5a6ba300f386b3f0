//! The derive `JsonSchema`: that of schemars with the feature `generate`, else an empty one.
//!
//! Types say with it that they are part of a document. The program never makes a schema, so only
//! the test that compares the schema with `docs/reference` compiles the real derive.

#[cfg(not(feature = "generate"))]
pub use none::JsonSchema;
#[cfg(feature = "generate")]
pub use real::*;
