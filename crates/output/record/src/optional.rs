//! Parts of a document whose keys stand beside those of another, or are all absent.

use serde::Deserializer;
use serde::de::{Deserialize, DeserializeOwned, Error};
use serde_json::{Map, Value};

/// Reads such a part: `None` without any of `keys`. With one of them the part has to be whole: a
/// damaged part is not an absent one.
pub(crate) fn part<'de, T, D>(from: D, keys: &[&str]) -> Result<Option<T>, D::Error>
where
    T: DeserializeOwned,
    D: Deserializer<'de>,
{
    let all = Map::<String, Value>::deserialize(from)?;
    match keys.iter().any(|key| all.contains_key(*key)) {
        true => T::deserialize(Value::Object(all))
            .map(Some)
            .map_err(D::Error::custom),
        false => Ok(None),
    }
}
