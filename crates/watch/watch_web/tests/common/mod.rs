//! A month of a mesh of six hosts with some troubles, drawn from a seed, and what there is beside
//! it.

#![allow(dead_code, reason = "each test uses a part")]

use std::sync::{Arc, Mutex};

use changes::{
    Detector, Failure, FarHost, ProbeCount, ProbeSequence, RoundTrips, Route, Share, UnixTime,
    Visit, VisitKind,
};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use units::{Rate, Span};
use watch_plan::{Plan, Timetable};
use watch_store::{Name, Pair, Store, StoredVisit, VisitId};
use watch_web::{AgentState, HeldSilence, Live, SilenceRequest};

pub const HOSTS: [&str; 6] = ["bnl", "cern", "desy", "kek", "ral", "slac"];
/// 2026-10-01, a Thursday.
pub const START: u64 = 1_790_812_800;
const DAY: u64 = 86_400;

pub const PLAN: &str = r#"
    [hosts]
    bnl = { address = "dtn.bnl.example.org", link = "1Gbit/s" }
    cern = { address = "dtn.cern.example.org", link = "1Gbit/s" }
    desy = { address = "dtn.desy.example.org", link = "1Gbit/s" }
    kek = { address = "dtn.kek.example.org", link = "1Gbit/s" }
    ral = { address = "dtn.ral.example.org", link = "1Gbit/s" }
    slac = { address = "dtn.slac.example.org", link = "1Gbit/s" }
    [groups]
    all = { mesh = ["bnl", "cern", "desy", "kek", "ral", "slac"] }
    transatlantic = { disjoint = { a = ["bnl", "slac"], b = ["cern", "desy", "ral"] } }
    [tasks]
    goodput = { kind = "throughput", group = "all", every = "60min", duration = "20s" }
    reach = { kind = "ping", group = "transatlantic", every = "10min", duration = "20s" }
"#;

pub fn name(text: &str) -> Name {
    text.parse().unwrap()
}

pub fn pair(from: &str, to: &str) -> Pair {
    Pair {
        from: name(from),
        to: name(to),
    }
}

pub fn time(seconds: u64) -> UnixTime {
    UnixTime::from_seconds(seconds)
}

/// Draws visits.
pub struct Mesh {
    random: Pcg64Mcg,
    days: u64,
}

/// What a path is like.
struct Path {
    rate: f64,
    trip: f64,
    loss: f64,
    route: u64,
    is_down: bool,
}

impl Mesh {
    pub fn new(seed: u64, days: u64) -> Self {
        println!("mesh of seed {seed}");
        Mesh {
            random: Pcg64Mcg::seed_from_u64(seed),
            days,
        }
    }

