//! TCP for bulk transfer, analysed about 2002: four figures, a study each.

pub(crate) mod ecn;
pub(crate) mod flows;
pub(crate) mod loss;
pub(crate) mod streams;
pub(crate) mod time;

use netpath::{Loss, PathSpec};
use sim::{Growth, Scenario, TcpSettings, Variant};
use units::{Bytes, Span};

use crate::part::SetUpError;
use crate::study::Study;

pub(crate) fn study() -> Result<Study, SetUpError> {
    Ok(Study {
        name: "striping",
        title: "Transport level protocol performance evaluation for bulk data transfers",
        source: "Ripeanu, University of Chicago, about 2002",
        parts: vec![
            loss::part()?,
            time::part()?,
            flows::part()?,
            streams::part()?,
            ecn::part()?,
        ],
        left: &[],
    })
}

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
        kernel_hosts: false,
        ..TcpSettings::linux(path)
    }
}

/// One endless SACK stream over `path` without loss of its own, every segment acknowledged.
fn base(path: &str) -> Result<Scenario, SetUpError> {
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
