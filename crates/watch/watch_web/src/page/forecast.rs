//! Forecasts of pairs, kept until there is a newer visit: one takes longer than a page may.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use changes::{Forecast, UnixTime, Visit};
use units::Span;
use watch_store::{Name, Pair, PairHistory, Store, StoreError, VisitId};

use crate::range::earlier;

/// Visits that a forecast is made from: no detector keeps more of four weeks.
const PAST: Span = Span::from_secs(28 * 86_400);
const VISITS_MAX: usize = 4096;
/// Pairs with a forecast; beyond, all are made anew.
const KEPT: usize = 512;

/// The latest visit that it is made from, and the forecast, where there is one.
type Made = (VisitId, Option<Arc<Forecast>>);

/// Forecasts by pair and task.
#[derive(Default)]
pub struct Kept(Mutex<BTreeMap<(Pair, Name), Made>>);

impl Kept {
    /// The forecast of a pair; `None` without a day of visits.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn of(
        &self,
        store: &mut Store,
        pair: &Pair,
        task: &Name,
        now: UnixTime,
    ) -> Result<Option<Arc<Forecast>>, StoreError> {
        let range = (earlier(now, PAST), now + Span::from_secs(1));
        let PairHistory::Visits(visits) = store.history(pair, task, range, VISITS_MAX)? else {
            return Ok(None);
        };
        let Some((latest, _)) = visits.last() else {
            return Ok(None);
        };
        let key = (pair.clone(), task.clone());
        if let Some((made, forecast)) = self.map().get(&key)
            && made == latest
        {
            return Ok(forecast.clone());
        }
        let latest = *latest;
        let goodput = |(_, visit): (VisitId, Visit)| visit.goodput.map(|_| visit);
        let visits: Vec<Visit> = visits.into_iter().filter_map(goodput).collect();
        let forecast = Forecast::from_visits(&visits).map(Arc::new);
        let mut map = self.map();
        if map.len() >= KEPT {
            map.clear();
        }
        map.insert(key, (latest, forecast.clone()));
        Ok(forecast)
    }

    fn map(&self) -> std::sync::MutexGuard<'_, BTreeMap<(Pair, Name), Made>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
