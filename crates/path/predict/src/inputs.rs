//! From a path file to the inputs of the formulas.

use models::{Acks, Bottleneck, Control, Flows, Response};
use netpath::{Cross, CrossTraffic, Loss, PathSpec, QueueLimit};
use units::{Bytes, Rate};

use super::{PredictError, Question};

/// TCP header with timestamps, as Linux sends it.
const TCP_HEADER: u16 = 32;

/// A path as the formulas see it.
#[derive(Debug, Clone)]
pub(super) struct Inputs {
    pub congestion: String,
    pub bottleneck: Bottleneck,
    /// Payload that the link carries without other traffic.
    pub link_payload: Rate,
    pub background: Rate,
    /// One stream.
    pub own: Flows,
    pub others: Vec<Flows>,
    pub window: Bytes,
    /// What the hosts' buffers come to.
    pub window_auto: Bytes,
}

impl Inputs {
    pub fn of(question: &Question) -> Result<Self, PredictError> {
        let path = &question.path;
        if let Some(netpath::Extra { field, value }) =
            path.extra().or_else(|| path.beyond_formulas())
        {
            return Err(PredictError::NotOneLink { field, value });
        }
        let congestion = question
            .congestion
            .as_ref()
            .unwrap_or(&path.hosts.congestion);
        let buffers = path.hosts.forward();
        let window_auto = buffers.send.min(buffers.receive);
        let window = question.window.unwrap_or(window_auto);
        let payload = payload(path, path.forward.rate);
        let background = background(path);
        let available = payload.as_f64() - background.as_f64();
        if available <= 0.0 {
            return Err(PredictError::Full {
                load: background,
                capacity: payload,
            });
        }
        Ok(Inputs {
            congestion: congestion.clone(),
            bottleneck: bottleneck(path, Rate::from_f64(available)),
            link_payload: payload,
            background,
            own: Flows {
                streams: 1,
                window: Some(whole_segments(path, window)),
                control: control(congestion)?,
                rtt_added: units::Span::ZERO,
            },
            others: others(path)?,
            window,
            window_auto,
        })
    }
}

fn bottleneck(path: &PathSpec, capacity: Rate) -> Bottleneck {
    let (segment, packet) = (segment(path), u64::from(path.hosts.mtu.max(1)));
    let queue = match path.forward.queue.limit() {
        QueueLimit::Bytes(bytes) => Bytes::new(bytes.get() / packet * segment.get()),
        QueueLimit::Packets(packets) => segment.times(u64::from(packets)),
    };
    Bottleneck {
        capacity,
        rtt: path.base_rtt(),
        queue,
        loss: events(&path.forward.loss),
        segment,
    }
}

pub(super) fn segment(path: &PathSpec) -> Bytes {
    Bytes::new(u64::from(
        path.hosts
            .mtu
            .saturating_sub(path.hosts.ip_header() + TCP_HEADER),
    ))
}

/// What a sender fills of a window: whole segments, one at least.
pub(super) fn whole_segments(path: &PathSpec, window: Bytes) -> Bytes {
    let segment = segment(path);
    let count = window.get().checked_div(segment.get()).unwrap_or(0).max(1);
    segment.times(count)
}

/// What is payload of a rate of whole packets.
fn payload(path: &PathSpec, rate: Rate) -> Rate {
    Rate::from_f64(rate.as_f64() * segment(path).as_f64() / f64::from(path.hosts.mtu.max(1)))
}

/// Loss events for each packet: a burst counts once.
fn events(loss: &Loss) -> f64 {
    match *loss {
        Loss::GilbertElliott {
            enter,
            leave,
            loss_good,
            ..
        } => {
            let bursts = enter * leave / (enter + leave);
            let between = leave / (enter + leave) * loss_good;
            (bursts + between).min(loss.mean_rate())
        }
        _ => loss.mean_rate(),
    }
}

fn background(path: &PathSpec) -> Rate {
    let loads = path
        .cross
        .iter()
        .filter_map(|cross| cross.traffic.mean_load());
    Rate::from_f64(loads.map(Rate::as_f64).sum())
}

fn others(path: &PathSpec) -> Result<Vec<Flows>, PredictError> {
    let streams = |cross: &Cross| match cross.traffic {
        CrossTraffic::Streams { streams, window } => Some((streams, window)),
        _ => None,
    };
    let flows = |cross: &Cross| {
        let (streams, window) = streams(cross)?;
        let congestion = cross.congestion.as_ref().unwrap_or(&path.hosts.congestion);
        Some(control(congestion).map(|control| Flows {
            streams: u32::from(streams),
            window: Some(whole_segments(path, window)),
            control,
            rtt_added: cross.extra_delay,
        }))
    };
    path.cross.iter().filter_map(flows).collect()
}

/// By the name of the kernel's module or the simulator's variant.
fn control(name: &str) -> Result<Control, PredictError> {
    match name {
        "reno" | "tahoe" | "newreno" | "sack" | "fack" => {
            Ok(Control::Loss(Response::Reno(Acks::Every)))
        }
        "cubic" => Ok(Control::Loss(Response::Cubic)),
        "highspeed" => Ok(Control::Loss(Response::HighSpeed)),
        "scalable" => Ok(Control::Loss(Response::Scalable)),
        "bbr" => Ok(Control::Bandwidth),
        other => Err(PredictError::Congestion {
            name: other.to_owned(),
        }),
    }
}
