use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use changes::{UnixTime, Visit};
use copy_net::Listener;
use copy_protocol::{Key, KeyName, Rights, Secret};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use watch_plan::{Due, Plan, Why};
use watch_store::{Receipt, Refusal, Spool, StoredVisit, VisitId};

use crate::link::{Answer, Refused, Reply, Report, Reports};

use super::*;

const START: u64 = 1_767_225_600;

fn timetable(text: &str) -> Timetable {
    let (plan, _) = Plan::parse(text, "plan.toml").unwrap();
    Timetable::new(&plan, 0).unwrap()
}

fn mesh() -> Timetable {
    timetable(
        r#"
        [hosts]
        a = { address = "127.0.0.1" }
        b = { address = "127.0.0.2" }
        c = { address = "127.0.0.3" }
        [groups]
        all = { mesh = ["a", "b", "c"] }
        [tasks]
        trips = { kind = "ping", group = "all", every = "10s", duration = "1s" }
        "#,
    )
}

fn at(timetable: Timetable, name: &str) -> Followed {
    Followed {
        timetable,
        digest: PlanDigest::of(""),
        hosts: vec![host(name)],
    }
}

fn followed(text: &str) -> Followed {
    Followed {
        digest: PlanDigest::of(text),
        ..at(timetable(text), "a")
    }
}

fn host(name: &str) -> HostName {
    name.parse().unwrap()
}

/// Looks at random intervals; gives what began.
fn begun(schedule: &mut Schedule, from: u64, to: u64, draw: &mut Pcg64Mcg) -> Vec<Due> {
    let mut begun = Vec::new();
    let mut at = from;
    while at < to {
        match schedule.step(UnixTime::from_seconds(at)) {
            Step::Begin(due) => {
                let late = at as i64 - due.at;
                assert!((0..=2).contains(&late), "{late} s late");
                begun.push(due);
            }
            Step::Wait(_) => at += draw.next_u64() % 3,
            other => panic!("{other:?} at {at}"),
        }
    }
    begun
}

#[test]
fn each_visit_begins_once_and_only_at_its_own_host() {
    for seed in 0..20 {
        let mut draw = Pcg64Mcg::seed_from_u64(seed);
        let mut schedule = Schedule::new(at(mesh(), "b"), UnixTime::from_seconds(START));
        let found = begun(&mut schedule, START, START + 600, &mut draw);
        let table = mesh();
        let planned = table.next_visits(&host("b"), START as i64);
        let expected: Vec<Due> = planned
            .filter_map(watch_plan::Planned::visit)
            .take_while(|due| due.at < START as i64 + 590)
            .filter(|due| due.from == host("b"))
            .collect();
        let key = |due: &Due| (due.at, due.to.clone());
        let found: Vec<_> = found.iter().map(key).collect();
        assert!(expected.len() >= 100);
        for due in &expected {
            let times = found.iter().filter(|one| **one == key(due)).count();
            assert_eq!(times, 1, "seed {seed}: {due:?}");
        }
    }
}

#[test]
fn a_clock_that_is_set_is_told_and_visits_go_by_the_new_time() {
    let mut draw = Pcg64Mcg::seed_from_u64(7);
    let mut schedule = Schedule::new(at(mesh(), "a"), UnixTime::from_seconds(START));
    begun(&mut schedule, START, START + 30, &mut draw);
    let ahead = UnixTime::from_seconds(START + 7200);
    assert!(matches!(schedule.step(ahead), Step::Stepped(by) if (7160..=7200).contains(&by)));
    begun(&mut schedule, START + 7200, START + 7230, &mut draw);
    let back = UnixTime::from_seconds(START + 100);
    assert!(matches!(schedule.step(back), Step::Stepped(by) if by < -7000));
    let again = begun(&mut schedule, START + 100, START + 130, &mut draw);
    assert!(!again.is_empty());
}

