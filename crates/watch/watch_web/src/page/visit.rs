//! One visit with all that is kept of it.

use changes::{SlowestLink, Visit};
use draw::chart::axis::Axis;
use draw::chart::palette::BLUE;
use draw::chart::{Axes, Chart, Layer, Shape};
use draw::format::{self, RateUnit};
use draw::page::{Block, Column, Fact, Row, Table};
use maud::{Markup, html};
use units::Rate;
use watch_store::{Kept, LoadedVisit, VisitId};

use super::pair::chart::round_trip_axis;
use crate::frame::{Sheet, Tab};
use crate::problem::Problem;
use crate::range::{Ago, Range};
use crate::site::Site;
use crate::{calendar, href, words};

const HEIGHT: u32 = 520;
/// Rates come ten times a second.
const RATES_A_SECOND: f64 = 10.0;
/// Values of a chart; of more, means or some are shown.
const POINTS: usize = 1000;
/// What an axis of round trips spans at least, as a share of the longest.
const LEAST: f64 = 1e-3;
/// Characters of a document that are shown.
const DOCUMENT: usize = 100_000;

/// The page.
pub fn sheet(site: &Site, id: &str) -> Result<Sheet, Problem> {
    let unknown = || {
        let what = format!("no visit has the identity {id:?}");
        Problem::unknown(what, "choose one from the page of a pair")
    };
    let id: VisitId = id.parse().map_err(|_| unknown())?;
    let loaded = site
        .stores
        .with(|store| store.load(id)?.ok_or_else(unknown))?;
    let title = format!("Visit of {} UTC", calendar::second(loaded.stored.visit.at));
    Ok(Sheet {
        body: draw(&loaded, &title)?,
        title,
        tab: Tab::Grid,
        is_live: false,
    })
}

fn draw(loaded: &LoadedVisit, title: &str) -> Result<Markup, Problem> {
    let stored = &loaded.stored;
    let visit = &stored.visit;
    let around = Range::around(visit.at, Ago::Day);
    let around = Range::between(around.ends());
    let place = href::pair(&stored.pair, &stored.task).within(around);
    let mut blocks = vec![Block::Facts(facts(visit))];
    if loaded.kept == Kept::Figures {
        let note = "Raw values are older than the retention: of the round trips the shortest, \
                    median, 95th percentile and longest are left.";
        blocks.push(Block::note(note));
    }
    blocks.extend(rates(stored.rates.as_deref().unwrap_or_default()));
    blocks.extend(trips(visit));
    blocks.extend(hops(visit));
    blocks.push(Block::heading("Everything else"));
    blocks.push(Block::Facts(others(visit, stored.id)));
    Ok(html! {
        h1 { (title) }
        p.setting {
            a href=(place) { (words::path(&stored.pair)) }
            ", task " a href=(href::grid(&stored.task)) { (stored.task) }
            ", " (visit.kind.name())
        }
        @if let Some(failure) = &visit.failure {
            p.lead.worse { "It failed: " bdi { (draw::words::sentence(&failure.reason)) } }
        }
        (draw::render::html::sections(&blocks)?)
        @if let Some(document) = &stored.document { (self::document(document)) }
    })
}

/// What stands out.
fn facts(visit: &Visit) -> Vec<Fact> {
    let trips = visit.round_trips.as_ref();
    let loss = visit
        .probes
        .and_then(|probes| Some((probes, probes.loss()?)));
    let known = [
        visit
            .goodput
            .map(|goodput| Fact::new("goodput", words::rate(goodput))),
        trips.map(|trips| Fact {
            after: format!(", shortest {}", words::round_trip(trips.min())),
            ..Fact::new("median round trip", words::round_trip(trips.median()))
        }),
        loss.map(|(probes, loss)| Fact {
            after: format!(", {} of {}", probes.lost, probes.sent),
            ..Fact::new("probes lost", format::percent(loss))
        }),
        visit
            .losses
            .as_ref()
            .map(|losses| Fact::plain("losses", draw::words::losses(losses))),
        visit.slowest_link.map(slowest_link),
        visit
            .resent
            .map(|share| Fact::new("bytes sent again", format::percent(share.into()))),
        visit
            .loaded
            .map(|span| Fact::new("round trip under load", words::round_trip(span))),
        visit
            .jitter
            .map(|jitter| Fact::new("jitter", words::round_trip(jitter))),
    ];
    let one_way = visit.one_way.iter().flat_map(|both| {
        let ways = [
            ("delay there", &both.forward),
            ("delay back", &both.reverse),
        ];
        ways.map(|(name, way)| {
            let (said, after) = words::one_way(way, both.clock_error);
            Fact {
                after,
                ..Fact::new(name, said)
            }
        })
    });
    known.into_iter().flatten().chain(one_way).collect()
}

/// The bound and the slope that it is of, or why there is none.
fn slowest_link(seen: SlowestLink) -> Fact {
    let name = "slowest link";
    match seen {
        SlowestLink::Slope(slope) => {
            let [rate, low, high] = [slope.rate, slope.low, slope.high].map(words::rate);
            Fact::new(name, format!("at least {low}")).after(format!(
                ", since round trips grow with the size of packets as over one link of {rate} \
                 ({low} to {high})"
            ))
        }
        SlowestLink::Unknown(why) => Fact::plain(name, format!("not known, {}", why.words())),
    }
}

