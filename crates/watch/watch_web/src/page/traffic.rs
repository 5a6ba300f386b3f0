//! Traffic across the border by application, as routers tell it.

use changes::UnixTime;
use draw::chart::axis::Axis;
use draw::chart::{Axes, Entry, Mark, palette};
use draw::page::{Block, Column, Row, Table};
use maud::{Markup, html};
use watch_store::{ApplicationTraffic, Border, Crossing, RouterHour, Volume};

use super::border::{self, Curve};
use super::ranges;
use crate::ask::Ask;
use crate::frame::{Sheet, Tab};
use crate::href::{self, Place};
use crate::problem::Problem;
use crate::range::{Ago, Range};
use crate::site::Site;
use crate::{calendar, figure, words};

/// Applications with a line of their own: as many as there are colours that stand apart, but one.
const LINES: usize = 5;
const HEIGHT: u32 = 330;
/// Room for the labels of the lowest panel.
const LABELS: u32 = 68;

/// The page.
pub fn sheet(site: &Site, ask: &Ask) -> Result<Sheet, Problem> {
    let now = site.live.now();
    let range = ask.range(now, Ago::Day)?;
    let border = site.stores.with(|store| Ok(border::read(store, range)?))?;
    let first = border.covered.keys().next().copied();
    let page = Page {
        shown: range.since(first),
        border,
        range,
    };
    Ok(Sheet {
        title: "Traffic".to_owned(),
        tab: Tab::Traffic,
        is_live: range.ago.is_some(),
        body: page.draw(now)?,
    })
}

/// What is shown.
struct Page {
    border: Border,
    /// As it was asked for, and from where there are records on.
    range: Range,
    shown: Range,
}

impl Page {
    fn draw(&self, now: UnixTime) -> Result<Markup, Problem> {
        let names = self.border.applications();
        let place = Place::new(href::TRAFFIC);
        Ok(html! {
            h1 { "Traffic across the border" }
            div.controls { (ranges::all(&place, self.range, self.shown, now)) }
            @if self.border.covered.is_empty() {
                p.quiet { "No flow records of this time are stored. The collector takes records of \
                    NetFlow, IPFIX and sFlow where its plan has " code { "[flows]" } "." }
            } @else {
                (self.figure(&names).draw()?)
                (ranges::hint())
                (draw::render::html::sections(&blocks(&self.border))?)
            }
        })
    }

    fn figure(&self, names: &[String]) -> figure::Figure {
        let mut panels = [Crossing::In, Crossing::Out].map(|way| self.panel(way, names));
        if let Some(lowest) = panels.last_mut() {
            lowest.x_title = Some("time [UTC]".to_owned());
            lowest.height += LABELS;
        }
        let entry = |(index, name): (usize, &String)| {
            Entry::new(Mark::Line(palette::window_colour(index)), name.as_str())
        };
        let mut legend: Vec<Entry> = names.iter().take(LINES).enumerate().map(entry).collect();
        if names.len() > LINES {
            legend.push(Entry::new(Mark::Line(palette::GREY), "others"));
        }
        let mean = |way| {
            let rate = self.border.mean_rate(way, |_| true).unwrap_or(0.0);
            draw::format::rate(rate as u64)
        };
        figure::Figure {
            name: "traffic".to_owned(),
            title: "Traffic by application".to_owned(),
            description: format!(
                "Mean in {}, out {}.",
                mean(Crossing::In),
                mean(Crossing::Out)
            ),
            legend,
            panels: panels.into(),
            range: self.shown,
            links: Vec::new(),
        }
    }

    fn panel(&self, way: Crossing, names: &[String]) -> Axes {
        let own = names.iter().take(LINES).enumerate();
        let own = own.map(|(index, name)| {
            let rates = self.border.rates(way, |other| other == name);
            (palette::window_colour(index), rates)
        });
        let (_, others) = names.split_at(names.len().min(LINES));
        let others = (!others.is_empty()).then(|| {
            let is_other = |name: &str| others.iter().any(|other| other == name);
            (palette::GREY, self.border.rates(way, is_other))
        });
        let curves: Vec<Curve> = others.into_iter().chain(own).collect();
        let (y, unit, layers) = border::lines(&self.border, &curves);
        let (from, to) = self.shown.ends();
        let labels = calendar::labels((from, to));
        Axes {
            height: HEIGHT,
            x: Axis::labelled(from.seconds() as f64, to.seconds() as f64, labels),
            x_title: None,
            y,
            y_title: format!("{} [{unit}]", way.name()),
            layers,
        }
    }
}

/// What is known of traffic and of how it was told, as tables; for terminals, too.
pub fn blocks(border: &Border) -> Vec<Block> {
    let names = border.applications();
    let rows = names.iter().map(|name| {
        let own = border.of_application(name, |other| other == name);
        traffic(&own)
    });
    let all = traffic(&border.of_application("all", |_| true));
    let columns = [
        Column::name("application"),
        Column::number("in"),
        Column::number("rate in"),
        Column::number("out"),
        Column::number("rate out"),
        Column::number("within"),
        Column::number("through"),
    ];
    let of_routers = [
        Column::name("router"),
        Column::number("datagrams"),
        Column::number("lost"),
        Column::number("again"),
        Column::number("unreadable"),
        Column::number("early"),
    ];
    let routers = border.routers.iter().map(router);
    vec![
        Block::Table(Table::new(columns, rows.chain([all])).tight()),
        Block::note(
            "Named by the port of either end, so what uses the port of another application has \
             its name. Bytes of IP packets, with what sampling left out; rates are means over the \
             time with records. The last minutes grow until routers have told them. within: \
             between addresses inside; through: between addresses elsewhere.",
        ),
        Block::heading("How records came"),
        Block::Table(Table::new(of_routers, routers).tight()),
        Block::note(
            "lost: of what the router sent, by its own count. again: datagrams that came twice, \
             and count once. unreadable: cut, broken or of another protocol. early: sets of \
             records that came before their template.",
        ),
    ]
}

fn traffic(of: &ApplicationTraffic) -> Row {
    let size = |volume: Volume| match volume.bytes {
        0 => words::ABSENT.to_owned(),
        bytes => draw::format::size(bytes),
    };
    let rate = |rate: f64| match rate > 0.0 {
        true => draw::format::rate(rate as u64),
        false => words::ABSENT.to_owned(),
    };
    Row::new([
        of.application.clone(),
        size(of.into),
        rate(of.in_bits_per_second),
        size(of.out),
        rate(of.out_bits_per_second),
        size(of.within),
        size(of.through),
    ])
}

fn router(router: &RouterHour) -> Row {
    let lost = router.lost_share().map(draw::format::percent);
    Row::new([
        router.router.clone(),
        router.datagrams.to_string(),
        lost.unwrap_or_else(|| words::ABSENT.to_owned()),
        router.repeated.to_string(),
        router.unreadable.to_string(),
        router.waiting.to_string(),
    ])
}
