//! The envelope that every document has.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::{
    Campaign, Characteristics, Copy, Demo, Emulation, Fit, Host, Measure, Predict, Responsiveness,
    Simulate, Sweep, Tune, layout,
};

/// The version of the shapes in this crate. It rises when a key changes its meaning or vanishes;
/// new optional keys do not raise it.
///
/// Version 2 names several causes in `limit_or`, where version 1 had room for one. Version 3 has the limit of the
/// recommended setting at the top of a tune document and that of one default stream in `limit_default`; every rate
/// that reaches a program is `goodput_bits_per_second`.
pub const SCHEMA_VERSION: u32 = 3;

/// What a document holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub enum Schema {
    /// One setting and everything that was seen.
    #[serde(rename = "trunkline/measure")]
    Measure,
    /// A search for the operating point.
    #[serde(rename = "trunkline/tune")]
    Tune,
    /// Labelled measurements beside a tuned one.
    #[serde(rename = "trunkline/demo")]
    Demo,
    /// Programs run across an emulated path.
    #[serde(rename = "trunkline/emulate")]
    Emulate,
    /// One simulated setting with several seeds.
    #[serde(rename = "trunkline/simulate")]
    Simulate,
    /// Many simulated settings.
    #[serde(rename = "trunkline/campaign")]
    Campaign,
    /// What formulas say about a path.
    #[serde(rename = "trunkline/predict")]
    Predict,
    /// Curves through measured points.
    #[serde(rename = "trunkline/fit")]
    Fit,
    /// A grid of settings measured in cycles.
    #[serde(rename = "trunkline/sweep")]
    Sweep,
    /// What was found of a path itself.
    #[serde(rename = "trunkline/path")]
    Characteristics,
    /// Round trips while a path is saturated.
    #[serde(rename = "trunkline/responsiveness")]
    Responsiveness,
    /// Files that were copied.
    #[serde(rename = "trunkline/copy")]
    Copy,
}

impl Schema {
    /// Every schema that this version reads.
    pub const ALL: [Schema; 12] = [
        Schema::Measure,
        Schema::Tune,
        Schema::Demo,
        Schema::Emulate,
        Schema::Simulate,
        Schema::Campaign,
        Schema::Predict,
        Schema::Fit,
        Schema::Sweep,
        Schema::Characteristics,
        Schema::Responsiveness,
        Schema::Copy,
    ];

