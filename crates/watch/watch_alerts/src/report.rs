//! Makes notifications of incidents.

use changes::{EventKind, UnixTime};
use watch_store::{Pair, SilentHost, StoredEvent, silent_hosts};

use crate::incident::{Incident, Member};
use crate::notification::{CauseNote, Change, LISTED, Notification, State};
use crate::silence::heard;
use crate::{Severity, Situation, words};

/// Makes notifications of incidents.
pub(crate) struct Report<'a> {
    /// The events that are told, the worst first.
    events: Vec<&'a StoredEvent>,
    severity: Severity,
    hosts: Vec<SilentHost>,
}

impl<'a> Report<'a> {
    /// The first notification of an incident.
    pub fn begins(
        number: u64,
        incident: &'a Incident,
        situation: &Situation,
    ) -> Option<Notification> {
        let report = Report::heard(incident, situation)?;
        let worst = report.events.first()?;
        let since = report
            .events
            .iter()
            .map(|one| one.event.first_visit)
            .min()?;
        let incident = format!("{}-{number}", since.seconds());
        let base = situation.alerting.base_url.as_ref();
        Some(Notification {
            id: format!("{incident}-began"),
            incident,
            state: State::Began,
            severity: report.severity,
            headline: report.headline(worst, since),
            since,
            recovered: None,
            cause: report.cause(),
            changes: report.changes(),
            pairs: report.pairs(),
            link: base.map(|base| words::link(&base.text(), worst)),
        })
    }

    /// The last one, after the first. It has all events, also those that came after the first.
    pub fn ends(first: &Notification, incident: &'a Incident) -> Notification {
        let events = incident.members.iter().map(|member| &member.stored.event);
        let recovered = events.clone().filter_map(|event| event.recovered).max();
        let over = words::ended(events, recovered);
        let last = Notification {
            id: format!("{}-over", first.incident),
            state: State::Over,
            headline: format!("{over}: {}", words::in_sentence(&first.headline)),
            recovered,
            ..first.clone()
        };
        let worse = |member: &'a Member| Some((member.stored.event.severity(|_| false)?, member));
        let report = Report::of(incident.members.iter().filter_map(worse), &[]);
        match report {
            Some(report) => Notification {
                changes: report.changes(),
                pairs: report.pairs(),
                ..last
            },
            None => last,
        }
    }

    /// The open events that no silence holds.
    fn heard(incident: &'a Incident, situation: &Situation) -> Option<Self> {
        let silences = &situation.alerting.silences;
        let open = incident.members.iter().filter(|member| member.is_open());
        let heard = open
            .filter_map(|member| Some((heard(&member.stored, silences, situation.now)?, member)));
        Report::of(heard, situation.pairs)
    }

    fn of(events: impl Iterator<Item = (Severity, &'a Member)>, pairs: &[Pair]) -> Option<Self> {
        let sized = events.map(|(severity, member)| {
            (severity, words::size(&member.stored.event), &member.stored)
        });
        let mut sized: Vec<_> = sized.collect();
        sized.sort_by(|one, other| {
            let by_size = other.1.total_cmp(&one.1);
            let by_name = || one.2.pair.cmp(&other.2.pair);
            other.0.cmp(&one.0).then(by_size).then_with(by_name)
        });
        let severity = sized.first()?.0;
        let events: Vec<&StoredEvent> = sized.into_iter().map(|(_, _, stored)| stored).collect();
        let without_data = events
            .iter()
            .filter(|one| one.event.kind == EventKind::NoData);
        let hosts = silent_hosts(without_data.map(|one| &one.pair), pairs);
        Some(Report {
            events,
            severity,
            hosts,
        })
    }

    fn headline(&self, worst: &StoredEvent, since: UnixTime) -> String {
        let (what, since) = match self.hosts.as_slice() {
            [] => (words::headline(worst), worst.event.first_visit),
            hosts => (words::hosts(hosts), since),
        };
        let more = match self.pairs() {
            1 => String::new(),
            pairs => format!("; {pairs} pairs are affected"),
        };
        format!("{what}, since {}{more}", words::time(since))
    }

    /// The first cause of the worst event that has one; of no data the reason of most visits.
    fn cause(&self) -> Option<CauseNote> {
        let worst = self.events.first()?;
        if worst.event.kind == EventKind::NoData {
            return words::reason(&worst.event).map(|because| CauseNote {
                name: "visits failed".to_owned(),
                because,
            });
        }
        let cause = self.events.iter().find_map(|one| one.event.first_cause())?;
        Some(CauseNote {
            name: cause.kind.name().to_owned(),
            because: words::clean(&cause.because),
        })
    }

    fn changes(&self) -> Vec<Change> {
        let events = self.events.iter().take(LISTED);
        events.map(|stored| Change::of(stored)).collect()
    }

    fn pairs(&self) -> usize {
        let mut pairs: Vec<&Pair> = self.events.iter().map(|one| &one.pair).collect();
        pairs.sort_unstable();
        pairs.dedup();
        pairs.len()
    }
}
