//! Simulations.

use std::path::PathBuf;
use trunkline::Hint;

use pyo3::prelude::*;
use trunkline::ask;
use trunkline::simulate::{self, Cache, Grid, Plan, TcpSettings, Work};

use crate::asked::{Keep, PathAsked, exclusive, optional, value};
use crate::call::Call;
use crate::error::Failure;
use crate::result::Done;

#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Asked<'py> {
    path: PathAsked<'py>,
    streams: String,
    window: String,
    variant: Option<String>,
    class: Option<String>,
    duration: Option<String>,
    warmup: Option<String>,
    seeds: String,
    seed: u64,
    bytes: Option<String>,
    per_stream_bytes: Option<String>,
    compat: Option<String>,
    initial_window: Option<String>,
    ecn: bool,
    series: Option<String>,
    fluid: bool,
    cache: CacheAsked,
    history: Keep,
    command: String,
}

/// Where finished runs are kept.
#[derive(FromPyObject)]
enum CacheAsked {
    /// At the default place, or nowhere.
    Default(bool),
    /// In this folder.
    At(PathBuf),
}

impl Asked<'_> {
    fn work(&self) -> Result<Work, Failure> {
        let bytes = optional("bytes", self.bytes.as_deref(), ask::simulate::data)?;
        let each = self.per_stream_bytes.as_deref();
        let each = optional("per_stream_bytes", each, ask::simulate::data)?;
        match (bytes, each) {
            (Some(_), Some(_)) => Err(exclusive("bytes", "per_stream_bytes")),
            (Some(bytes), _) => Ok(Work::Striped(bytes)),
            (_, Some(bytes)) => Ok(Work::PerStream(bytes)),
            _ => Ok(Work::Endless),
        }
    }

    fn grid(&self) -> Result<Grid, Failure> {
        let variants = optional("variant", self.variant.as_deref(), ask::simulate::variants)?;
        let variants = variants.map(|list| list.0);
        let first = variants.as_ref().and_then(|list| list.first().copied());
        let mut base = simulate::scenario(self.path.spec()?, first)?;
        match self.compat.as_deref() {
            Some("ns2") => base.tcp = TcpSettings::ns2(&base.path),
            Some(other) => return Err(Failure::value("compat", other, "possible values: ns2")),
            None => {}
        }
        base.tcp.ecn |= self.ecn;
        let segments = self.initial_window.as_deref();
        if let Some(segments) = optional("initial_window", segments, ask::simulate::segments)? {
            base.tcp.initial_window = segments;
        }
        if let Some(class) = optional("class_", self.class.as_deref(), ask::simulate::class)? {
            base.class = class;
        }
        base.work = self.work()?;
        let plan = Plan {
            duration: optional(
                "duration",
                self.duration.as_deref(),
                ask::simulate::duration,
            )?,
            warmup: optional("warmup", self.warmup.as_deref(), ask::simulate::warmup)?,
            limit: simulate::DURATION_MAX,
        };
        let series = self.series.as_deref();
        base.series_interval = optional("series", series, ask::simulate::interval)?;
        simulate::apply(&plan, &mut base)?;
        let windows = value("window", &self.window, ask::simulate::windows)?;
        Ok(Grid {
            variants: variants.unwrap_or_else(|| vec![base.variant]),
            streams: value("streams", &self.streams, ask::simulate::streams)?.0,
            windows: windows.0.iter().map(|window| window.fixed()).collect(),
            seed: self.seed,
            seeds: value("seeds", &self.seeds, ask::simulate::seeds)?,
            base,
        })
    }
}

/// The one setting by the fluid model: nothing of it is kept but its result.
fn by_fluid(asked: Asked<'_>, grid: Grid) -> PyResult<Call> {
    if let CacheAsked::At(_) = asked.cache {
        return Err(exclusive("fluid", "cache").into());
    }
    let history = asked.history.history();
    Call::start("simulate", asked.command, move |_, _| {
        Ok(Done::of(simulate::fluid(&grid)?).kept_in(&history))
    })
}

/// Starts simulations.
#[pyfunction]
pub fn start_simulate(asked: Asked<'_>) -> PyResult<Call> {
    let grid = asked.grid()?;
    if asked.fluid {
        return by_fluid(asked, grid);
    }
    simulate::check(&grid).map_err(Failure::from)?;
    let cells = grid.cells().len();
    if asked.series.is_some() && cells > 1 {
        return Err(Failure::request(
            format!("`series` is for one setting, and there are {cells}"),
            "leave it out, or give one number of streams, one window and one variant",
        )
        .into());
    }
    let (history, cache) = (asked.history.history(), asked.cache);
    Call::start("simulate", asked.command, move |cancel, tell| {
        let mut missing = None;
        let cache = match cache {
            CacheAsked::Default(false) => None,
            CacheAsked::At(folder) => Some(Cache::open(&folder).map_err(trunkline::Error::from)?),
            CacheAsked::Default(true) => match Cache::open_default() {
                Ok(cache) => Some(cache),
                Err(error) => {
                    let hint = error.hint().unwrap_or_default();
                    missing = Some((format!("{error}; nothing is kept"), hint));
                    None
                }
            },
        };
        let on_progress = &mut |seen: &simulate::Progress| tell.tell(seen.into());
        let simulated = trunkline::simulate(&grid, cache.as_ref(), false, cancel, on_progress)?;
        let runs = simulated.runs.len();
        let cut = (simulated.unfinished > 0).then(|| {
            let left = simulated.unfinished;
            Failure::request(
                format!("{left} of {runs} runs left data when their time was over"),
                "give them more time with `duration`, or less to carry",
            )
            .of_kind("RunError")
        });
        let mut done = Done::of(simulated.document).kept_in(&history).cut(cut);
        if let Some((what, hint)) = missing {
            done = done.warned(what, &hint);
        }
        if let Some(error) = simulated.not_kept {
            done = done.warned(format!("not every finished run could be kept: {error}"), "");
        }
        Ok(done)
    })
}
