//! What a server allows its copies together, and the part of each.
//!
//! There are bounds on all copies and on those of one token, on their streams and on their rate;
//! the rate holds for each direction of the data by itself. Parts are max-min fair, first between
//! tokens and then between the copies of one: a token with many copies has no more than another
//! with one. What a copy does not use goes to others. It is then given some more than it uses, and
//! has its equal part again when it uses all of that.
//!
//! Shares are computed anew by any session that polls, from the reports of all.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use copy_protocol::{CopyBounds, CopyDirection, KeyName, Message, Tokens};
use observe::StreamCount;
use steer::max_min;
use units::{Bytes, Rate, Span};

use crate::sync::{Mutex, MutexGuard};

/// How often a copy asks for its part.
const LOOK: Duration = Duration::from_millis(250);
/// Over how long a rate is counted.
const COUNTED: Duration = Duration::from_secs(1);
/// A copy that uses this share of its part wants more.
const REACHED: f64 = 0.9;
/// Demand of a copy below its share, as a multiple of its use: [`REACHED`] is more than one over
/// this, so that a share does not swing.
const ROOM: f64 = 1.25;
/// Parts are whole streams: with one more than it uses a copy does not use all that it has.
const LEAST_ROOM: f64 = 1.5;
/// Share of an equal part that a copy wants when it uses nothing, so that it can begin.
const LEAST: f64 = 0.1;
/// A session of access to files that moved nothing for so long leaves its part to others. Copies
/// look all the time.
const IDLE: Duration = Duration::from_secs(5);
/// A part is told anew when it changes by more than this share.
const CHANGE: f64 = 0.02;

/// A copy's part of what the server allows; no bound where a field is none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct CopyShare {
    /// All its streams together.
    pub rate: Option<Rate>,
    /// The most streams.
    pub streams: Option<StreamCount>,
}

impl CopyShare {
    /// What a server told. A number of streams out of bounds is none.
    pub(crate) fn told(rate: Option<u64>, streams: Option<u16>) -> Self {
        CopyShare {
            rate: rate.map(Rate::from_bits_per_second),
            streams: streams.and_then(|streams| StreamCount::new(streams.into()).ok()),
        }
    }

    /// What both allow.
    pub(crate) fn lower(self, other: CopyShare) -> Self {
        CopyShare {
            rate: [self.rate, other.rate].into_iter().flatten().min(),
            streams: [self.streams, other.streams].into_iter().flatten().min(),
        }
    }

    /// What a near end that sends is told.
    pub(crate) fn message(&self) -> Message {
        Message::ServerBounds {
            rate: self.rate.map(Rate::bits_per_second),
            streams: self.streams.map(StreamCount::get),
        }
    }
}

/// The bounds of a server with the copies that share them.
#[derive(Debug, Default)]
pub(crate) struct Budget {
    /// On all copies.
    whole: CopyBounds,
    /// On those of each token; read anew for each look, since the file may be.
    tokens: Option<Arc<RwLock<Tokens>>>,
    users: Mutex<Users>,
}

#[derive(Debug, Default)]
struct Users {
    next: u32,
    all: BTreeMap<u32, User>,
}

/// What uses the bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    /// A copy.
    Copy,
    /// A session of access to files: of the rate alone. It has no more streams than a session may.
    Files,
}

/// What a copy has told.
#[derive(Debug, Clone)]
struct User {
    holder: KeyName,
    what: Use,
    direction: CopyDirection,
    /// When it looked last.
    looked: Option<Instant>,
    /// Bits per second and streams that it uses; none while that is not known.
    rate: Option<f64>,
    streams: Option<f64>,
    share: CopyShare,
}

/// One copy, until it is dropped.
#[derive(Debug)]
pub(crate) struct BudgetUser {
    budget: Arc<Budget>,
    number: u32,
    looked: Option<Instant>,
    counted: Option<(Instant, Bytes)>,
    /// What the copy was told last.
    told: CopyShare,
}

impl Budget {
    /// * `tokens`: those whose bounds hold.
    pub(crate) fn new(tokens: Option<Arc<RwLock<Tokens>>>) -> Self {
        Budget {
            tokens,
            ..Budget::default()
        }
    }

    /// The same with bounds on all copies, before there are any.
    pub(crate) fn with_whole(&self, whole: CopyBounds) -> Self {
        Budget {
            whole,
            ..Budget::new(self.tokens.clone())
        }
    }

