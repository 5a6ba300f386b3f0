//! The envelope that every document has.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, from_value};

use crate::{
    Campaign, Characteristics, Copy, Datagrams, Demo, Emulation, Fit, FluidSimulation, Host,
    Measure, Predict, Responsiveness, Simulate, Sweep, Tune, layout,
};

/// The version of the shapes in this crate. It rises when a key changes its meaning or vanishes;
/// new optional keys do not raise it.
///
/// Version 2 names several causes in `limit_or`, where version 1 had room for one. Version 3 has
/// the limit of the recommended setting at the top of a tune document and that of one default
/// stream in `limit_default`; every rate that reaches a program is `goodput_bits_per_second`.
pub const SCHEMA_VERSION: u32 = 3;

/// The kinds of documents: the word that stands for each in code, its body, and its name in the
/// envelope.
macro_rules! kinds {
    ($($(#[doc = $about:literal])+ $kind:ident: $body:ty = $name:literal,)+) => {
        /// What a document holds.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
        pub enum Schema {
            $($(#[doc = $about])+ #[serde(rename = $name)] $kind,)+
        }

        impl Schema {
            /// Every schema that this version reads.
            pub const ALL: [Schema; [$($name),+].len()] = [$(Schema::$kind),+];

            /// Its name in the document.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Schema::$kind => $name,)+
                }
            }
        }

        /// A document of any kind, as read from a file.
        #[derive(Debug, Clone, PartialEq)]
        pub enum AnyDocument {
            $($(#[doc = $about])+ $kind(Box<Document<$body>>),)+
        }

        $(
            impl Body for $body {
                const SCHEMA: Schema = Schema::$kind;
            }

            impl From<Document<$body>> for AnyDocument {
                fn from(document: Document<$body>) -> Self {
                    AnyDocument::$kind(Box::new(document))
                }
            }
        )+

        impl AnyDocument {
            /// Reads the document of kind `schema` that `value` holds.
            ///
            /// # Errors
            /// When a key is missing or holds something else.
            pub(crate) fn read(schema: Schema, value: Value) -> serde_json::Result<Self> {
                Ok(match schema {
                    $(Schema::$kind => AnyDocument::$kind(from_value(value)?),)+
                })
            }

            /// The document as [`Document::to_json`] writes it.
            pub fn to_json(&self) -> String {
                match self {
                    $(AnyDocument::$kind(document) => document.to_json(),)+
                }
            }

            /// What it holds.
            pub fn schema(&self) -> Schema {
                match self {
                    $(AnyDocument::$kind(_) => Schema::$kind,)+
                }
            }

            /// Where it comes from.
            pub fn origin(&self) -> &Origin {
                match self {
                    $(AnyDocument::$kind(document) => &document.origin,)+
                }
            }
        }
    };
}

kinds! {
    /// One setting and everything that was seen.
    Measure: Measure = "trunkline/measure",
    /// A search for the operating point.
    Tune: Tune = "trunkline/tune",
    /// Labelled measurements beside a tuned one.
    Demo: Demo = "trunkline/demo",
    /// Programs run across an emulated path.
    Emulate: Emulation = "trunkline/emulate",
    /// One simulated setting with several seeds.
    Simulate: Simulate = "trunkline/simulate",
    /// Many simulated settings.
    Campaign: Campaign = "trunkline/campaign",
    /// What a fluid model says of one setting, in place of simulated packets.
    Fluid: FluidSimulation = "trunkline/fluid",
    /// What formulas say about a path.
    Predict: Predict = "trunkline/predict",
    /// Curves through measured points.
    Fit: Fit = "trunkline/fit",
    /// A grid of settings measured in cycles.
    Sweep: Sweep = "trunkline/sweep",
    /// What was found of a path itself.
    Characteristics: Characteristics = "trunkline/path",
    /// Round trips while a path is saturated.
    Responsiveness: Responsiveness = "trunkline/responsiveness",
    /// Datagrams at a steady rate.
    Datagrams: Datagrams = "trunkline/datagrams",
    /// Files that were copied.
    Copy: Copy = "trunkline/copy",
}

impl AnyDocument {
    /// The inferred path as a path file; `None` where the document has none.
    pub fn path_file(&self) -> Option<&str> {
        match self {
            AnyDocument::Tune(search) => search.body.path_file.as_deref(),
            AnyDocument::Demo(demo) => demo.body.tune.path_file.as_deref(),
            AnyDocument::Characteristics(path) => path.body.path_file.as_deref(),
            AnyDocument::Sweep(sweep) => Some(&sweep.body.beside.first()?.path_file),
            _ => None,
        }
    }
}

impl Schema {
    /// Its name without the program's: `tune` of `trunkline/tune`.
    pub fn kind(self) -> &'static str {
        let name = self.name();
        name.split_once('/').map_or(name, |(_, kind)| kind)
    }
}

/// What a document can hold.
pub trait Body: Serialize + DeserializeOwned {
    /// Its name in the envelope.
    const SCHEMA: Schema;
}

/// Where a document comes from: what the body alone would not tell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Origin {
    /// The version of trunkline that wrote it.
    pub trunkline_version: String,
    /// When it was made: RFC 3339, UTC, whole seconds.
    pub created: String,
    /// The seed of every random choice; absent when none was drawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The command, word by word.
    pub command_line: Vec<String>,
    /// The machine that it ran on.
    pub host: Host,
}

impl Origin {
    /// The origin of a document that is made now, on this host, by this version.
    pub fn here(command_line: Vec<String>, seed: Option<u64>) -> Self {
        Origin {
            trunkline_version: env!("CARGO_PKG_VERSION").to_owned(),
            created: now(),
            seed,
            command_line,
            host: Host::read(),
        }
    }
}

/// The time now, as documents have it: RFC 3339, UTC, whole seconds. The one place that asks the
/// calendar.
pub fn now() -> String {
    let now = jiff::Timestamp::now();
    now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// A document: the envelope and, beside it on the same level, the keys of the body.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Document<B> {
    /// What it holds.
    pub schema: Schema,
    /// The version of its shapes.
    pub schema_version: u32,
    /// Where it comes from.
    #[serde(flatten)]
    pub origin: Origin,
    /// What it says.
    #[serde(flatten)]
    pub body: B,
}

impl<B: Body> Document<B> {
    /// Puts `body` into an envelope.
    pub fn new(origin: Origin, body: B) -> Self {
        Document {
            schema: B::SCHEMA,
            schema_version: SCHEMA_VERSION,
            origin,
            body,
        }
    }

    /// The document as text: indented where people look, with a line break at the end.
    pub fn to_json(&self) -> String {
        layout::document(self)
    }

    /// The document on one line, as the last of a stream of events.
    pub fn to_line(&self) -> String {
        layout::line(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_in_the_document() {
        for schema in Schema::ALL {
            let json = serde_json::to_string(&schema).unwrap();
            assert_eq!(json, format!("\"{}\"", schema.name()));
        }
    }

    #[test]
    fn created_is_utc_in_whole_seconds() {
        let now = now();
        let back: jiff::Timestamp = now.parse().unwrap();
        assert_eq!(back.to_string(), now);
        assert_eq!(now.len(), "2026-01-01T00:00:00Z".len());
    }
}