    /// Its name in the document.
    pub const fn name(self) -> &'static str {
        match self {
            Schema::Measure => "trunkline/measure",
            Schema::Tune => "trunkline/tune",
            Schema::Demo => "trunkline/demo",
            Schema::Emulate => "trunkline/emulate",
            Schema::Simulate => "trunkline/simulate",
            Schema::Campaign => "trunkline/campaign",
            Schema::Predict => "trunkline/predict",
            Schema::Fit => "trunkline/fit",
            Schema::Sweep => "trunkline/sweep",
            Schema::Characteristics => "trunkline/path",
            Schema::Responsiveness => "trunkline/responsiveness",
            Schema::Copy => "trunkline/copy",
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

impl Body for Measure {
    const SCHEMA: Schema = Schema::Measure;
}

impl Body for Tune {
    const SCHEMA: Schema = Schema::Tune;
}

impl Body for Demo {
    const SCHEMA: Schema = Schema::Demo;
}

impl Body for Emulation {
    const SCHEMA: Schema = Schema::Emulate;
}

impl Body for Simulate {
    const SCHEMA: Schema = Schema::Simulate;
}

impl Body for Campaign {
    const SCHEMA: Schema = Schema::Campaign;
}

impl Body for Predict {
    const SCHEMA: Schema = Schema::Predict;
}

impl Body for Fit {
    const SCHEMA: Schema = Schema::Fit;
}

impl Body for Sweep {
    const SCHEMA: Schema = Schema::Sweep;
}

impl Body for Characteristics {
    const SCHEMA: Schema = Schema::Characteristics;
}

impl Body for Responsiveness {
    const SCHEMA: Schema = Schema::Responsiveness;
}

impl Body for Copy {
    const SCHEMA: Schema = Schema::Copy;
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

/// The time now, as documents have it: RFC 3339, UTC, whole seconds. The one place that asks the calendar.
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

/// A document of any kind, as read from a file.
#[derive(Debug, Clone, PartialEq)]
pub enum AnyDocument {
    /// One measurement.
    Measure(Box<Document<Measure>>),
    /// One search.
    Tune(Box<Document<Tune>>),
    /// One demonstration.
    Demo(Box<Document<Demo>>),
    /// One run of programs across an emulated path.
    Emulate(Box<Document<Emulation>>),
    /// One simulated setting.
    Simulate(Box<Document<Simulate>>),
    /// Many simulated settings.
    Campaign(Box<Document<Campaign>>),
    /// What formulas say about a path.
    Predict(Box<Document<Predict>>),
    /// Curves through measured points.
    Fit(Box<Document<Fit>>),
    /// A grid of settings measured in cycles.
    Sweep(Box<Document<Sweep>>),
    /// What was found of a path itself.
    Characteristics(Box<Document<Characteristics>>),
    /// Round trips while a path is saturated.
    Responsiveness(Box<Document<Responsiveness>>),
    /// Files that were copied.
    Copy(Box<Document<Copy>>),
}

impl From<Document<Measure>> for AnyDocument {
    fn from(document: Document<Measure>) -> Self {
        AnyDocument::Measure(Box::new(document))
    }
}

impl From<Document<Tune>> for AnyDocument {
    fn from(document: Document<Tune>) -> Self {
        AnyDocument::Tune(Box::new(document))
    }
}

impl From<Document<Demo>> for AnyDocument {
    fn from(document: Document<Demo>) -> Self {
        AnyDocument::Demo(Box::new(document))
    }
}

impl From<Document<Emulation>> for AnyDocument {
    fn from(document: Document<Emulation>) -> Self {
        AnyDocument::Emulate(Box::new(document))
    }
}

impl From<Document<Simulate>> for AnyDocument {
    fn from(document: Document<Simulate>) -> Self {
        AnyDocument::Simulate(Box::new(document))
    }
}

impl From<Document<Campaign>> for AnyDocument {
    fn from(document: Document<Campaign>) -> Self {
        AnyDocument::Campaign(Box::new(document))
    }
}

impl From<Document<Predict>> for AnyDocument {
    fn from(document: Document<Predict>) -> Self {
        AnyDocument::Predict(Box::new(document))
    }
}

impl From<Document<Fit>> for AnyDocument {
    fn from(document: Document<Fit>) -> Self {
        AnyDocument::Fit(Box::new(document))
    }
}

impl From<Document<Sweep>> for AnyDocument {
    fn from(document: Document<Sweep>) -> Self {
        AnyDocument::Sweep(Box::new(document))
    }
}

impl From<Document<Characteristics>> for AnyDocument {
    fn from(document: Document<Characteristics>) -> Self {
        AnyDocument::Characteristics(Box::new(document))
    }
}

impl From<Document<Responsiveness>> for AnyDocument {
    fn from(document: Document<Responsiveness>) -> Self {
        AnyDocument::Responsiveness(Box::new(document))
    }
}

impl From<Document<Copy>> for AnyDocument {
    fn from(document: Document<Copy>) -> Self {
        AnyDocument::Copy(Box::new(document))
    }
}

impl AnyDocument {
    /// The document as [`Document::to_json`] writes it.
    pub fn to_json(&self) -> String {
        match self {
            AnyDocument::Measure(document) => document.to_json(),
            AnyDocument::Tune(document) => document.to_json(),
            AnyDocument::Demo(document) => document.to_json(),
            AnyDocument::Emulate(document) => document.to_json(),
            AnyDocument::Simulate(document) => document.to_json(),
            AnyDocument::Campaign(document) => document.to_json(),
            AnyDocument::Predict(document) => document.to_json(),
            AnyDocument::Fit(document) => document.to_json(),
            AnyDocument::Sweep(document) => document.to_json(),
            AnyDocument::Characteristics(document) => document.to_json(),
            AnyDocument::Responsiveness(document) => document.to_json(),
            AnyDocument::Copy(document) => document.to_json(),
        }
    }

    /// What it holds.
    pub fn schema(&self) -> Schema {
        match self {
            AnyDocument::Measure(_) => Schema::Measure,
            AnyDocument::Tune(_) => Schema::Tune,
            AnyDocument::Demo(_) => Schema::Demo,
            AnyDocument::Emulate(_) => Schema::Emulate,
            AnyDocument::Simulate(_) => Schema::Simulate,
            AnyDocument::Campaign(_) => Schema::Campaign,
            AnyDocument::Predict(_) => Schema::Predict,
            AnyDocument::Fit(_) => Schema::Fit,
            AnyDocument::Sweep(_) => Schema::Sweep,
            AnyDocument::Characteristics(_) => Schema::Characteristics,
            AnyDocument::Responsiveness(_) => Schema::Responsiveness,
            AnyDocument::Copy(_) => Schema::Copy,
        }
    }

    /// Where it comes from.
    pub fn origin(&self) -> &Origin {
        match self {
            AnyDocument::Measure(document) => &document.origin,
            AnyDocument::Tune(document) => &document.origin,
            AnyDocument::Demo(document) => &document.origin,
            AnyDocument::Emulate(document) => &document.origin,
            AnyDocument::Simulate(document) => &document.origin,
            AnyDocument::Campaign(document) => &document.origin,
            AnyDocument::Predict(document) => &document.origin,
            AnyDocument::Fit(document) => &document.origin,
            AnyDocument::Sweep(document) => &document.origin,
            AnyDocument::Characteristics(document) => &document.origin,
            AnyDocument::Responsiveness(document) => &document.origin,
            AnyDocument::Copy(document) => &document.origin,
        }
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