    /// Copies that one token may have at a time, where it says so: each has a stream at least.
    pub(crate) fn copies_max(&self, holder: &KeyName) -> Option<u16> {
        let bounds = self.bounds(holder);
        [bounds.copies, bounds.streams].into_iter().flatten().min()
    }

    /// One that shares the bounds from now on.
    ///
    /// * `holder`: whose token it has.
    /// * `direction`: of the data, seen from the other end.
    pub(crate) fn user(
        self: &Arc<Self>,
        what: Use,
        holder: KeyName,
        direction: CopyDirection,
    ) -> BudgetUser {
        let mut users = self.users();
        users.next = users.next.wrapping_add(1);
        let number = users.next;
        let user = User {
            holder,
            what,
            direction,
            looked: None,
            rate: None,
            streams: None,
            share: CopyShare::default(),
        };
        users.all.insert(number, user);
        BudgetUser {
            budget: Arc::clone(self),
            number,
            looked: None,
            counted: None,
            told: CopyShare::default(),
        }
    }

    fn users(&self) -> MutexGuard<'_, Users> {
        // Each change is complete, even when another thread panicked.
        self.users.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn bounds(&self, holder: &KeyName) -> CopyBounds {
        let Some(tokens) = &self.tokens else {
            return CopyBounds::default();
        };
        // Tokens are replaced as a whole.
        let tokens = tokens.read().unwrap_or_else(PoisonError::into_inner);
        tokens.bounds(holder)
    }

    /// Gives every copy its part.
    fn divide(&self, users: &mut BTreeMap<u32, User>, now: Instant) {
        for direction in [CopyDirection::Put, CopyDirection::Get] {
            let rate = Resource {
                whole: self.whole.rate.map(Rate::as_f64),
                bound: &|holder| self.bounds(holder).rate.map(Rate::as_f64),
                used: &|user| user.rate,
                least_room: 0.0,
                given: &|user| user.share.rate.map(Rate::as_f64),
            };
            let is_in = |user: &User| user.direction == direction && !user.is_idle(now);
            for (number, part) in rate.divide(users, &is_in) {
                if let Some(user) = users.get_mut(&number) {
                    user.share.rate = part.map(|rate| Rate::from_f64(rate.max(1.0)));
                }
            }
        }
        let streams = Resource {
            whole: self.whole.streams.map(f64::from),
            bound: &|holder| self.bounds(holder).streams.map(f64::from),
            used: &|user| user.streams,
            least_room: LEAST_ROOM,
            given: &|user| user.share.streams.map(|streams| f64::from(streams.get())),
        };
        for (number, part) in streams.divide(users, &|user| user.what == Use::Copy) {
            if let Some(user) = users.get_mut(&number) {
                user.share.streams = part.map(at_most);
            }
        }
    }
}

impl User {
    fn is_idle(&self, now: Instant) -> bool {
        self.what == Use::Files && self.looked.is_none_or(|looked| is_over(looked, now))
    }
}

/// Whether what was moved then is too long ago.
fn is_over(looked: Instant, now: Instant) -> bool {
    now.saturating_duration_since(looked) > IDLE
}

/// Whole streams, one at least.
fn at_most(part: f64) -> StreamCount {
    let whole = part.clamp(1.0, f64::from(StreamCount::MAX.get())) as u64;
    StreamCount::new(whole).unwrap_or(StreamCount::ONE)
}

/// Copies by their numbers.
type Copies<'a> = Vec<(u32, &'a User)>;

/// Something of which copies have parts.
struct Resource<'a> {
    /// What all may have; no bound where it is none.
    whole: Option<f64>,
    /// What the copies of one token may have.
    bound: &'a dyn Fn(&KeyName) -> Option<f64>,
    used: &'a dyn Fn(&User) -> Option<f64>,
    /// What a copy wants at least beside what it uses.
    least_room: f64,
    given: &'a dyn Fn(&User) -> Option<f64>,
}