#[test]
fn a_host_that_looks_late_misses_visits_and_says_how_many() {
    let mut schedule = Schedule::new(at(mesh(), "a"), UnixTime::from_seconds(START));
    let at = |seconds| UnixTime::from_seconds(START + seconds);
    while matches!(schedule.step(at(0)), Step::Begin(_)) {}
    for seconds in [4, 8] {
        schedule.step(at(seconds));
    }
    // Visits of second 10 are three seconds late; that is no step of the clock yet.
    assert_eq!(schedule.step(at(13)), Step::Missed(2));
}

/// Quiet hours longer than what is looked up at once end, and are told once for each task.
#[test]
fn visits_go_on_after_long_quiet_hours() {
    let text = r#"
        [hosts]
        a = { address = "127.0.0.1" }
        b = { address = "127.0.0.2" }
        [groups]
        all = { mesh = ["a", "b"] }
        [tasks.trips]
        kind = "ping"
        group = "all"
        every = "10s"
        duration = "1s"
        budget = { quiet = ["01:00-20:00"] }
        "#;
    let begin = UnixTime::from_seconds(START);
    let mut schedule = Schedule::new(at(timetable(text), "a"), begin);
    let (mut begun, mut told) = (Vec::new(), 0);
    for second in 0..86_400 {
        let at = UnixTime::from_seconds(START + second);
        loop {
            match schedule.step(at) {
                Step::Begin(due) => begun.push(due.at - START as i64),
                Step::Quiet(task, Why::QuietHours(hours)) => {
                    assert_eq!((task.as_str(), hours.as_str()), ("trips", "01:00-20:00"));
                    told += 1;
                }
                Step::Wait(_) => break,
                other => panic!("{other:?} at {second}"),
            }
        }
    }
    assert_eq!(told, 1);
    assert!(begun.iter().all(|at| !(3_600 - 1..72_000).contains(at)));
    assert_eq!(begun.len(), 5 * 360);
}

/// A collector that has a bad day: it fails, refuses and forgets to answer by chance.
struct Unkind {
    draw: Mutex<Pcg64Mcg>,
    known: Mutex<BTreeMap<VisitId, StoredVisit>>,
    again: AtomicU64,
    key: Key,
}

impl Reports for Unkind {
    fn find(&self, _name: &KeyName) -> Option<(Key, Rights)> {
        let is_down = self.draw.lock().unwrap().next_u64().is_multiple_of(5);
        (!is_down).then(|| (self.key.clone(), Rights::ALL))
    }

    fn take(&self, _name: &KeyName, _peer: SocketAddr, report: Report) -> Answer {
        let roll = self.draw.lock().unwrap().next_u64() % 6;
        if roll == 0 {
            return Answer::Refused(Refused {
                what: "the database is locked".to_owned(),
                hint: "wait".to_owned(),
            });
        }
        let mut known = self.known.lock().unwrap();
        let receipts =
            report
                .visits
                .iter()
                .map(|visit| match known.insert(visit.id, visit.clone()) {
                    None => Receipt::Stored,
                    Some(before) if before == *visit => {
                        self.again.fetch_add(1, Ordering::Relaxed);
                        Receipt::Known
                    }
                    Some(_) => Receipt::Refused(Refusal::Conflict(visit.id)),
                });
        let receipts: Vec<Receipt> = receipts.collect();
        if roll == 1 {
            // Stored, and the answer is of no use.
            return Answer::Refused(Refused {
                what: "the answer was lost".to_owned(),
                hint: String::new(),
            });
        }
        Answer::Taken(Reply {
            now: HostClock.now(),
            plan: report.plan.unwrap(),
            plan_text: None,
            receipts,
            far_hosts: BTreeMap::new(),
        })
    }

    fn rejected(&self, _peer: SocketAddr, _reason: &str) {}
}

/// A collector that is asked and does not answer until it may.
struct Stuck {
    is_asked: AtomicBool,
    may_answer: AtomicBool,
    key: Key,
}

impl Reports for Stuck {
    fn find(&self, _name: &KeyName) -> Option<(Key, Rights)> {
        Some((self.key.clone(), Rights::ALL))
    }

