//! What earlier searches on the same target recommended.

use netpath::PathSpec;
use observe::{StreamCount, TargetInfo, TargetKind};
use rusqlite::params;
use tune::Remembered;
use units::Rate;

use super::{Archive, ArchiveError, Entry, Point, rows};
use record::{AnyDocument, Direction, Host, Kind, Schema, Target, Tune};

/// The most settings that a search is reminded of. It has a dozen samples in all and checks each of
/// these.
const SETTINGS_MAX: usize = 3;
/// Searches looked through for them: most repeat the one before.
const SEARCHES_MAX: i64 = 32;

impl Archive {
    /// The settings that finished searches on this target found, the latest first, each setting
    /// once.
    ///
    /// * `path`: what an emulated or simulated target runs; `None` of a live host.
    /// * `base`: its transport and its direction have to be the same. Where it leaves the
    ///   congestion control open, so does a remembered setting with the target's default one.
    ///
    /// A live host is known by its name, and was searched from this host: an archive may hold
    /// results of others. An emulated or a simulated path has to have the same name and the same
    /// description to the last number, see [`Target::on_path`]; what one kind of target found says
    /// nothing of another kind. Searches that were cut short are left out.
    ///
    /// # Errors
    /// When the archive cannot be read.
    pub fn remembered(
        &self,
        info: &TargetInfo,
        path: Option<&PathSpec>,
        base: &observe::Setting,
    ) -> Result<Vec<Remembered>, ArchiveError> {
        let statement = format!(
            "SELECT {} FROM documents WHERE objective IS NOT NULL AND cut_because IS NULL \
             AND target = ?1 AND target_kind = ?2 AND path_digest IS NOT DISTINCT FROM ?3 \
             AND direction = ?4 AND (?6 IS NULL OR host IS NULL OR host = ?6) \
             ORDER BY created DESC, id DESC LIMIT ?5",
            rows::entry_columns()
        );
        let target = Target::from(info).on_path(path);
        let kind = rows::word(&target.kind);
        let direction = rows::word(&base.direction);
        let searched_from = match info.kind {
            TargetKind::Live => Host::read().name,
            TargetKind::Emulated | TargetKind::Simulated => None,
        };
        let searches: Vec<Entry> = self.ask(|connection| {
            let mut statement = connection.prepare(&statement)?;
            let asked = params![
                target.name,
                kind,
                target.path_digest,
                direction,
                SEARCHES_MAX,
                searched_from
            ];
            statement.query_map(asked, rows::entry)?.collect()
        })?;
        let default = info.congestion.first();
        let remembered = searches.iter().filter_map(remembered);
        let remembered = remembered.filter(|one| one.setting.transport == base.transport);
        Ok(distinct(remembered.map(|one| as_asked(one, base, default))))
    }
}

/// A congestion control of which a search found fewer streams to do than of the sender's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundControl {
    /// Its kernel name.
    pub name: String,
    /// The streams that were recommended with it.
    pub streams: StreamCount,
}

impl Archive {
    /// The congestion control of the latest finished search from this host to `far`; `None` where
    /// that kept the sender's own, or was told which one to use.
    ///
    /// * `far`: a host, with or without a port: copies go to another one than tests.
    ///
    /// # Errors
    /// When the archive cannot be read.
    pub fn control_of_searches(
        &self,
        far: &str,
        direction: Direction,
    ) -> Result<Option<FoundControl>, ArchiveError> {
        let statement = "SELECT id, target FROM documents WHERE schema = ?1 \
             AND objective IS NOT NULL AND cut_because IS NULL AND target_kind = ?2 \
             AND direction = ?3 AND (host IS NULL OR host = ?4) \
             ORDER BY created DESC, id DESC LIMIT ?5";
        let asked = params![
            rows::word(&Schema::Tune),
            rows::word(&Kind::Live),
            rows::word(&direction),
            Host::read().name,
            SEARCHES_MAX
        ];
        let searches: Vec<(i64, String)> = self.ask(|connection| {
            let mut statement = connection.prepare(statement)?;
            let of_row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
            statement.query_map(asked, of_row)?.collect()
        })?;
        let mut searches = searches.into_iter();
        let Some((id, _)) = searches.find(|(_, target)| host_of(target) == host_of(far)) else {
            return Ok(None);
        };
        Ok(match self.load(id)? {
            AnyDocument::Tune(tune) => found_control(&tune.body),
            _ => None,
        })
    }
}

fn found_control(body: &Tune) -> Option<FoundControl> {
    let recommended = &body.answer.as_ref()?.recommended;
    let name = recommended.congestion.clone()?;
    let first = &body.samples.first()?.run.setting.congestion;
    (first.as_ref() != Some(&name)).then_some(FoundControl {
        name,
        streams: recommended.streams,
    })
}

/// A name without its port.
fn host_of(name: &str) -> &str {
    let is_port = |port: &str| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    match name.rsplit_once(':') {
        Some((host, port)) if is_port(port) && !host.contains(':') => host,
        Some((host, port)) if is_port(port) && host.ends_with(']') => {
            host.trim_start_matches('[').trim_end_matches(']')
        }
        _ => name,
    }
}

fn distinct(all: impl Iterator<Item = Remembered>) -> Vec<Remembered> {
    let mut kept: Vec<Remembered> = Vec::new();
    for one in all {
        if kept.len() < SETTINGS_MAX && kept.iter().all(|other| other.setting != one.setting) {
            kept.push(one);
        }
    }
    kept
}

/// A document names the congestion control that the target filled in; a plan may leave it open.
fn as_asked(mut one: Remembered, base: &observe::Setting, default: Option<&String>) -> Remembered {
    let used = |asked: &Option<String>| asked.clone().or_else(|| default.cloned());
    if used(&one.setting.congestion) == used(&base.congestion) {
        one.setting.congestion = base.congestion.clone();
    }
    one
}

/// `None` where the setting is one that no run could have.
fn remembered(entry: &Entry) -> Option<Remembered> {
    let outcome = &entry.essence.outcome;
    Some(Remembered {
        setting: setting(&outcome.setting)?,
        goodput: Rate::from_bits_per_second(outcome.goodput_bits_per_second),
        when: when(&entry.essence.created),
    })
}

fn setting(point: &Point) -> Option<observe::Setting> {
    Some(observe::Setting {
        transport: point.transport,
        streams: StreamCount::new(point.streams.into()).ok()?,
        window: point.window,
        direction: point.direction,
        congestion: point.congestion.clone(),
        pacing: point.pacing,
        mss: point.mss,
        moving: observe::Moving::default(),
    })
}

/// `2026-11-22 07:10 UTC` from a document's date.
fn when(created: &str) -> String {
    match created.parse::<jiff::Timestamp>() {
        Ok(time) => time.strftime("%Y-%m-%d %H:%M UTC").to_string(),
        Err(_) => created.to_owned(),
    }
}
