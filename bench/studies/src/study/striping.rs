//! TCP for bulk transfer, analysed about 2002: four figures, a study each.

pub(super) mod flows;
pub(super) mod loss;
pub(super) mod streams;
pub(super) mod time;

use netpath::{Loss, PathSpec};
use sim::{Growth, Scenario, TcpSettings, Variant};
use units::{Bytes, Span};

use super::StudyError;

const SOURCE: &str = "An analysis of TCP for bulk transfer, about 2002";

/// Losses from 1e-8 to 1e-2, two in each power of ten.
fn losses() -> impl Iterator<Item = f64> {
    (-16..=-4).map(|half| 10_f64.powf(f64::from(half) / 2.0))
}

/// TCP of those years: initial window 2, headers of 40 bytes, windows that grow with
/// acknowledgements. A delayed acknowledgement waits for 200 ms at the most.
fn tcp_of_2002(path: &PathSpec, delayed_ack: bool) -> TcpSettings {
    TcpSettings {
        initial_window: 2,
        header: Bytes::new(40),
        delayed_ack: delayed_ack.then_some(Span::from_millis(200)),
        growth: Growth::PerAcknowledgement,
        ..TcpSettings::linux(path)
    }
}

/// One endless SACK stream over `path` without loss of its own, every segment acknowledged.
fn base(path: &str) -> Result<Scenario, StudyError> {
    let mut path = PathSpec::load(path)?;
    path.forward.loss = Loss::None;
    path.reverse.loss = Loss::None;
    path.hosts.send_buffer_max = Bytes::from_mib(64);
    path.hosts.receive_buffer_max = Bytes::from_mib(64);
    path.hosts.congestion = "reno".to_owned();
    let mut base = Scenario::new(path)?;
    base.variant = Variant::Sack;
    base.tcp = tcp_of_2002(&base.path, false);
    Ok(base)
}