    fn take(&self, _name: &KeyName, _peer: SocketAddr, _report: Report) -> Answer {
        self.is_asked.store(true, Ordering::Relaxed);
        wait_for(&self.may_answer);
        Answer::Refused(Refused {
            what: "too late".to_owned(),
            hint: String::new(),
        })
    }

    fn rejected(&self, _peer: SocketAddr, _reason: &str) {}
}

/// Whether a flag was set within half of the time that an agent waits for an answer.
fn wait_for(flag: &AtomicBool) -> bool {
    let end = Instant::now() + Duration::from_secs(60);
    while !flag.load(Ordering::Relaxed) && Instant::now() < end {
        thread::sleep(Duration::from_millis(10));
    }
    flag.load(Ordering::Relaxed)
}

struct Quick(AtomicU64);

impl Visitor for Quick {
    fn visit(&self, _plan: &Plan, _due: &Due, begun: Visit, _stop: &AtomicBool) -> Shown {
        self.0.fetch_add(1, Ordering::Relaxed);
        Shown {
            visit: begun,
            rates: None,
            document: None,
        }
    }
}

fn options(folder: &Path, port: u16, token: &Token) -> AgentOptions {
    let text = r#"
        [hosts]
        a = { address = "127.0.0.1" }
        b = { address = "127.0.0.2" }
        [groups]
        all = { list = [["a", "b"]] }
        [tasks.one]
        kind = "ping"
        group = "all"
        every = "10s"
        duration = "1s"
        "#;
    AgentOptions {
        followed: followed(text),
        plans: None,
        collector: format!("127.0.0.1:{port}").parse().unwrap(),
        token: token.clone(),
        state: folder.to_owned(),
        host: FarHost::default(),
        software: "test".to_owned(),
        clock: Arc::new(HostClock),
    }
}

/// The plan, the refusal and the times of visits of a report.
type Heard = (Option<PlanDigest>, Option<String>, Vec<u64>);

/// Gives a plan that cannot be followed first, then one that can.
struct Giving {
    key: Key,
    good: PlanText,
    reports: Mutex<Vec<Heard>>,
    is_followed: AtomicBool,
}

impl Reports for Giving {
    fn find(&self, _: &KeyName) -> Option<(Key, Rights)> {
        Some((self.key.clone(), Rights::ALL))
    }

    fn take(&self, _: &KeyName, _: SocketAddr, report: Report) -> Answer {
        let wish = report.plan_wish.unwrap();
        let visits = report.visits.iter();
        let visits: Vec<u64> = visits.map(|visit| visit.visit.at.seconds()).collect();
        let given = match &wish.refused {
            None if wish.seen.is_none() => PlanText::new("plan.toml", "bad"),
            _ => self.good.clone(),
        };
        let plan = match report.plan == Some(self.good.digest()) {
            true => self.good.digest(),
            false => given.digest(),
        };
        let is_followed = report.plan.as_ref() == Some(&plan) && !visits.is_empty();
        self.is_followed.fetch_or(is_followed, Ordering::Relaxed);
        let receipts = vec![Receipt::Stored; visits.len()];
        let noted = (report.plan.clone(), wish.refused, visits);
        self.reports.lock().unwrap().push(noted);
        Answer::Taken(Reply {
            now: report.now,
            plan_text: (report.plan != Some(plan.clone())).then_some(given),
            plan,
            receipts,
            far_hosts: BTreeMap::new(),
        })
    }

    fn rejected(&self, peer: SocketAddr, reason: &str) {
        panic!("{peer}: {reason}");
    }
}

#[derive(Debug)]
struct Checking;

impl Plans for Checking {
    fn take(&self, text: &PlanText) -> Result<Followed, String> {
        match text.text.as_str() {
            "bad" => Err("line 1 is no plan".to_owned()),
            text => Ok(followed(text)),
        }
    }
}

/// Takes some of its time.
struct Slow;

