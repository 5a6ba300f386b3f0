//! How tasks that share machines share time.
//!
//! Time is cut into frames as long as the shortest interval of the tasks. Each frame has the same
//! lanes: first one for all light tasks together, then lanes of exclusive tasks, each with slots
//! for as many rounds as its task needs to be done before its next cycle. Tasks that need few
//! frames share a lane and take turns by the number of the frame. A cycle begins with the first
//! frame at or after its due time, so it may wait for as long as a frame. Lanes never overlap, and
//! so neither do visits, whatever the intervals are.
//!
//! A task that shares no machine, and light tasks among themselves, begin when they are due.

/// What a task needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Demand {
    /// Rounds in a cycle.
    pub rounds: i64,
    /// Seconds of a round, with the pause after it.
    pub slot: i64,
    /// The shortest time between two cycles, in seconds.
    pub interval: i64,
    pub exclusive: bool,
}

/// Where the rounds of a task are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Placement {
    /// Seconds from one round to the next.
    slot: i64,
    frame: Option<Frame>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Frame {
    /// Seconds of a frame, and from its beginning to the lane.
    length: i64,
    offset: i64,
    /// Rounds in one frame.
    rounds: i64,
    /// The task has the frames whose number leaves `turn` when divided by `turns`.
    turns: i64,
    turn: i64,
}

/// The demand at `index` has too short an interval; `needed` seconds would do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tight {
    pub index: usize,
    pub needed: i64,
}

impl Placement {
    /// When a round of the cycle that is due at `due` begins.
    pub(super) fn start(&self, epoch: i64, due: i64, round: usize) -> i64 {
        let round = round as i64;
        let Some(frame) = self.frame else {
            return due + round * self.slot;
        };
        let first = (due - epoch + frame.length - 1).div_euclid(frame.length);
        let first = first + (frame.turn - first).rem_euclid(frame.turns);
        let number = first + round / frame.rounds * frame.turns;
        epoch + number * frame.length + frame.offset + round % frame.rounds * self.slot
    }
}

/// Places for demands whose machines are shared.
pub(super) fn arrange(demands: &[Demand]) -> Result<Vec<Placement>, Tight> {
    if demands.len() == 1 || demands.iter().all(|demand| !demand.exclusive) {
        return free(demands);
    }
    let shortest = demands
        .iter()
        .enumerate()
        .min_by_key(|(_, demand)| demand.interval);
    let Some((index, Demand { interval, .. })) = shortest else {
        return Ok(Vec::new());
    };
    let (places, used) = fit(demands, *interval);
    match used <= *interval {
        true => Ok(places),
        false => Err(Tight {
            index,
            needed: lengthened(demands, used),
        }),
    }
}

/// Each begins when it is due.
fn free(demands: &[Demand]) -> Result<Vec<Placement>, Tight> {
    let place = |(index, demand): (usize, &Demand)| {
        let needed = demand.rounds * demand.slot;
        match needed <= demand.interval {
            true => Ok(Placement {
                slot: demand.slot,
                frame: None,
            }),
            false => Err(Tight { index, needed }),
        }
    };
    demands.iter().enumerate().map(place).collect()
}

/// The shortest interval that does, if no task had a shorter one. All rounds of all tasks fit into
/// a frame that is as long as they are, so the search ends.
fn lengthened(demands: &[Demand], used: i64) -> i64 {
    let mut least = used;
    loop {
        let mut longer = demands.to_vec();
        for demand in &mut longer {
            demand.interval = demand.interval.max(least);
        }
        let (_, used) = fit(&longer, least);
        if used <= least {
            return least;
        }
        least = used;
    }
}

/// Lanes one after the other in a frame of `length`, and how many seconds of it they use.
fn fit(demands: &[Demand], length: i64) -> (Vec<Placement>, i64) {
    let light = demands.iter().filter(|demand| !demand.exclusive);
    let mut used = light.map(|demand| demand.slot).max().unwrap_or(0);
    let mut places: Vec<Placement> = demands
        .iter()
        .map(|demand| light_place(*demand, length))
        .collect();
    for lane in lanes(demands, length) {
        let turns = lane.len() as i64;
        let slots = lane.iter().filter_map(|index| demands.get(*index));
        let slot = slots.map(|demand| demand.slot).max().unwrap_or(0);
        let mut rounds = 1;
        for (turn, index) in lane.iter().enumerate() {
            let (Some(demand), Some(place)) = (demands.get(*index), places.get_mut(*index)) else {
                continue;
            };
            let frames = (demand.frames(length) / turns).max(1);
            rounds = (demand.rounds + frames - 1) / frames;
            place.frame = Some(Frame {
                length,
                offset: used,
                rounds: rounds.max(1),
                turns,
                turn: turn as i64,
            });
        }
        used += slot * rounds.max(1);
    }
    (places, used)
}

fn light_place(demand: Demand, length: i64) -> Placement {
    Placement {
        slot: demand.slot,
        frame: Some(Frame {
            length,
            offset: 0,
            rounds: 1,
            turns: 1,
            turn: 0,
        }),
    }
}

/// Which exclusive demands have a lane together. One that needs more than half of its frames has
/// its own.
fn lanes(demands: &[Demand], length: i64) -> Vec<Vec<usize>> {
    let (mut lanes, mut rare): (Vec<Vec<usize>>, Vec<usize>) = (Vec::new(), Vec::new());
    for (index, demand) in demands
        .iter()
        .enumerate()
        .filter(|(_, demand)| demand.exclusive)
    {
        match demand.turns(length) >= 2 {
            true => rare.push(index),
            false => lanes.push(vec![index]),
        }
    }
    let turns = |index: &usize| demands.get(*index).map_or(0, |demand| demand.turns(length));
    rare.sort_by_key(turns);
    let mut lane: Vec<usize> = Vec::new();
    for index in rare {
        // The first of a lane bears the fewest turns.
        if lane
            .first()
            .is_some_and(|first| turns(first) <= lane.len() as i64)
        {
            lanes.push(std::mem::take(&mut lane));
        }
        lane.push(index);
    }
    if !lane.is_empty() {
        lanes.push(lane);
    }
    lanes
}

impl Demand {
    /// Whole frames from a cycle to the next.
    fn frames(&self, length: i64) -> i64 {
        (self.interval / length.max(1)).max(1)
    }

    /// How many may take turns in a lane with one round a frame so that this one is still done.
    fn turns(&self, length: i64) -> i64 {
        self.frames(length) / self.rounds.max(1)
    }
}