    fn uniform(&mut self) -> f64 {
        (self.random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Stores all visits and the events that a detector finds in them; how many visits and events.
    pub fn fill(&mut self, store: &mut Store) -> (usize, usize) {
        let mut count = (0, 0);
        let ends = (0..HOSTS.len()).map(|from| (0..HOSTS.len()).map(move |to| (from, to)));
        for (from, to) in ends.flatten().filter(|(from, to)| from != to) {
            let of = pair(HOSTS[from], HOSTS[to]);
            let mut visits = self.throughput((from, to), &of);
            count.1 += detect(store, &of, "goodput", &visits);
            visits.extend(self.pings((from, to), &of));
            count.0 += visits.len();
            for batch in visits.chunks(2000) {
                store.insert(batch).unwrap();
            }
        }
        while store.roll_up(5000).unwrap() > 0 {}
        count
    }

    fn throughput(&mut self, (from, to): (usize, usize), of: &Pair) -> Vec<StoredVisit> {
        let mut visits = Vec::new();
        for hour in 0..self.days * 24 {
            let at = START + hour * 3600 + (from * 6 + to) as u64 * 30;
            let path = self.path((from, to), at);
            if path.is_down && at > START + (self.days - 1) * DAY {
                continue;
            }
            let visit = self.visit(at, VisitKind::Throughput, &path);
            let rates = visit.goodput.map(|goodput| {
                let noise = |_| goodput.as_f64() * (0.9 + 0.2 * self.uniform());
                (0..100).map(noise).map(Rate::from_f64).collect()
            });
            visits.push(self.stored(of, "goodput", visit, rates));
        }
        visits
    }

    /// The last three days, every ten minutes, between some hosts.
    fn pings(&mut self, (from, to): (usize, usize), of: &Pair) -> Vec<StoredVisit> {
        let american = |host: usize| matches!(HOSTS[host], "bnl" | "slac");
        if american(from) == american(to) || [from, to].contains(&3) {
            return Vec::new();
        }
        let begin = START + self.days.saturating_sub(3) * DAY;
        let times = (begin..START + self.days * DAY).step_by(600);
        let mut visits = Vec::new();
        for at in times {
            let path = self.path((from, to), at);
            let visit = self.visit(at, VisitKind::Ping, &path);
            visits.push(self.stored(of, "reach", visit, None));
        }
        visits
    }

    fn path(&mut self, (from, to): (usize, usize), at: u64) -> Path {
        let day = (at - START) as f64 / DAY as f64 / self.days as f64;
        let far = 4 + (from * 7 + to * 7) * 2;
        let phase = (at % DAY) as f64 / DAY as f64 * std::f64::consts::TAU;
        let season = 1.0 - 0.03 * (1.0 + phase.cos());
        let mut path = Path {
            rate: 900e6 * season / (1.0 + (from + to) as f64 / 9.0),
            trip: far as f64 * 1e-3,
            loss: 0.0,
            route: 1,
            is_down: false,
        };
        match (HOSTS[from], HOSTS[to]) {
            ("slac", "cern") if day > 0.8 => {
                path.rate *= 0.62;
                path.trip += 0.012;
                path.route = 2;
            }
            ("kek", "desy") if day > 0.9 => {
                path.rate *= 0.3;
                path.loss = 0.06;
            }
            ("cern", "ral") if (0.5..0.6).contains(&day) => path.rate *= 0.45,
            ("bnl", "kek") if day > 0.85 => path.rate *= 0.7,
            ("ral", "desy") if day > 0.97 => path.is_down = true,
            _ => {}
        }
        path
    }

    fn visit(&mut self, at: u64, kind: VisitKind, path: &Path) -> Visit {
        let mut visit = Visit::new(time(at), kind);
        if path.is_down || self.uniform() < 0.002 {
            let reason = "connection refused by the far host".to_owned();
            visit.failure = Some(Failure { reason });
            return visit;
        }
        let jitter = |mesh: &mut Mesh| -(1.0 - mesh.uniform()).ln();
        let lost = (0..20)
            .filter(|_| self.uniform() < path.loss + 0.001)
            .count();
        let trips = (0..20 - lost).map(|_| path.trip * (1.0 + 0.03 * jitter(self)));
        let trips: Vec<Span> = trips.map(Span::from_secs_f64).collect();
        let unanswered = std::iter::repeat_n(None, lost);
        let probes: Vec<Option<Span>> = unanswered.chain(trips.iter().copied().map(Some)).collect();
        visit.sequence = Some(ProbeSequence::of(&probes));
        visit.round_trips = RoundTrips::new(trips);
        visit.probes = Some(ProbeCount {
            sent: 20,
            lost: lost as u32,
            duplicated: 0,
            reordered: 0,
        });
        visit.route = Some(Route {
            hash: path.route,
            hops: (1..9)
                .map(|hop| format!("192.0.{}.{hop}", path.route))
                .collect(),
        });
        if kind == VisitKind::Throughput {
            let noise = 0.02 * (jitter(self) - jitter(self));
            visit.goodput = Some(Rate::from_f64(path.rate * noise.exp()));
            visit.resent = Share::new(path.loss / 10.0 + 1e-4 * self.uniform());
            visit.loaded = Some(Span::from_secs_f64(path.trip * 1.3));
            visit.far_host = Some(FarHost {
                kernel: Some("6.12.41".to_owned()),
                limits: None,
            });
            visit.limit = Some(observe::Limit::Loss);
        }
        visit
    }

    pub fn stored(
        &mut self,
        of: &Pair,
        task: &str,
        visit: Visit,
        rates: Option<Vec<Rate>>,
    ) -> StoredVisit {
        let mut random = [0; 10];
        self.random.fill_bytes(&mut random);
        StoredVisit {
            id: VisitId::new(visit.at, random),
            pair: of.clone(),
            task: name(task),
            visit,
            rates,
            document: None,
        }
    }
}

/// Stores the events of visits; how many.
fn detect(store: &mut Store, of: &Pair, task: &str, visits: &[StoredVisit]) -> usize {
    let mut detector = Detector::new();
    let mut count = 0;
    for stored in visits {
        for event in detector.push(&stored.visit) {
            count += usize::from(event.is_new());
            store.insert_event(of, &name(task), &event).unwrap();
        }
    }
    count
}

/// What there is beside the database, standing still at the end of the mesh.
pub struct Still {
    pub now: UnixTime,
    pub table: Option<Arc<Timetable>>,
    pub agents: Vec<AgentState>,
    pub silences: Mutex<Vec<SilenceRequest>>,
}

impl Still {
    pub fn new(days: u64) -> Self {
        let (plan, _) = Plan::parse(PLAN, "plan.toml").unwrap();
        let now = time(START + days * DAY - 600);
        let agent = |(number, host): (usize, &&str)| AgentState {
            host: name(host),
            seen: time(now.seconds() - if number == 2 { 7200 } else { 20 }),
            software: "trunkline 0.2.0".to_owned(),
            waiting: number as u64 % 2 * 3,
            running: (number == 4).then(|| "goodput to bnl".to_owned()),
            plan_differs: number == 1,
            plan_refused: None,
            clock_ahead_seconds: Some(number as f64 * 0.4 - 0.5),
        };
        Still {
            now,
            table: Some(Arc::new(Timetable::new(&plan, 0).unwrap())),
            agents: HOSTS.iter().enumerate().map(agent).collect(),
            silences: Mutex::default(),
        }
    }
}

impl Live for Still {
    fn now(&self) -> UnixTime {
        self.now
    }

    fn timetable(&self) -> Option<Arc<Timetable>> {
        self.table.clone()
    }

    fn agents(&self) -> Vec<AgentState> {
        self.agents.clone()
    }

    fn metrics(&self) -> Option<String> {
        Some("# EOF\n".to_owned())
    }

    fn extra(&self) -> Vec<(&'static str, String)> {
        vec![("database", "watch.sqlite, 41 MB".to_owned())]
    }

    fn silence(&self, request: SilenceRequest) -> Result<(), String> {
        self.silences.lock().unwrap().push(request);
        Ok(())
    }

    fn silences(&self) -> Option<Vec<HeldSilence>> {
        let held = |(number, silence): (usize, &SilenceRequest)| HeldSilence {
            silence: silence.clone(),
            id: Some(number.to_string()),
        };
        let silences = self.silences.lock().unwrap();
        Some(silences.iter().enumerate().map(held).collect())
    }

    fn end_silence(&self, id: &str) -> bool {
        let mut silences = self.silences.lock().unwrap();
        let Ok(place) = id.parse::<usize>() else {
            return false;
        };
        let is_there = place < silences.len();
        if is_there {
            silences.remove(place);
        }
        is_there
    }
}