impl Visitor for Slow {
    fn visit(&self, _plan: &Plan, _due: &Due, begun: Visit, _stop: &AtomicBool) -> Shown {
        thread::sleep(Duration::from_millis(1500));
        Shown {
            visit: begun,
            rates: None,
            document: None,
        }
    }
}

/// A plan that cannot be followed is refused with the reason, and the one before goes on. A new one
/// is followed without a visit twice or none.
#[test]
fn a_new_plan_is_checked_and_followed_without_a_gap() {
    let text = |gap: &str| {
        format!(
            "gap = \"{gap}\"\n[hosts]\na = {{ address = \"a\" }}\nb = {{ address = \"b\" }}\n\
             [groups]\nall = {{ list = [[\"a\", \"b\"]] }}\n\
             [tasks.one]\nkind = \"throughput\"\ngroup = \"all\"\nevery = \"10s\"\n\
             duration = \"2s\"\n"
        )
    };
    let folder = tempfile::tempdir().unwrap();
    let token = token();
    let listener = Listener::bind(None).unwrap();
    let options = AgentOptions {
        followed: followed(&text("1s")),
        plans: Some(Arc::new(Checking)),
        ..options(folder.path(), listener.port(), &token)
    };
    let old = options.followed.digest.clone();
    let giving = Arc::new(Giving {
        key: token.secret.key(),
        good: PlanText::new("plan.toml", text("2s")),
        reports: Mutex::default(),
        is_followed: AtomicBool::new(false),
    });
    let stop = AtomicBool::new(false);
    let is_over = || stop.load(Ordering::Relaxed);
    thread::scope(|scope| {
        let reports: Arc<dyn Reports> = giving.clone();
        scope.spawn(|| crate::link::serve(listener, reports, &is_over));
        let agent = Agent::open(options).unwrap();
        scope.spawn(|| agent.run(&Slow, &stop, &|_| ()));
        let followed = wait_for(&giving.is_followed);
        stop.store(true, Ordering::Relaxed);
        assert!(followed, "{:?}", giving.reports.lock().unwrap());
    });
    let reports = giving.reports.lock().unwrap();
    let refused: Vec<_> = reports.iter().filter(|(_, why, _)| why.is_some()).collect();
    assert!(!refused.is_empty(), "{reports:?}");
    for (plan, why, _) in refused {
        assert_eq!(plan.as_ref(), Some(&old));
        assert_eq!(why.as_deref(), Some("line 1 is no plan"));
    }
    let mut cycles: Vec<u64> = reports
        .iter()
        .flat_map(|(.., at)| at)
        .map(|at| at / 10)
        .collect();
    cycles.sort();
    let first = cycles[0];
    let all: Vec<u64> = (first..first + cycles.len() as u64).collect();
    assert_eq!(cycles, all, "{reports:?}");
}

fn token() -> Token {
    Token {
        name: KeyName::new("a").unwrap(),
        secret: Secret::new([5; 32]),
    }
}

fn some_visit(number: u64) -> StoredVisit {
    let at = UnixTime::from_seconds(START + number);
    let mut random = [0; 10];
    random[..8].copy_from_slice(&number.to_be_bytes());
    StoredVisit {
        id: VisitId::new(at, random),
        pair: watch_store::Pair {
            from: "a".parse().unwrap(),
            to: "b".parse().unwrap(),
        },
        task: "one".parse().unwrap(),
        visit: Visit::new(at, changes::VisitKind::Ping),
        rates: None,
        document: None,
    }
}

