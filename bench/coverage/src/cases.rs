//! The settings that are tried, by kind.

use std::fmt;

use observe::{Setting, StreamCount, Window};
use units::Bytes;

/// What bounds a setting in the long run, which decides how hard a short run has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// One stream whose window random losses keep small.
    OneLossy,
    /// Several such streams.
    SeveralLossy,
    /// Windows bound, and nothing is lost.
    Window,
    /// Windows bound, and packets are lost now and then.
    WindowLossy,
    /// The link is full, its queue deep enough.
    Link,
    /// A queue that is short for what the streams send.
    ShallowQueue,
    /// Streams of others share the link.
    Others,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::OneLossy => "1 stream, random loss",
            Kind::SeveralLossy => "several streams, random loss",
            Kind::Window => "windows bind, no loss",
            Kind::WindowLossy => "windows bind, random loss",
            Kind::Link => "full link",
            Kind::ShallowQueue => "short queue",
            Kind::Others => "others on the link",
        })
    }
}

/// One setting on one path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Case {
    pub kind: Kind,
    pub path: &'static str,
    pub streams: u16,
    /// KiB asked for; `None` leaves it to the kernel.
    pub window_kib: Option<u64>,
}

impl Case {
    pub fn name(&self) -> String {
        let window = self.window();
        format!("{} {} x {window}", self.path, self.streams)
    }

    pub fn setting(&self) -> Option<Setting> {
        let streams = StreamCount::new(self.streams.into()).ok()?;
        Some(Setting::new(streams, self.window()))
    }

    fn window(&self) -> Window {
        match self.window_kib {
            Some(kib) => Window::Fixed(Bytes::from_kib(kib)),
            None => Window::Auto,
        }
    }
}

/// All of them.
pub fn all() -> Vec<Case> {
    use Kind::*;
    let list: [(Kind, &'static str, u16, Option<u64>); 33] = [
        (OneLossy, "slac-cern", 1, None),
        (OneLossy, "oc3-80ms", 1, None),
        (OneLossy, "slac-caltech", 1, None),
        (OneLossy, "slac-in2p3", 1, None),
        (OneLossy, "lossy-wifi", 1, None),
        (SeveralLossy, "slac-cern", 4, None),
        (SeveralLossy, "slac-cern", 16, None),
        (SeveralLossy, "oc3-80ms", 4, None),
        (SeveralLossy, "slac-caltech", 4, None),
        (SeveralLossy, "lossy-wifi", 4, None),
        (Window, "capped-buffers", 1, None),
        (Window, "capped-buffers", 2, None),
        (Window, "lan", 1, Some(16)),
        (Window, "oc12-100ms", 4, Some(512)),
        (Window, "dadc-dumbbell", 4, Some(64)),
        (WindowLossy, "slac-cern", 1, Some(64)),
        (WindowLossy, "slac-cern", 2, Some(256)),
        (WindowLossy, "slac-cern", 8, Some(64)),
        (WindowLossy, "oc3-80ms", 4, Some(256)),
        (WindowLossy, "slac-caltech", 8, Some(16)),
        (Link, "lan", 1, None),
        (Link, "capped-buffers", 8, None),
        (Link, "slac-cern", 64, None),
        (Link, "oc3-80ms", 16, None),
        (Link, "slac-in2p3", 16, None),
        (Link, "lossy-wifi", 16, None),
        (ShallowQueue, "shallow-queue", 1, None),
        (ShallowQueue, "shallow-queue", 4, None),
        (ShallowQueue, "dadc-dumbbell", 1, None),
        (ShallowQueue, "oc3-striping", 4, None),
        (Others, "dadc-dumbbell-cross5", 1, None),
        (Others, "dadc-dumbbell-cross5", 4, None),
        (Others, "classes-ds3", 2, None),
    ];
    let case = |(kind, path, streams, window_kib)| Case {
        kind,
        path,
        streams,
        window_kib,
    };
    list.map(case).into()
}
