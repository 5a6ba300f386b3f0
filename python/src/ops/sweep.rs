//! A grid of settings in cycles, kept as it goes.

use std::path::PathBuf;

use pyo3::prelude::*;
use trunkline::Cancel;
use trunkline::ask;
use trunkline::history::{Archive, default_place};
use trunkline::measure::{Direction, Setting, StreamCount, WINDOW_MAX, Window};
use trunkline::sweep::{self, Grid, SweepPlan, Windows};

use super::live::mss;
use crate::asked::{
    Keep, Leaving, LoginAsked, TargetAsked, at_most_one, number, open, optional, value,
};
use crate::call::{Call, Tell};
use crate::error::Failure;
use crate::result::Done;

#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Asked<'py> {
    target: Option<TargetAsked<'py>>,
    streams: String,
    windows: Option<String>,
    product: Option<String>,
    cycles: String,
    duration: String,
    reverse: bool,
    bidir: bool,
    both_ways: bool,
    congestion: Option<String>,
    set_mss: Option<String>,
    port: u16,
    leaving: Leaving,
    login: LoginAsked,
    seed: u64,
    beside: Option<String>,
    resume: Option<Resume>,
    history: Keep,
    command: String,
}

/// Which sweep is gone on with.
#[derive(FromPyObject)]
enum Resume {
    /// The newest unfinished one.
    Newest(bool),
    /// This one.
    Number(i64),
}

/// Idle probes before each visit: long enough for twenty.
const UNLOADED: trunkline::units::Span = trunkline::units::Span::from_secs(1);

impl Asked<'_> {
    fn place(&self) -> Result<PathBuf, Failure> {
        let place = match &self.history {
            Keep::At(file) => Some(file.clone()),
            Keep::Default(true) => default_place(),
            Keep::Default(false) => {
                return Err(Failure::request(
                    "a sweep keeps every visit as it is finished, so that nothing is lost when it \
                     is interrupted",
                    "leave out `history=False`; `history=FILE` keeps it in a file of its own",
                ));
            }
        };
        place.ok_or_else(|| {
            Failure::request(
                "there is no place for the visits: neither TRUNKLINE_STATE, XDG_STATE_HOME nor \
                 HOME is set",
                "name the archive with `history=FILE`",
            )
        })
    }

    /// Whether the settings are simulated beside what was measured.
    fn simulates(&self) -> Result<bool, Failure> {
        match self.beside.as_deref() {
            None => Ok(false),
            Some("sim") => Ok(true),
            Some(other) => Err(Failure::value("beside", other, "possible values: sim")),
        }
    }

    fn plan(&self) -> Result<SweepPlan, Failure> {
        let ways = [
            ("reverse", self.reverse),
            ("bidir", self.bidir),
            ("both_ways", self.both_ways),
        ];
        at_most_one(&ways)?;
        let given = [
            ("windows", self.windows.is_some()),
            ("product", self.product.is_some()),
        ];
        at_most_one(&given)?;
        let windows = self.windows.as_deref().unwrap_or("auto");
        let product = optional("product", self.product.as_deref(), ask::sweep::products)?;
        let grid = Grid {
            streams: value("streams", &self.streams, ask::sweep::streams)?.0,
            windows: match product {
                Some(products) => Windows::Products(products.0),
                None => Windows::Each(value("windows", windows, ask::sweep::windows)?.0),
            },
            directions: match (self.reverse, self.bidir, self.both_ways) {
                (true, ..) => vec![Direction::Reverse],
                (_, true, _) => vec![Direction::Both],
                (.., true) => vec![Direction::Forward, Direction::Reverse],
                _ => vec![Direction::Forward],
            },
            base: Setting {
                congestion: self.congestion.clone(),
                mss: self.set_mss.as_deref().map(mss).transpose()?,
                ..Setting::new(StreamCount::ONE, Window::Auto)
            },
        };
        let (settings, _left_out) = grid.settings(WINDOW_MAX)?;
        let plan = SweepPlan {
            settings,
            cycles: number("cycles", &self.cycles)?,
            durations: value("duration", &self.duration, ask::sweep::durations)?.0,
            unloaded: UNLOADED,
            seed: self.seed,
            via: self.leaving.via()?,
            user: self.login.user()?,
        };
        plan.check()?;
        Ok(plan)
    }
}

