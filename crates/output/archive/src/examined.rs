//! What examinations of a path come down to: the streams that they ran.

use units::Rate;

use super::essence::{Essence, Outcome, Point, Tried};
use record::characteristics::{Load, Way};
use record::datagrams::DatagramWay;
use record::responsiveness::ResponsivenessWay;
use record::{
    Characteristics, Datagrams, Direction, Origin, Responsiveness, Schema, Transport, Window,
};

/// One stream of the first direction; `None` where none ran.
pub(super) fn of_characteristics(body: &Characteristics, origin: &Origin) -> Option<Essence> {
    let outcome = Outcome::from(&body.loads.first()?.one);
    let tried = |load: &Load| {
        let runs = [Some(&load.one), load.several.as_ref()];
        let tried = |run| Tried {
            purpose: format!("streams {}", load.way.name()),
            outcome: Outcome::from(run),
        };
        runs.into_iter().flatten().map(tried).collect::<Vec<_>>()
    };
    Some(Essence {
        samples: body.loads.iter().flat_map(tried).collect(),
        ..Essence::new(
            Schema::Characteristics,
            origin,
            body.target.clone(),
            outcome,
        )
    })
}

/// The load of the first direction; `None` where there was none.
pub(super) fn of_responsiveness(body: &Responsiveness, origin: &Origin) -> Option<Essence> {
    let outcome = of_way(body.ways.first()?);
    let tried = |way: &ResponsivenessWay| Tried {
        purpose: format!("load {}", way.way.name()),
        outcome: of_way(way),
    };
    Some(Essence {
        cut_because: body.ways.iter().find_map(|way| way.cut_because.clone()),
        samples: body.ways.iter().map(tried).collect(),
        ..Essence::new(Schema::Responsiveness, origin, body.target.clone(), outcome)
    })
}

fn of_way(way: &ResponsivenessWay) -> Outcome {
    let beside = way.foreign.or(way.loaded);
    Outcome {
        setting: Point {
            transport: Transport::Tcp,
            streams: way.streams.into(),
            window: Window::Auto,
            direction: direction(way.way),
            congestion: None,
            pacing: None,
            mss: None,
        },
        goodput_bits_per_second: way.goodput_bits_per_second,
        interval: None,
        degrees_of_freedom: None,
        rtt_unloaded_seconds: way.idle.as_ref().and_then(|idle| idle.mean_seconds),
        rtt_loaded_seconds: beside.map(|beside| beside.mean.as_secs_f64()),
        retransmitted_ratio: None,
        limit: None,
    }
}

/// The first direction; `None` where nothing was sent.
pub(super) fn of_datagrams(body: &Datagrams, origin: &Origin) -> Option<Essence> {
    let outcome = of_datagrams_of(body, body.ways.first()?);
    let tried = |way: &DatagramWay| Tried {
        purpose: format!("datagrams {}", way.way.name()),
        outcome: of_datagrams_of(body, way),
    };
    Some(Essence {
        samples: body.ways.iter().map(tried).collect(),
        ..Essence::new(Schema::Datagrams, origin, body.target.clone(), outcome)
    })
}

fn of_datagrams_of(body: &Datagrams, way: &DatagramWay) -> Outcome {
    let each = |rate: Rate| {
        let streams = u64::from(body.streams.max(1));
        Rate::from_bits_per_second(rate.bits_per_second() / streams)
    };
    Outcome {
        setting: Point {
            transport: Transport::Udp,
            streams: body.streams.into(),
            window: Window::Auto,
            direction: direction(way.way),
            congestion: None,
            pacing: body.asked.map(each),
            mss: None,
        },
        goodput_bits_per_second: way.goodput_bits_per_second,
        interval: None,
        degrees_of_freedom: None,
        rtt_unloaded_seconds: None,
        rtt_loaded_seconds: None,
        retransmitted_ratio: None,
        limit: None,
    }
}

fn direction(way: Way) -> Direction {
    match way {
        Way::Forward => Direction::Forward,
        Way::Reverse => Direction::Reverse,
    }
}
