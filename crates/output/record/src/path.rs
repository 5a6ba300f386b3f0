//! A path as its file describes it.

use netpath::{Cross, Duplex, Hosts, LinkSpec, PathSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A path between two hosts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Path {
    /// The preset's name, or the file's without its ending.
    pub name: String,
    /// What it is, in one line.
    pub description: String,
    /// From sender to receiver.
    pub forward: LinkSpec,
    /// From receiver to sender.
    pub reverse: LinkSpec,
    /// Links between the near host and this one, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<Duplex>,
    /// Links between this one and the far host, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beyond: Vec<Duplex>,
    /// The two end hosts.
    pub hosts: Hosts,
    /// The traffic that shares the forward link.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cross: Vec<Cross>,
}

/// Characters of a digest: 64 bits tell a user's paths apart.
const DIGEST_CHARACTERS: usize = 16;

impl Path {
    /// The beginning of the BLAKE3 digest of the whole description, in hexadecimal digits.
    pub fn digest(&self) -> String {
        let text = serde_json::to_string(self);
        let text = text.expect("string keys and finite or null numbers always serialise");
        let mut digest = blake3::hash(text.as_bytes()).to_hex().to_string();
        digest.truncate(DIGEST_CHARACTERS);
        digest
    }
}

impl From<&PathSpec> for Path {
    fn from(path: &PathSpec) -> Self {
        Path {
            name: path.name.clone(),
            description: path.to_string(),
            forward: path.forward.clone(),
            reverse: path.reverse.clone(),
            before: path.before.clone(),
            beyond: path.beyond.clone(),
            hosts: path.hosts.clone(),
            cross: path.cross.clone(),
        }
    }
}
