//! What was measured and how it was asked for.

use observe::{Direction, HostLimits, TargetKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Bytes;

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
}

/// Socket buffers of each stream: the word `"auto"` or a number of bytes.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "RawWindow", into = "RawWindow")]
pub enum Window {
    /// The kernel sizes them.
    Auto,
    /// Asked for in bytes.
    Bytes(u64),
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum RawWindow {
    Bytes(u64),
    Word(String),
}

impl From<Window> for RawWindow {
    fn from(window: Window) -> Self {
        match window {
            Window::Auto => RawWindow::Word("auto".to_owned()),
            Window::Bytes(bytes) => RawWindow::Bytes(bytes),
        }
    }
}

impl TryFrom<RawWindow> for Window {
    type Error = String;

    fn try_from(raw: RawWindow) -> Result<Self, String> {
        match raw {
            RawWindow::Bytes(bytes) => Ok(Window::Bytes(bytes)),
            RawWindow::Word(word) if word == "auto" => Ok(Window::Auto),
            RawWindow::Word(word) => Err(format!(
                "window `{word}` is neither \"auto\" nor a number of bytes"
            )),
        }
    }
}

/// One point of the space that is measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Setting {
    /// Parallel streams (in each direction, when both ends send).
    pub streams: u16,
    /// Socket buffers of each stream.
    pub window: Window,
    /// Which end sent.
    pub direction: Direction,
    /// Congestion control that was asked for; absent when left to the host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion: Option<String>,
    /// Upper bound on each stream's sending rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pacing_bits_per_second: Option<u64>,
    /// Maximum segment size that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mss_bytes: Option<u64>,
}

impl From<&observe::TargetInfo> for Target {
    fn from(info: &observe::TargetInfo) -> Self {
        Target {
            name: info.name.clone(),
            kind: info.kind,
            limits: info.limits,
            path_digest: None,
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

impl From<observe::Window> for Window {
    fn from(window: observe::Window) -> Self {
        match window {
            observe::Window::Auto => Window::Auto,
            observe::Window::Fixed(bytes) => Window::Bytes(bytes.get()),
        }
    }
}

impl From<Window> for observe::Window {
    fn from(window: Window) -> Self {
        match window {
            Window::Auto => observe::Window::Auto,
            Window::Bytes(bytes) => observe::Window::Fixed(Bytes::new(bytes)),
        }
    }
}

impl From<&observe::Setting> for Setting {
    fn from(setting: &observe::Setting) -> Self {
        Setting {
            streams: setting.streams.get(),
            window: setting.window.into(),
            direction: setting.direction,
            congestion: setting.congestion.clone(),
            pacing_bits_per_second: setting.pacing.map(units::Rate::bits_per_second),
            mss_bytes: setting.mss.map(u64::from),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_a_word_or_a_number() {
        let json = |window| serde_json::to_string(&window).unwrap();
        assert_eq!(json(Window::Auto), "\"auto\"");
        assert_eq!(json(Window::Bytes(65_536)), "65536");
    }

    #[test]
    fn another_word_is_named_with_what_would_do() {
        let error = serde_json::from_str::<Window>("\"64k\"").unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with("window `64k` is neither \"auto\" nor a number"));
    }
}
