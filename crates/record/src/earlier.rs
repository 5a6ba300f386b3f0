//! Documents of earlier versions in the shapes of this one.
//!
//! Version 1 is read as it stands: its one word in `limit_or` is taken for a list. Of versions below 3 keys are moved,
//! see [`SCHEMA_VERSION`](crate::SCHEMA_VERSION).

use serde_json::{Map, Value};

/// What version 3 calls otherwise, before and after.
const RENAMED: (&str, &str) = ("throughput_bits_per_second", "goodput_bits_per_second");

/// The keys of a cause, which stood at the top of a search for one default stream.
const CAUSE: [&str; 5] = [
    "limit",
    "limit_or",
    "limit_because",
    "window_needed_bytes",
    "could_reach_bits_per_second",
];

/// Moves the keys of an earlier version to where this one has them.
pub(crate) fn bring_up_to_date(document: &mut Value) {
    let version = document.get("schema_version").and_then(Value::as_u64);
    if version.is_none_or(|version| version < 3) {
        rename(document);
        exchange_limits(document);
        if let Some(tune) = document.get_mut("tune") {
            exchange_limits(tune);
        }
    }
}

fn rename(value: &mut Value) {
    match value {
        Value::Array(list) => list.iter_mut().for_each(rename),
        Value::Object(map) => {
            if let Some(rate) = map.remove(RENAMED.0) {
                map.insert(RENAMED.1.to_owned(), rate);
            }
            map.values_mut().for_each(rename);
        }
        _ => {}
    }
}

/// Of a search: what stood at the top becomes `limit_default`, and `limit_recommended` comes to the top.
fn exchange_limits(search: &mut Value) {
    let Some(map) = search.as_object_mut() else {
        return;
    };
    let Some(Value::Object(recommended)) = map.remove("limit_recommended") else {
        return;
    };
    let moved = CAUSE.iter().filter_map(|key| map.remove_entry(*key));
    let default: Map<String, Value> = moved.collect();
    map.insert("limit_default".to_owned(), default.into());
    map.extend(recommended);
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::{AnyDocument, parse, synthetic};

    /// The document as version 2 had it.
    fn of_version_2(document: &AnyDocument) -> Value {
        let text = document.to_json().replace(RENAMED.1, RENAMED.0);
        let mut value: Value = serde_json::from_str(&text).unwrap();
        value["schema_version"] = 2.into();
        if let Some(map) = value.get_mut("tune").and_then(Value::as_object_mut) {
            put_back(map);
        }
        if value["schema"] == "trunkline/tune" {
            put_back(value.as_object_mut().unwrap());
        }
        value
    }

    fn put_back(map: &mut Map<String, Value>) {
        let Some(Value::Object(default)) = map.remove("limit_default") else {
            panic!("no limit of a default stream");
        };
        let moved = CAUSE.iter().filter_map(|key| map.remove_entry(*key));
        let recommended: Map<String, Value> = moved.collect();
        map.insert("limit_recommended".to_owned(), recommended.into());
        map.extend(default);
    }

    #[test]
    fn documents_of_version_2_say_the_same_as_before() {
        let documents: [AnyDocument; 4] = [
            synthetic::tune(1).into(),
            synthetic::demo(1).into(),
            synthetic::predict().into(),
            synthetic::fit().into(),
        ];
        for document in documents {
            let before = of_version_2(&document);
            assert_ne!(before.to_string(), document.to_json());
            let read = parse(Path::new("d.json"), &before.to_string()).unwrap();
            let now = document.to_json();
            let as_now = |json: &str| -> Value {
                let mut value: Value = serde_json::from_str(json).unwrap();
                value["schema_version"] = 3.into();
                value
            };
            assert_eq!(as_now(&read.to_json()), as_now(&now));
        }
    }

    #[test]
    fn what_is_no_search_keeps_its_limit() {
        let mut value = serde_json::json!({"schema_version": 2, "limit": "loss"});
        bring_up_to_date(&mut value);
        assert_eq!(value["limit"], "loss");
    }
}