/// Starts a sweep, or goes on with one.
#[pyfunction]
pub fn start_sweep(asked: Asked<'_>) -> PyResult<Call> {
    let place = asked.place()?;
    let simulates = asked.simulates()?;
    let command = asked.command.clone();
    let resumed = match &asked.resume {
        Some(Resume::Number(id)) => Some(Some(*id)),
        Some(Resume::Newest(true)) => Some(None),
        Some(Resume::Newest(false)) | None => None,
    };
    if let Some(id) = resumed {
        let login = asked.login;
        return Call::start("sweep", command, move |cancel, tell| {
            let kept = sweep::kept(&place, id)?;
            sweep::check_path(&kept)?;
            login.check_same(&kept)?;
            let id = kept.id;
            if kept.plan.remaining(&kept.ledger).is_empty() {
                let mut archive = Archive::open_existing(&place)?;
                if simulates {
                    simulate(&mut archive, id, cancel, tell)?;
                }
                return Ok(Done::of(archive.load(id)?).numbered(id));
            }
            let password = kept.plan.user.as_ref().map(|_| login.password());
            let password = password.transpose()?;
            let sweep = sweep::Sweep::resume(&place, kept, password.as_deref())?;
            go(sweep, simulates.then_some(&place), cancel, tell)
        });
    }
    let target = asked.target.as_ref().ok_or_else(|| {
        Failure::request(
            "a sweep needs a target",
            "name one, or go on with a sweep: `resume=True`, or its number",
        )
    })?;
    let words = target.words().ok_or_else(|| {
        Failure::request(
            "a sweep that is interrupted opens its target again by its name, and this path has \
             none",
            "save the path to a file, and name it: `sim:FILE` or `emu:FILE`",
        )
    })?;
    let plan = asked.plan()?;
    let name = target.name(asked.port)?.leaving(plan.via.clone());
    let (words, name) = (words.to_owned(), name.map_err(Failure::from)?);
    let login = asked.login.at(&name)?;
    Call::start("sweep", command, move |cancel, tell| {
        sweep::check_place(&place)?;
        let target = open(name, plan.seed, login)?;
        let sweep = sweep::Sweep::begin(&place, &words, target, plan)?;
        go(sweep, simulates.then_some(&place), cancel, tell)
    })
}

/// Simulates what a kept sweep measured on the path that explains it.
fn simulate(archive: &mut Archive, id: i64, cancel: &Cancel, tell: &Tell) -> Result<(), Failure> {
    let on_progress = &mut |event: trunkline::Progress<'_>| tell.tell(event.into());
    trunkline::simulate_beside(archive, id, cancel, on_progress)?;
    Ok(())
}

/// * `simulated`: the archive, where the settings are to be simulated afterwards.
fn go(
    mut sweep: sweep::Sweep,
    simulated: Option<&PathBuf>,
    cancel: &Cancel,
    tell: &Tell,
) -> Result<Done, Failure> {
    let _claim = sweep.claim()?;
    let visits = sweep.plan().visits();
    let on_progress = &mut |event: trunkline::Progress<'_>| tell.tell(event.into());
    let ended = sweep.run(cancel, on_progress);
    let cut = match ended {
        Ok(()) => None,
        Err(ended) if ended.is_refused => return Err(ended.error.into()),
        Err(ended) => Some(ended.error),
    };
    let measured = sweep.ledger().measured();
    let cut = cut.map(|error| {
        let what = format!("the sweep ended early; {measured} of {visits} visits are kept");
        let failure = Failure::from(error).below(&what);
        failure.with_hint(format!(
            "`sweep(resume={})` goes on with the rest",
            sweep.id()
        ))
    });
    if let Some(place) = simulated.filter(|_| cut.is_none()) {
        simulate(
            &mut Archive::open_existing(place)?,
            sweep.id(),
            cancel,
            tell,
        )?;
    }
    Ok(Done::of(sweep.document()?).numbered(sweep.id()).cut(cut))
}
