//! A grid of settings in cycles, each visit kept as it is finished.

mod keeper;

use std::fs;
use std::path::Path;

use archive::{Archive, ArchiveError};
use archive::{Filter, KeptSweep, SweepClaim, SweepEntry};
use record::AnyDocument;

use crate::login::{self, ServerUser};
use crate::progress::{Progress, Watcher};
use crate::target::{PORT_DEFAULT, TargetName};
use crate::{Cancel, Error, OnProgress, Target, origin};
use keeper::ArchiveKeeper;

pub use ::sweep::{
    Finished, Grid, GridError, KeepError, Ledger, LeftOut, SweepError, SweepPlan, Visit,
    WINDOW_MIN, Windows,
};

/// A sweep on its way: what is measured, and where it is kept.
#[derive(Debug)]
pub struct Sweep {
    id: i64,
    plan: SweepPlan,
    ledger: Ledger,
    target: Target,
    archive: Archive,
}

/// A sweep that ended before its last visit.
#[derive(Debug)]
pub struct Ended {
    /// Why.
    pub error: Error,
    /// A setting cannot be had from this target, and no visit was made: nothing was kept.
    pub is_refused: bool,
}

impl Sweep {
    /// Enters a new sweep into the archive `place`.
    ///
    /// * `asked`: the target's name as written, which a resumed sweep opens again.
    ///
    /// # Errors
    /// When the archive cannot be written.
    pub fn begin(
        place: &Path,
        asked: &str,
        target: Target,
        plan: SweepPlan,
    ) -> Result<Self, Error> {
        let mut archive = Archive::open(place).map_err(no_sweep)?;
        let words = words(asked, &target.name);
        let shape = record::Target {
            punctuality: None,
            ..target.shape()
        };
        let entered = archive.begin_sweep(&origin(Some(plan.seed)), &words, &shape, &plan);
        Ok(Sweep {
            id: entered.map_err(no_sweep)?,
            plan,
            ledger: Ledger::default(),
            target,
            archive,
        })
    }

    /// Goes on with a sweep of the archive `place`.
    ///
    /// * `password`: of the user of its plan, where it has one.
    ///
    /// # Errors
    /// When its path was changed since, the password is missing or needless or cannot be used, or
    /// the target cannot be opened.
    pub fn resume(place: &Path, kept: KeptSweep, password: Option<&str>) -> Result<Self, Error> {
        check_path(&kept)?;
        let login = match (&kept.plan.user, password) {
            (Some(user), Some(password)) => Some(login::log_in(user, password)?),
            (None, None) => None,
            _ => {
                return Err(Error::wrong_request(
                    format!(
                        "sweep {} logs in as {}",
                        kept.id,
                        named(kept.plan.user.as_ref())
                    ),
                    "give the password of its user, and none where there is no user",
                ));
            }
        };
        let name = TargetName::parse(&kept.asked, PORT_DEFAULT)?.leaving(kept.plan.via.clone())?;
        let left = kept.plan.remaining(&kept.ledger);
        let first = left.first().map_or(1, |visit| visit.number);
        let target = Target::open_to_resume(name, kept.plan.seed, first.into(), login)?;
        let mut archive = Archive::open_existing(place).map_err(no_sweep)?;
        archive.mark_sweep(kept.id, None).map_err(no_sweep)?;
        Ok(Sweep {
            id: kept.id,
            plan: kept.plan,
            ledger: kept.ledger,
            target,
            archive,
        })
    }

    /// Its number in the archive.
    pub fn id(&self) -> i64 {
        self.id
    }

    /// What is visited.
    pub fn plan(&self) -> &SweepPlan {
        &self.plan
    }

    /// What was visited.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// What is measured.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Claims the sweep for this process, until dropped: two that make the same visits would
    /// disturb each other.
    ///
    /// # Errors
    /// When another process has it.
    pub fn claim(&self) -> Result<SweepClaim, Error> {
        Ok(self.archive.claim_sweep(self.id)?)
    }