#[test]
fn an_unkind_collector_gets_each_result_once() {
    let folder = tempfile::tempdir().unwrap();
    let token = token();
    let listener = Listener::bind(None).unwrap();
    let port = listener.port();
    let seed = 11;
    let unkind = Arc::new(Unkind {
        draw: Mutex::new(Pcg64Mcg::seed_from_u64(seed)),
        known: Mutex::default(),
        again: AtomicU64::new(0),
        key: token.secret.key(),
    });
    // As many as wait after a day without a collector.
    let all: Vec<StoredVisit> = (0..1500).map(some_visit).collect();
    Spool::open(&{
        std::fs::create_dir_all(folder.path()).unwrap();
        folder.path().join("results.sqlite")
    })
    .unwrap()
    .push(&all)
    .unwrap();
    let stop = AtomicBool::new(false);
    let is_over = || stop.load(Ordering::Relaxed);
    let visitor = Quick(AtomicU64::new(0));
    thread::scope(|scope| {
        let reports: Arc<dyn Reports> = unkind.clone();
        scope.spawn(|| crate::link::serve(listener, reports, &is_over));
        let mut agent = Agent::open(options(folder.path(), port, &token)).unwrap();
        agent.courier.pauses = [Duration::from_millis(20); 2];
        scope.spawn(|| agent.run(&visitor, &stop, &|_| ()));
        let end = Instant::now() + Duration::from_secs(120);
        while unkind.known.lock().unwrap().len() < all.len() && Instant::now() < end {
            thread::sleep(Duration::from_millis(50));
        }
        stop.store(true, Ordering::Relaxed);
    });
    let known = unkind.known.lock().unwrap();
    let missing = all
        .iter()
        .filter(|visit| !known.contains_key(&visit.id))
        .count();
    assert_eq!(missing, 0, "seed {seed}");
    let again = unkind.again.load(Ordering::Relaxed);
    assert!(again > 0, "no answer was lost with seed {seed}");
}

#[test]
fn an_agent_that_is_stopped_does_not_wait_for_an_answer() {
    let folder = tempfile::tempdir().unwrap();
    let token = token();
    let listener = Listener::bind(None).unwrap();
    let port = listener.port();
    let stuck = Arc::new(Stuck {
        is_asked: AtomicBool::new(false),
        may_answer: AtomicBool::new(false),
        key: token.secret.key(),
    });
    let (stop, has_ended) = (AtomicBool::new(false), AtomicBool::new(false));
    let visitor = Quick(AtomicU64::new(0));
    let is_over = || has_ended.load(Ordering::Relaxed);
    thread::scope(|scope| {
        let reports: Arc<dyn Reports> = stuck.clone();
        scope.spawn(|| crate::link::serve(listener, reports, &is_over));
        let agent = Agent::open(options(folder.path(), port, &token)).unwrap();
        scope.spawn(|| {
            agent.run(&visitor, &stop, &|_| ());
            has_ended.store(true, Ordering::Relaxed);
        });
        let was_asked = wait_for(&stuck.is_asked);
        stop.store(true, Ordering::Relaxed);
        let ended_before_the_answer = wait_for(&has_ended);
        stuck.may_answer.store(true, Ordering::Relaxed);
        assert!(was_asked && ended_before_the_answer);
    });
}

#[test]
fn a_visit_that_is_cut_off_is_told_as_failed() {
    let folder = tempfile::tempdir().unwrap();
    let notes = notes::Notes::open(folder.path()).unwrap();
    let visit = some_visit(1);
    notes
        .write(&notes::Note {
            id: visit.id,
            at: visit.visit.at,
            kind: visit.visit.kind,
            task: visit.task.clone(),
            pair: visit.pair.clone(),
        })
        .unwrap();
    std::fs::write(folder.path().join("running/half.json"), b"{\"id\"").unwrap();
    let visits = Visits::open(folder.path()).unwrap();
    let told = Mutex::new(Vec::new());
    visits.tell_cut_off(&|event| told.lock().unwrap().push(event));
    // Again, as after a second kill: nothing is told twice.
    visits.tell_cut_off(&|event| told.lock().unwrap().push(event));
    assert_eq!(told.lock().unwrap().len(), 1);
    let kept = visits.batch(10).unwrap();
    assert_eq!(kept.len(), 1);
    assert_eq!(kept[0].id, visit.id);
    let failure = kept[0].visit.failure.as_ref().unwrap();
    assert_eq!(failure.reason, "the agent ended during the visit");
}

