//! Traffic across the border as people read it.

use changes::UnixTime;
use draw::format::{lasting, or_absent, percent, rate, size};
use draw::page::{Block, Column, Page, Row, Table};
use watch_store::Volume;

use super::{ApplicationFlows, FlowsReport, RouterFlows};

const NOTE: &str = "By the port of either end, so what uses a port of another application has its \
     name. Bytes of IP packets with their headers; what sampling left out is added. within: \
     between addresses inside; through: between addresses elsewhere.";
const ROUTERS_NOTE: &str = "lost: of what the router sent, by its own count. again: datagrams that \
     came twice, and count once. unreadable: cut, broken or of another protocol. early: sets of \
     records that came before their template.";

impl FlowsReport {
    /// As people read it.
    pub fn page(&self) -> Page {
        let asked = self.to.since(self.from).as_secs_f64();
        let covered = format!(
            "{} to {} UTC; there are records of {} of {}.",
            minute(self.from),
            minute(self.to),
            lasting(self.covered_seconds as f64),
            lasting(asked)
        );
        let blocks = vec![
            Block::Sentences(vec![covered]),
            Block::Table(self.applications()),
            Block::note(NOTE),
            Block::heading("How records came"),
            Block::Table(self.routers()),
            Block::note(ROUTERS_NOTE),
        ];
        Page::new("watch-flows", "Traffic across the border", blocks)
    }

    fn applications(&self) -> Table {
        let columns = [
            Column::name("application"),
            Column::number("in"),
            Column::number("rate in"),
            Column::number("out"),
            Column::number("rate out"),
            Column::number("within"),
            Column::number("through"),
        ];
        let rows = self.applications.iter().map(ApplicationFlows::row);
        let rows = rows.chain([self.all().row()]);
        Table::new(columns, rows).tight()
    }

    /// All applications together.
    fn all(&self) -> ApplicationFlows {
        let sum = |of: fn(&ApplicationFlows) -> Volume| {
            let mut sum = Volume::default();
            self.applications.iter().for_each(|one| sum.add(of(one)));
            sum
        };
        let rate = |of: fn(&ApplicationFlows) -> f64| self.applications.iter().map(of).sum::<f64>();
        ApplicationFlows {
            application: "all".to_owned(),
            into: sum(|one| one.into),
            out: sum(|one| one.out),
            within: sum(|one| one.within),
            through: sum(|one| one.through),
            in_bits_per_second: rate(|one| one.in_bits_per_second),
            out_bits_per_second: rate(|one| one.out_bits_per_second),
        }
    }

    fn routers(&self) -> Table {
        let columns = [
            Column::name("router"),
            Column::number("datagrams"),
            Column::number("lost"),
            Column::number("again"),
            Column::number("unreadable"),
            Column::number("early"),
        ];
        let row = |router: &RouterFlows| {
            let counts = &router.counts;
            Row::new([
                counts.router.clone(),
                counts.datagrams.to_string(),
                or_absent(router.lost_ratio, percent),
                counts.repeated.to_string(),
                counts.unreadable.to_string(),
                counts.waiting.to_string(),
            ])
        };
        Table::new(columns, self.routers.iter().map(row)).tight()
    }
}

impl ApplicationFlows {
    fn row(&self) -> Row {
        let volume = |volume: Volume| match volume.records {
            0 if volume.bytes == 0 => "-".to_owned(),
            _ => size(volume.bytes),
        };
        let speed = |bits: f64| match bits > 0.0 {
            true => rate(bits as u64),
            false => "-".to_owned(),
        };
        Row::new([
            self.application.clone(),
            volume(self.into),
            speed(self.in_bits_per_second),
            volume(self.out),
            speed(self.out_bits_per_second),
            volume(self.within),
            volume(self.through),
        ])
    }
}

/// `2026-11-28 14:05`.
fn minute(at: UnixTime) -> String {
    let seconds = at.seconds().min(i64::MAX as u64).cast_signed();
    jiff::Timestamp::from_second(seconds)
        .map(|time| time.strftime("%Y-%m-%d %H:%M").to_string())
        .unwrap_or_default()
}
