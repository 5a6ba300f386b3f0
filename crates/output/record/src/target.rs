//! What was measured.

use observe::{HostLimits, Punctuality, TargetKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Path;

/// What the bytes passed through.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Target {
    /// The name under which the user gave it.
    pub name: String,
    /// Which way it runs.
    pub kind: TargetKind,
    /// Bounds on socket buffers, where they can be read: this host's of a live target, those of
    /// both hosts of an emulated or simulated one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limits: Option<HostLimits>,
    /// Digest of the whole description of an emulated or simulated path: two paths with the same
    /// one are the same to the last number. Absent of a live host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_digest: Option<String>,
    /// How punctually this host handed packets over. Of an emulated path alone; an
    /// archive does not keep it of a sweep.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub punctuality: Option<Punctuality>,
}

impl From<&observe::TargetInfo> for Target {
    fn from(info: &observe::TargetInfo) -> Self {
        Target {
            name: info.name.clone(),
            kind: info.kind,
            limits: info.limits,
            path_digest: None,
            punctuality: None,
        }
    }
}

impl Target {
    /// The same target with the digest of the path that it runs; `None` leaves a live host as it
    /// is.
    pub fn on_path(self, path: Option<&netpath::PathSpec>) -> Self {
        let digest = path.map(|path| Path::from(path).digest());
        Target {
            path_digest: digest.or(self.path_digest),
            ..self
        }
    }
}