#[test]
fn two_agents_do_not_share_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let token = token();
    let first = Agent::open(options(folder.path(), 1, &token)).unwrap();
    let error = Agent::open(options(folder.path(), 1, &token))
        .err()
        .unwrap();
    assert!(error.to_string().contains("another agent uses"), "{error}");
    drop(first);
    Agent::open(options(folder.path(), 1, &token)).unwrap();
}

/// The visits beside it are forgotten, all are told at once, and the file stays short.
#[test]
fn visits_that_are_refused_go_to_a_file_of_bounded_length() {
    let folder = tempfile::tempdir().unwrap();
    let courier = Courier::new(options(folder.path(), 1, &token()));
    let visits = Visits::open(folder.path()).unwrap();
    let told = Mutex::new(Vec::new());
    let on_event = |event| told.lock().unwrap().push(event);
    let large = |number| StoredVisit {
        document: Some("x".repeat(3 << 20)),
        ..some_visit(number)
    };
    for first in (0..24).step_by(3) {
        let sent: Vec<StoredVisit> = (first..first + 3).map(large).collect();
        sent.iter()
            .for_each(|visit| visits.keep(visit.clone(), &on_event));
        let refused = |number: u64| Receipt::Refused(Refusal::Unreadable(number.to_string()));
        let receipts = vec![refused(first), Receipt::Stored, refused(first + 2)];
        assert_eq!(courier.forget(&visits, &sent, receipts, &on_event), 3);
    }
    assert_eq!(visits.waiting().count(), 0);
    let told = told.lock().unwrap();
    assert_eq!(told.len(), 8, "{told:?}");
    let words = told[7].to_string();
    assert!(
        words.contains("refused 2 visits") && words.contains("read: 21"),
        "{words}"
    );
    let text = |name| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let (now, old) = (text("refused.ndjson"), text("refused.ndjson.old"));
    assert!(
        now.len() + old.len() <= 2 * (16 << 20),
        "{} {}",
        now.len(),
        old.len()
    );
    let last: StoredVisit = serde_json::from_str(now.lines().last().unwrap()).unwrap();
    assert_eq!(last, large(23));
}

/// A file system of 2 MiB; `None` where this user may not mount one, and the skip is noted.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    fn mount() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mut mount = std::process::Command::new("mount");
        mount
            .args(["-t", "tmpfs", "-o", "size=2m", "tmpfs"])
            .arg(folder.path());
        if mount.status().is_ok_and(|status| status.success()) {
            return Some(SmallDisk(folder));
        }
        testkit::skip("a small file system cannot be mounted");
        None
    }

    /// Other programs take all room.
    fn fill(&self) {
        use std::io::Write;
        let mut file = File::create(self.0.path().join("filler")).unwrap();
        while file.write_all(&[1; 4096]).is_ok() {}
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount")
            .arg(self.0.path())
            .status();
    }
}

#[test]
fn on_a_full_disk_results_wait_in_memory_and_are_delivered_all_the_same() {
    let Some(disk) = SmallDisk::mount() else {
        return;
    };
    let visits = Visits::open(disk.0.path()).unwrap();
    disk.fill();
    let told = Mutex::new(Vec::new());
    let on_event = |event| told.lock().unwrap().push(event);
    // Until not even the reserve takes one more.
    let mut made = 0;
    while told.lock().unwrap().is_empty() {
        visits.keep(some_visit(made), &on_event);
        made += 1;
        assert!(made < 100_000, "the disk never filled");
    }
    visits.keep(some_visit(made), &on_event);
    assert_eq!(visits.waiting().count(), made + 1);
    let mut got = 0;
    loop {
        let batch = visits.batch(200).unwrap();
        if batch.is_empty() {
            break;
        }
        for visit in &batch {
            assert_eq!(*visit, some_visit(got), "out of order, or twice");
            got += 1;
        }
        let ids: Vec<VisitId> = batch.iter().map(|visit| visit.id).collect();
        visits.forget(&ids).unwrap();
    }
    assert_eq!(got, made + 1);
    assert_eq!(visits.waiting().count(), 0);
}