impl Resource<'_> {
    /// The part of each copy for which `is_in` holds; none where it is not bounded.
    fn divide(
        &self,
        users: &BTreeMap<u32, User>,
        is_in: &dyn Fn(&User) -> bool,
    ) -> Vec<(u32, Option<f64>)> {
        let mut holders: BTreeMap<&KeyName, Copies<'_>> = BTreeMap::new();
        for (number, user) in users.iter().filter(|(_, user)| is_in(user)) {
            let own = holders.entry(&user.holder).or_default();
            own.push((*number, user));
        }
        let all: usize = holders.values().map(Vec::len).sum();
        let holders: Vec<(Option<f64>, Copies<'_>)> = holders
            .into_iter()
            .map(|(holder, own)| ((self.bound)(holder), own))
            .collect();
        let wants = |(bound, own): &(Option<f64>, Copies<'_>)| {
            let equal = self.whole.map(|whole| whole / all as f64);
            let wanted: f64 = own.iter().map(|(_, user)| self.wanted(user, equal)).sum();
            bound.map_or(wanted, |bound| wanted.min(bound))
        };
        let wanted: Vec<f64> = holders.iter().map(wants).collect();
        let parts = self.whole.map(|whole| max_min(whole, &wanted));
        let mut divided = Vec::new();
        for (at, (bound, own)) in holders.iter().enumerate() {
            let part = parts.as_ref().and_then(|parts| parts.get(at)).copied();
            let most = [part, *bound].into_iter().flatten().reduce(f64::min);
            match most {
                None => divided.extend(own.iter().map(|(number, _)| (*number, None))),
                Some(most) => divided.extend(self.within(most, own)),
            }
        }
        divided
    }

    /// The parts of the copies of one token.
    fn within(&self, most: f64, own: &[(u32, &User)]) -> Vec<(u32, Option<f64>)> {
        let equal = most / own.len() as f64;
        let wanted: Vec<f64> = own
            .iter()
            .map(|(_, user)| self.wanted(user, Some(equal)))
            .collect();
        let parts = max_min(most, &wanted);
        own.iter()
            .zip(parts)
            .map(|((number, _), part)| (*number, Some(part)))
            .collect()
    }

    /// How much a copy wants: all that it can get, unless it leaves some of what it has.
    fn wanted(&self, user: &User, equal: Option<f64>) -> f64 {
        match ((self.used)(user), (self.given)(user)) {
            (Some(used), Some(given)) if used < REACHED * given => {
                let room = (ROOM * used).max(used + self.least_room);
                room.max(LEAST * equal.unwrap_or(given))
            }
            _ => f64::INFINITY,
        }
    }
}

impl BudgetUser {
    /// Tells what the copy uses, and takes its part. Returns it where it is another one than was
    /// told before.
    ///
    /// * `moved`: bytes on its streams so far.
    /// * `streams`: how many it has.
    pub(crate) fn look(&mut self, now: Instant, moved: Bytes, streams: u16) -> Option<CopyShare> {
        let is_early = |looked: Instant| now.saturating_duration_since(looked) < LOOK;
        if self.looked.is_some_and(is_early) {
            return None;
        }
        let was_idle = self.looked.is_some_and(|looked| is_over(looked, now));
        self.looked = Some(now);
        if was_idle {
            self.counted = None;
        }
        let rate = self.count(now, moved);
        let mut users = self.budget.users();
        if let Some(user) = users.all.get_mut(&self.number) {
            user.looked = Some(now);
            // What it used before a pause says nothing of now.
            user.rate = rate.or(user.rate.filter(|_| !was_idle));
            user.streams = (streams > 0).then(|| f64::from(streams));
        }
        self.budget.divide(&mut users.all, now);
        let share = users.all.get(&self.number)?.share;
        drop(users);
        differs(self.told, share).then(|| {
            tracing::debug!(
                copy = self.number,
                ?share,
                "another part of the server's bounds"
            );
            self.told = share;
            share
        })
    }

    /// The part that was given last.
    pub(crate) fn told(&self) -> CopyShare {
        self.told
    }

    /// Bits per second since it was last counted; none while that is not long.
    fn count(&mut self, now: Instant, moved: Bytes) -> Option<f64> {
        let (since, before) = *self.counted.get_or_insert((now, moved));
        let length = now.saturating_duration_since(since);
        (length >= COUNTED).then(|| {
            self.counted = Some((now, moved));
            Rate::of(moved - before.min(moved), Span::from(length)).as_f64()
        })
    }
}

/// Whether the difference is worth a word.
fn differs(told: CopyShare, share: CopyShare) -> bool {
    let rate_differs = match (told.rate, share.rate) {
        (Some(told), Some(share)) => {
            (told.as_f64() - share.as_f64()).abs() > CHANGE * told.as_f64()
        }
        (told, share) => told != share,
    };
    rate_differs || told.streams != share.streams
}

impl Drop for BudgetUser {
    fn drop(&mut self) {
        self.budget.users().all.remove(&self.number);
    }
}

#[cfg(test)]
mod tests;

#[cfg(feature = "shuttle")]
pub mod threads;
