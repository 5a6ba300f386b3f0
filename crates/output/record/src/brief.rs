//! Documents without their raw readings: what they come down to, in a small part of the room.

use std::path::Path;

use serde_json::Value;

use crate::{AnyDocument, LoadError, parse};

/// Lists of readings, each below the key that it stands in; `None` for any.
const READINGS: [(Option<&str>, &str); 9] = [
    (None, "probes"),
    (None, "progress"),
    (None, "series"),
    (Some("streams"), "tcp"),
    (Some("streams"), "rates_bits_per_second"),
    (Some("near"), "samples"),
    (Some("variations"), "packets"),
    (Some("intervals"), "loaded_seconds"),
    (Some("intervals"), "foreign_seconds"),
];

impl AnyDocument {
    /// The same document with all lists of readings empty.
    ///
    /// # Errors
    /// None for a document of this version.
    pub fn brief(&self) -> Result<AnyDocument, LoadError> {
        let place = Path::new("the document");
        let mut value: Value =
            serde_json::from_str(&self.to_json()).map_err(|source| LoadError::Syntax {
                path: place.to_owned(),
                source,
            })?;
        empty(&mut value, "");
        parse(place, &value.to_string())
    }
}

fn empty(value: &mut Value, below: &str) {
    match value {
        Value::Array(list) => list.iter_mut().for_each(|value| empty(value, below)),
        Value::Object(map) => {
            for (key, value) in map {
                match value {
                    Value::Array(list) if is_reading(below, key) => list.clear(),
                    value => empty(value, key),
                }
            }
        }
        _ => {}
    }
}

fn is_reading(below: &str, key: &str) -> bool {
    READINGS
        .iter()
        .any(|(place, name)| *name == key && place.is_none_or(|place| place == below))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::{self, Case};

    #[test]
    fn a_brief_document_says_the_same_without_readings() {
        let documents: [AnyDocument; 10] = [
            synthetic::measure(&Case::streams(8, 1)).into(),
            synthetic::tune(1).into(),
            synthetic::demo(1).into(),
            synthetic::simulate(8).into(),
            synthetic::campaign().into(),
            synthetic::characteristics().into(),
            synthetic::responsiveness().into(),
            synthetic::datagrams(true).into(),
            synthetic::predict().into(),
            synthetic::fit().into(),
        ];
        for document in documents {
            let name = document.schema().name();
            let brief = document
                .brief()
                .unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(brief.origin(), document.origin());
            assert_eq!(brief.brief().unwrap(), brief, "{name}");
            assert!(brief.to_json().len() <= document.to_json().len(), "{name}");
        }
    }

    #[test]
    fn figures_and_samples_stay() {
        let tune = synthetic::tune(1);
        let AnyDocument::Tune(brief) = AnyDocument::from(tune.clone()).brief().unwrap() else {
            panic!("another kind");
        };
        assert_eq!(brief.body.answer, tune.body.answer);
        assert_eq!(brief.body.samples.len(), tune.body.samples.len());
        let (short, long) = (&brief.body.samples[0].run, &tune.body.samples[0].run);
        assert_eq!(short.goodput_bits_per_second, long.goodput_bits_per_second);
        assert_eq!(short.directions, long.directions);
        let (short_text, long_text) = (brief.to_json(), AnyDocument::from(tune.clone()).to_json());
        assert!(short_text.len() * 3 < long_text.len());
        assert!(short.streams[0].tcp.is_empty() && !long.streams[0].tcp.is_empty());
    }
}