fn others(visit: &Visit, id: VisitId) -> Vec<Fact> {
    let plain = |name: &str, text: String| Fact::plain(name, text);
    let far = visit.far_host.as_ref();
    let buffers = far.and_then(|far| far.limits.as_ref()).map(|limits| {
        let (send, receive) = (limits.send_auto_max, limits.receive_auto_max);
        format!("send {}, receive {}", send.human(), receive.human())
    });
    let known = [
        visit
            .limit
            .map(|limit| plain("limited by", draw::words::limit(limit).to_owned())),
        far.and_then(|far| far.kernel.clone())
            .map(|kernel| plain("far host's kernel", kernel)),
        buffers.map(|text| plain("far host's largest buffers", text)),
        visit
            .stolen
            .map(|share| plain("own processor taken away", format::percent(share.into()))),
        visit.probes.map(|probes| {
            let text = format!(
                "{} duplicated, {} out of order",
                probes.duplicated, probes.reordered
            );
            plain("probes", text)
        }),
        visit
            .route
            .as_ref()
            .map(|route| plain("route", format!("{:016x}", route.hash))),
        Some(plain("identity", id.to_string())),
    ];
    known.into_iter().flatten().collect()
}

fn rates(rates: &[Rate]) -> Vec<Block> {
    let high = rates.iter().map(|rate| rate.as_f64()).fold(0.0, f64::max);
    if rates.len() < 2 {
        return Vec::new();
    }
    let unit = RateUnit::fitting(high);
    let end = rates.len() as f64 / RATES_A_SECOND;
    let many = rates.len().div_ceil(POINTS);
    let place = |(number, some): (usize, &[Rate])| {
        let (begin, count) = ((number * many) as f64, some.len() as f64);
        let mean = some.iter().map(|rate| rate.as_f64()).sum::<f64>() / count;
        ((begin + count / 2.0) / RATES_A_SECOND, mean / unit.factor)
    };
    let line = rates.chunks(many).enumerate().map(place).collect();
    let axes = Axes {
        height: HEIGHT,
        x: Axis::exact(0.0, end, 10),
        x_title: Some("time [s]".to_owned()),
        y: Axis::whole(0.0, high / unit.factor, 5),
        y_title: format!("goodput [{}]", unit.name),
        layers: vec![Layer::new(BLUE, Shape::Line(line))],
    };
    let mut caption = format!("Goodput of each tenth of a second, {} values.", rates.len());
    if many > 1 {
        caption += &format!(" Each point is the mean of {many}.");
    }
    let chart = Chart::new(Vec::new(), [axes]);
    vec![
        Block::heading("Goodput during the visit"),
        Block::figure("rates", caption, chart),
    ]
}

fn trips(visit: &Visit) -> Vec<Block> {
    let Some(trips) = &visit.round_trips else {
        return Vec::new();
    };
    let milliseconds: Vec<f64> = trips
        .sorted()
        .iter()
        .map(|trip| trip.as_secs_f64() * 1e3)
        .collect();
    let [low, .., high] = milliseconds[..] else {
        return Vec::new();
    };
    let all = milliseconds.len();
    let many = all.div_ceil(POINTS);
    let shown = || (1..).zip(&milliseconds).step_by(many);
    let dot = |(rank, trip): (usize, &f64)| (*trip, rank as f64 / all as f64 * 100.0);
    let axes = Axes {
        height: HEIGHT - 100,
        x: round_trip_axis((low, high), LEAST, 6),
        x_title: Some("round trip [ms]".to_owned()),
        y: Axis::whole(0.0, 100.0, 4),
        y_title: "not longer [%]".to_owned(),
        layers: vec![Layer::new(BLUE, Shape::Dots(9, shown().map(dot).collect()))],
    };
    let texts: Vec<String> = shown().map(|(_, trip)| format!("{trip:.3}")).collect();
    let same = texts.chunk_by(|one, other| one == other);
    let values = same.map(|some| match some {
        [one] => one.clone(),
        some => format!("{} ({} times)", some[0], some.len()),
    });
    let values = values.collect::<Vec<_>>().join(", ");
    let caption = match many {
        1 => format!("All {all}, in ms: {values}."),
        _ => format!("One of each {many} of {all}, in ms: {values}."),
    };
    vec![
        Block::heading("Round trips"),
        Block::figure("round-trips", caption, Chart::new(Vec::new(), [axes])),
    ]
}

fn hops(visit: &Visit) -> Vec<Block> {
    let Some(route) = visit.route.as_ref().filter(|route| !route.hops.is_empty()) else {
        return Vec::new();
    };
    let columns = [Column::number("hop"), Column::text("host that answered")];
    let row = |(number, hop): (usize, &String)| Row::new([(number + 1).to_string(), hop.clone()]);
    let table = Table::new(columns, route.hops.iter().enumerate().map(row));
    vec![Block::heading("Route"), Block::Table(table)]
}

fn document(document: &str) -> Markup {
    let shown: String = document.chars().take(DOCUMENT).collect();
    html! {
        details {
            summary { "Document of the measurement" }
            @if shown.len() < document.len() { p.note { "The first " (DOCUMENT) " characters." } }
            pre tabindex="0" { (draw::words::plain(&shown)) }
        }
    }
}
