//! Names of files in events: bytes that may be no text, as JSON.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Name;

/// What a file is called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileName {
    /// For people: what is no text is replaced, and characters that steer a terminal are spelt out.
    pub name: String,
    /// Where that is not the very name: its bytes in base64 (RFC 4648, section 4).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name_bytes: Option<String>,
}

impl From<&Name> for FileName {
    fn from(name: &Name) -> Self {
        let shown = name.to_string();
        let is_exact = shown.as_bytes() == name.as_bytes();
        FileName {
            name_bytes: (!is_exact).then(|| BASE64_STANDARD.encode(name.as_bytes())),
            name: shown,
        }
    }
}

impl FileName {
    /// The name itself.
    fn name(self) -> Result<Name, String> {
        let bytes = match self.name_bytes {
            Some(text) => BASE64_STANDARD.decode(text),
            None => Ok(self.name.into_bytes()),
        };
        let bytes = bytes.map_err(|error| format!("`name_bytes` is no base64: {error}"))?;
        Name::new(bytes).map_err(|error| error.to_string())
    }
}

pub fn serialize<S: Serializer>(name: &Name, serializer: S) -> Result<S::Ok, S::Error> {
    FileName::from(name).serialize(serializer)
}

pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Name, D::Error> {
    let name = FileName::deserialize(deserializer)?;
    name.name().map_err(D::Error::custom)
}
