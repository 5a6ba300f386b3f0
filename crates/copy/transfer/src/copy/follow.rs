//! A copy that goes on while its sources are written: it looks at them again and again, and each
//! pass copies what is finished.
//!
//! A pass is a copy as any other, so that whatever ends it leaves each file as it was before or
//! whole. Through ssh all passes have one far end.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use copy_protocol::{
    CopyDirection, CopyEvent, CopySpec, FarHost, FarProgram, Follow, Followed, Kept, NearEnd,
    Outcome, Problem, ProblemKind,
};
use files::source::{Look, Settling, Source};
use files::{Root, problem};
use units::Bytes;

use super::{Near, over_sftp, repeat, wait};
use crate::copy_stats::CopyStats;
use crate::{CopyControl, CopyError, CopyObserver};

/// Looks at the sources take at most one part in so many of the time.
const LOOKS_SHARE: u32 = 5;

/// Copies until the user ends it, or nothing has changed for as long as `how` says.
pub(super) fn follow(
    spec: &CopySpec,
    how: Follow,
    control: &CopyControl,
    observer: &mut dyn CopyObserver,
) -> Result<Outcome, CopyError> {
    let (NearEnd::Here(_), CopyDirection::Put) = (&spec.near, spec.direction) else {
        let what = "only sources of the host that opens the copy can be followed";
        return Err(problem(ProblemKind::Request, what).into());
    };
    if let FarHost::Ssh { program, .. } = &spec.far.host
        && *program == FarProgram::Sftp
        && let Some((what, _)) = spec.beyond_sftp()
    {
        return Err(problem(ProblemKind::Request, what).into());
    }
    let settling = Arc::new(Settling::default());
    let mut noting = Noting {
        settling: &settling,
        observer,
    };
    let mut stats = CopyStats::new(&mut noting, control);
    stats.use_links(spec);
    Following::new(spec, how, &settling)?.run(&mut stats)
}

/// Takes note of the files that are copied.
struct Noting<'a> {
    settling: &'a Settling,
    observer: &'a mut dyn CopyObserver,
}

impl CopyObserver for Noting<'_> {
    fn on_event(&mut self, event: &CopyEvent) {
        if let CopyEvent::Published { name, .. } | CopyEvent::Skipped { name, .. } = event {
            self.settling.copied(name);
        }
        self.observer.on_event(event);
    }
}

/// The looks and the passes of one copy.
struct Following<'a> {
    near: Near<'a>,
    how: Follow,
    settling: &'a Settling,
    /// When a look last found something new.
    changed: Instant,
    /// Since when looks have failed.
    away: Option<Instant>,
    told: Option<Followed>,
}

impl<'a> Following<'a> {
    fn new(
        spec: &'a CopySpec,
        how: Follow,
        settling: &'a Arc<Settling>,
    ) -> Result<Self, CopyError> {
        let paths: &[PathBuf] = match &spec.near {
            NearEnd::Here(paths) => paths,
            NearEnd::At(_) => &[],
        };
        let mut near = Near::new(spec, paths)?;
        near.settling = Some(Arc::clone(settling));
        Ok(Following {
            near,
            how,
            settling,
            changed: Instant::now(),
            away: None,
            told: None,
        })
    }

    fn run(mut self, stats: &mut CopyStats<'_>) -> Result<Outcome, CopyError> {
        loop {
            let begun = Instant::now();
            let look = match self.look(stats) {
                Ok(look) => look,
                Err(problem) if self.may_come_back(&problem) => {
                    if !wait(self.how.every.into(), stats) {
                        return Ok(self.conclude(stats));
                    }
                    continue;
                }
                Err(problem) => return Err(CopyError::of(problem, stats)),
            };
            let Some(look) = look else {
                return Ok(self.conclude(stats));
            };
            self.away = None;
            let took = begun.elapsed();
            if look.has_changed || look.has_finished {
                self.changed = Instant::now();
            } else if self.is_idle() {
                return Ok(self.conclude(stats));
            }
            if look.is_due {
                self.pass(stats)?;
            }
            if look.has_finished {
                self.changed = Instant::now();
            }
            self.tell(look.is_due, stats);
            let pause = Duration::from(self.how.every).max(took * (LOOKS_SHARE - 1));
            if !wait(pause, stats) {
                return Ok(self.conclude(stats));
            }
        }
    }

    /// Sources that were there once may be gone for as long as the far end may.
    fn may_come_back(&mut self, problem: &Problem) -> bool {
        let since = *self.away.get_or_insert_with(Instant::now);
        let patience = Duration::from(self.near.spec.patience().once_there);
        let what = &problem.what;
        tracing::warn!(what, "the sources cannot be looked at");
        self.told.is_some() && since.elapsed() < patience
    }

    fn is_idle(&self) -> bool {
        let most = self.how.until_idle.map(Duration::from);
        most.is_some_and(|most| self.changed.elapsed() >= most)
    }

    /// `None` where the user ended it meanwhile.
    fn look(&self, stats: &CopyStats<'_>) -> Result<Option<Look>, Problem> {
        let mut spec = self.near.source_spec();
        // They change with the version, and are read by a pass.
        spec.attributes.kept = Kept::NOTHING;
        let source = Source::new(&Root::own(), spec)?;
        Ok(self.settling.look(source.walk(), &|| stats.is_stopped()))
    }

    /// Copies what is finished.
    fn pass(&mut self, stats: &mut CopyStats<'_>) -> Result<(), CopyError> {
        let Near { spec, paths, .. } = self.near;
        if let Some(seen) = &mut self.near.presence.seen {
            // It was not looked for since the last pass.
            *seen = Instant::now();
        }
        let passed = repeat(&mut self.near, spec.patience(), stats);
        match (passed, self.near.connector.without_program()) {
            // It says why SFTP cannot take the place.
            (Err(error), Some(why)) => over_sftp(spec, paths, Some((why, error)), stats)?,
            (passed, _) => passed?,
        };
        self.near.connector.stay();
        stats.end_pass();
        self.settling.end_pass();
        Ok(())
    }

    /// After a pass in any case: the time from then on is spent waiting.
    fn tell(&mut self, has_passed: bool, stats: &mut CopyStats<'_>) {
        let now = self.settling.followed();
        if has_passed || self.told != Some(now) {
            self.told = Some(now);
            let at = stats.now();
            stats.tell(&CopyEvent::Following {
                at,
                files: now.files,
                bytes: Bytes::new(now.bytes),
                waiting: now.waiting,
            });
        }
    }

    /// What was left and is no failure has changed while it was copied.
    fn conclude(&self, stats: &CopyStats<'_>) -> Outcome {
        let mut outcome = stats.conclude();
        let failed = outcome.failed.len() as u64;
        let changed = self.settling.left().saturating_sub(failed);
        outcome.waiting = self.settling.followed().waiting + changed;
        outcome
    }
}
