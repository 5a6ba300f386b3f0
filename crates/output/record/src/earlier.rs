//! Documents of earlier versions in the shapes of this one.
//!
//! Of version 1 the one word in `limit_or` becomes a list. Of versions below 3 keys are moved, see
//! [`SCHEMA_VERSION`](crate::SCHEMA_VERSION).

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
            if let Some(rival @ Value::String(_)) = map.get_mut("limit_or") {
                *rival = Value::Array(vec![rival.take()]);
            }
            map.values_mut().for_each(rename);
        }
        _ => {}
    }
}

/// Of a search: what stood at the top becomes `limit_default`, and `limit_recommended` comes to the
/// top.
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
    use super::*;

    #[test]
    fn what_is_no_search_keeps_its_limit() {
        let mut value = serde_json::json!({"schema_version": 2, "limit": "loss"});
        bring_up_to_date(&mut value);
        assert_eq!(value["limit"], "loss");
    }
}