    /// Makes the visits that are left, and keeps each as it is finished. [`Sweep::claim`] it
    /// before.
    ///
    /// # Errors
    /// When it ended before its last visit. What was finished is kept, and [`Sweep::resume`] goes
    /// on.
    pub fn run(&mut self, cancel: &Cancel, on_progress: &mut OnProgress<'_>) -> Result<(), Ended> {
        self.run_until(self.plan.cycles, cancel, on_progress)
    }

    /// The same of the visits up to and with a cycle.
    fn run_until(
        &mut self,
        cycle: u32,
        cancel: &Cancel,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<(), Ended> {
        let mut watcher = Watcher::new(cancel, on_progress);
        let info = self.target.describe();
        let path = self.target.name.path();
        let mut keeper = ArchiveKeeper::new(&mut self.archive, self.id, self.plan.seed, path, info);
        let ended = ::sweep::run(
            &mut *self.target.observed,
            &self.plan.until(cycle),
            &mut self.ledger,
            &mut keeper,
            &mut watcher,
        );
        ended.map_err(|error| self.ended(error))
    }

    /// Ends it with another one: without a visit nothing is kept of it.
    fn set_aside(&mut self, why: &str) {
        // Where nothing can be written, the rows say what there is.
        let _ = match self.ledger.made() {
            0 => self.archive.discard_empty_sweep(self.id),
            _ => self.archive.mark_sweep(self.id, Some(why)),
        };
    }

    fn ended(&mut self, error: SweepError) -> Ended {
        if self.ledger.made() == 0
            && let SweepError::Request(error) = error
        {
            let discarded = self.archive.discard_empty_sweep(self.id);
            return Ended {
                error: discarded.map_or_else(Error::from, |()| error.into()),
                is_refused: true,
            };
        }
        // Where nothing can be written, the rows say what there is.
        let _ = self.archive.mark_sweep(self.id, Some(&error.to_string()));
        Ended {
            error: error.into(),
            is_refused: false,
        }
    }

    /// The sweep as the archive has it, and how punctual its target has been since it was opened.
    ///
    /// # Errors
    /// When the archive cannot be read.
    pub fn document(&self) -> Result<AnyDocument, Error> {
        let mut document = self.archive.load(self.id)?;
        if let AnyDocument::Sweep(sweep) = &mut document {
            sweep.body.target.punctuality = self.target.observed.punctuality();
        }
        Ok(document)
    }
}

/// Makes the visits of several sweeps of one plan, cycle by cycle: what changes over the hours
/// touches all paths alike. Each cycle has the paths in an order of its own.
///
/// * `on_progress`: hears what happens, with the place of the sweep.
///
/// # Errors
/// When one of them ended before its last visit; the others are kept as unfinished with it.
pub fn run_together(
    sweeps: &mut [Sweep],
    cancel: &Cancel,
    on_progress: &mut (dyn FnMut(usize, Progress<'_>) + Send),
) -> Result<(), Ended> {
    let Some(first) = sweeps.first() else {
        return Ok(());
    };
    let (cycles, seed) = (first.plan.cycles, first.plan.seed);
    for cycle in 1..=cycles {
        for place in ::sweep::turns(sweeps.len(), cycle, seed) {
            let Some(sweep) = sweeps.get_mut(place) else {
                continue;
            };
            let done = sweep.run_until(cycle, cancel, &mut |event| on_progress(place, event));
            if let Err(ended) = done {
                let why = ended.error.to_string();
                for (other, sweep) in sweeps.iter_mut().enumerate() {
                    if other != place {
                        sweep.set_aside(&why);
                    }
                }
                return Err(ended);
            }
        }
    }
    Ok(())
}

/// Whether visits can be kept in the archive `place`, which is made if it does not exist.
///
/// # Errors
/// When they cannot.
pub fn check_place(place: &Path) -> Result<(), Error> {
    Archive::open(place).map_err(no_sweep).map(drop)
}

/// A sweep of the archive `place`, by its number, or the newest one that is unfinished.
///
/// # Errors
/// When there is none.
pub fn kept(place: &Path, id: Option<i64>) -> Result<KeptSweep, Error> {
    let archive = Archive::open_existing(place).map_err(no_sweep)?;
    let id = match id {
        Some(id) => id,
        None => newest_unfinished(&archive, place)?,
    };
    Ok(archive.sweep(id)?)
}

fn newest_unfinished(archive: &Archive, place: &Path) -> Result<i64, Error> {
    let sweeps = archive.sweeps(&Filter::default())?;
    // By number, not by date: clocks are set back.
    let unfinished = sweeps.iter().filter(|one| one.is_unfinished());
    let newest = unfinished.map(|one| one.id).max();
    newest.ok_or_else(|| {
        Error::wrong_request(
            format!("no sweep in {} is unfinished", place.display()),
            "name one with `--resume SWEEP` to make the visits again that failed, or begin one \
             with a TARGET",
        )
    })
}

/// An unfinished sweep of the archive `place` with the same target and plan, the newest one.
///
/// # Errors
/// When the archive cannot be opened.
pub fn unfinished_like(
    place: &Path,
    target: &Target,
    plan: &SweepPlan,
) -> Result<Option<SweepEntry>, Error> {
    let archive = Archive::open(place).map_err(no_sweep)?;
    let name = target.describe().name;
    let filter = Filter {
        target: Some(name.clone()),
        ..Filter::default()
    };
    let unfinished = archive.sweeps(&filter).unwrap_or_default();
    let mut unfinished = unfinished
        .into_iter()
        .rev()
        .filter(SweepEntry::is_unfinished);
    Ok(unfinished.find(|one| {
        let kept = archive.sweep(one.id);
        kept.is_ok_and(|kept| kept.plan == *plan && kept.target.name == name)
    }))
}

/// The target in words that open it again from any folder, whatever the default port is then.
fn words(asked: &str, name: &TargetName) -> String {
    if let TargetName::Live(address) = name {
        return address.to_string();
    }
    let file = asked.split_once(':').and_then(|(kind, path)| {
        let file = fs::canonicalize(path).ok().filter(|file| file.is_file())?;
        Some(format!("{kind}:{}", file.display()))
    });
    file.unwrap_or_else(|| asked.to_owned())
}

/// Whether the path of a sweep is as it was when the sweep began.
///
/// # Errors
/// When its file was edited since, or is gone.
pub fn check_path(kept: &KeptSweep) -> Result<(), Error> {
    let name = TargetName::parse(&kept.asked, PORT_DEFAULT)?;
    let now = record::Target {
        path_digest: None,
        ..kept.target.clone()
    };
    match now.on_path(name.path()).path_digest == kept.target.path_digest {
        true => Ok(()),
        false => Err(Error::wrong_request(
            format!(
                "the path {} was changed since sweep {} began",
                kept.asked, kept.id
            ),
            "restore the path file, or begin a sweep of its own without `--resume`",
        )),
    }
}

/// Refuses another user than that of a sweep, which is kept; none is that one.
///
/// # Errors
/// When it is another.
pub fn check_user(kept: &KeptSweep, asked: Option<&ServerUser>) -> Result<(), Error> {
    let user = kept.plan.user.as_ref();
    if asked.is_none() || asked == user {
        return Ok(());
    }
    Err(Error::wrong_request(
        format!(
            "sweep {} logs in as {}, and that is fixed",
            kept.id,
            named(user)
        ),
        "leave the user, the key and the padding out, or begin a sweep of its own",
    ))
}

fn named(user: Option<&ServerUser>) -> String {
    user.map_or("no user".to_owned(), |user| format!("user {user}"))
}

/// An archive without which no sweep begins.
fn no_sweep(error: ArchiveError) -> Error {
    let is_no_place = matches!(
        error,
        ArchiveError::Folder { .. } | ArchiveError::Database { .. }
    );
    match is_no_place {
        true => Error::from(error).with_hint(
            "a sweep keeps each visit as it is finished: name a file that you may write to and \
             that has room with `--history FILE`",
        ),
        false => error.into(),
    }
}
