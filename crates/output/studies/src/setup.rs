//! Scenarios that many parts share.

use netpath::PathSpec;
use sim::Scenario;
use units::{Bytes, Span};

use crate::part::SetUpError;
use crate::sweep::Curve;

/// A path that no file names: what a document says of it and what was assumed.
pub(crate) struct Link {
    /// Its name.
    pub name: &'static str,
    /// Its rate in Mbit/s.
    pub mbit: f64,
    /// The round trip of the empty path in ms.
    pub rtt_ms: f64,
    /// The queue in KiB.
    pub queue_kib: u64,
    /// Random loss.
    pub loss: f64,
    /// The largest packet.
    pub mtu: u16,
}

impl Link {
    /// As a path between hosts with large buffers and standard congestion control.
    pub fn path(&self) -> Result<PathSpec, SetUpError> {
        let loss = match self.loss {
            0.0 => String::new(),
            rate => format!("loss = {{ kind = \"random\", rate = {rate:?} }}"),
        };
        let text = format!(
            "[forward]\nrate = \"{}bit/s\"\ndelay = \"{}ns\"\nqueue = {{ kind = \"drop-tail\", \
             limit = \"{}KiB\" }}\n{loss}\n[hosts]\ncongestion = \"reno\"\nmtu = {}\n\
             send_buffer_max = \"64MiB\"\nreceive_buffer_max = \"64MiB\"\n",
            (self.mbit * 1e6).round() as u64,
            (self.rtt_ms * 5e5).round() as u64,
            self.queue_kib,
            self.mtu
        );
        Ok(PathSpec::from_toml(self.name, &text)?)
    }
}

/// Endless streams over `path` for `seconds`, of which the first `warmup` do not count.
pub(crate) fn endless(path: PathSpec, seconds: u64, warmup: u64) -> Result<Scenario, SetUpError> {
    let mut base = Scenario::new(path)?;
    base.duration = Span::from_secs(seconds);
    base.warmup = Span::from_secs(warmup);
    Ok(base)
}

/// The same, with what a ping once a second would see.
pub(crate) fn pinged(path: PathSpec, seconds: u64) -> Result<Scenario, SetUpError> {
    let mut base = endless(path, seconds, 0)?;
    base.series_interval = Some(Span::from_secs(1));
    Ok(base)
}

/// What a stream may have outstanding when a window of `kib` was asked for, as Linux grants it:
/// twice, of which 160/256 are offered with packets of 1500 bytes. Eight windows of just 64 kB a
/// round trip would carry less than was measured to CERN.
pub(crate) fn granted(kib: u64) -> Bytes {
    Bytes::new(kib * 1_280)
}

/// A curve over numbers of streams.
pub(crate) fn over_streams(
    label: impl Into<String>,
    base: &Scenario,
    counts: &[u32],
    window: Option<Bytes>,
) -> Curve {
    let cell = |streams: &u32| {
        let cell = Scenario {
            streams: *streams,
            window,
            ..base.clone()
        };
        (f64::from(*streams), cell)
    };
    Curve {
        label: label.into(),
        cells: counts.iter().map(cell).collect(),
    }
}
