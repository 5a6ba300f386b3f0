//! Traffic across a border by application, as routers tell it.

mod tables;

use std::collections::BTreeMap;

use changes::UnixTime;
use serde::Serialize;

/// The application that stands for trunkline's own traffic, and for that of iperf3 on its port.
pub const OWN_TRAFFIC: &str = "trunkline-iperf3";

/// Which way traffic crosses the border.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Crossing {
    /// From elsewhere to an address inside.
    In,
    /// From an address inside to elsewhere.
    Out,
    /// Between addresses inside.
    Within,
    /// Between addresses elsewhere.
    Through,
}

/// How much there is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Volume {
    /// Bytes of IP packets, with their headers.
    pub bytes: u64,
    /// Packets.
    pub packets: u64,
    /// Records, or sampled packets, that told it.
    pub records: u64,
}

/// Traffic of an application in an interval, from one router.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Traffic {
    /// The first second of the interval.
    pub at: UnixTime,
    /// Its length.
    pub seconds: u64,
    /// The address of the router.
    pub router: String,
    /// Which way it goes.
    pub way: Crossing,
    /// The application, by its ports.
    pub application: String,
    /// How much.
    pub volume: Volume,
}

/// Traffic of an application; rates are means over the seconds of which there are records.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ApplicationTraffic {
    /// Its name.
    pub application: String,
    /// From elsewhere to addresses inside.
    #[serde(rename = "in")]
    pub into: Volume,
    /// From addresses inside to elsewhere.
    pub out: Volume,
    /// Between addresses inside.
    pub within: Volume,
    /// Between addresses elsewhere.
    pub through: Volume,
    /// Mean rate in.
    pub in_bits_per_second: f64,
    /// Mean rate out.
    pub out_bits_per_second: f64,
}

/// How the records of a router came in an hour, or in several.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct RouterHour {
    /// The first second of the first hour.
    #[serde(rename = "at_unix_seconds")]
    pub at: UnixTime,
    /// The address of the router.
    pub router: String,
    /// Seconds of which there is any traffic.
    #[serde(rename = "covered_seconds")]
    pub covered: u64,
    /// Datagrams that came.
    pub datagrams: u64,
    /// Of these, those that came again.
    pub repeated: u64,
    /// Of these, those that are cut, forged or of another protocol, as a whole or in part.
    pub unreadable: u64,
    /// Sets of records that came without their template. They are counted when it comes.
    pub waiting: u64,
    /// What came by the router's own count: records or datagrams, as its protocol has it.
    pub received: u64,
    /// The same of what did not come; less than zero in an hour in which something came late.
    pub lost: i64,
}

/// Traffic of a range of time, all routers together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Border {
    /// Seconds that each figure is summed up over.
    pub step: u64,
    /// Seconds of each step of which there are records, by its first second.
    pub covered: BTreeMap<UnixTime, u64>,
    /// By way and application, then by the first second of the step.
    pub volumes: BTreeMap<(Crossing, String), BTreeMap<UnixTime, Volume>>,
    /// How the records of each router came.
    pub routers: Vec<RouterHour>,
}

impl Crossing {
    /// All of them.
    pub const ALL: [Crossing; 4] = [
        Crossing::In,
        Crossing::Out,
        Crossing::Within,
        Crossing::Through,
    ];

    /// `in`, `out`, `within`, `through`.
    pub fn name(self) -> &'static str {
        match self {
            Crossing::In => "in",
            Crossing::Out => "out",
            Crossing::Within => "within",
            Crossing::Through => "through",
        }
    }
}

impl Volume {
    /// Adds another one.
    pub fn add(&mut self, other: Volume) {
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.packets = self.packets.saturating_add(other.packets);
        self.records = self.records.saturating_add(other.records);
    }
}

impl RouterHour {
    /// Of what the router sent, the share that did not come; `None` where nothing says.
    pub fn lost_share(&self) -> Option<f64> {
        let lost = u64::try_from(self.lost).unwrap_or(0);
        let sent = self.received.saturating_add(lost);
        (sent > 0).then(|| lost as f64 / sent as f64)
    }
}

impl Border {
    /// Seconds of which there are records.
    pub fn seconds(&self) -> u64 {
        self.covered.values().sum()
    }

    /// All applications, those with the most bytes in and out first.
    pub fn applications(&self) -> Vec<String> {
        let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
        for (way, application) in self.volumes.keys() {
            let sum = sums.entry(application).or_default();
            if matches!(way, Crossing::In | Crossing::Out) {
                let own = self.volume(*way, |name| name == application);
                *sum = sum.saturating_add(own.bytes);
            }
        }
        let mut sorted: Vec<(&str, u64)> = sums.into_iter().collect();
        sorted.sort_by(|one, other| (other.1, one.0).cmp(&(one.1, other.0)));
        sorted
            .into_iter()
            .map(|(name, _)| name.to_owned())
            .collect()
    }

    /// All ways of some applications, under one name.
    pub fn of_application(
        &self,
        name: &str,
        is_wanted: impl Fn(&str) -> bool + Copy,
    ) -> ApplicationTraffic {
        let volume = |way| self.volume(way, is_wanted);
        let rate = |way| self.mean_rate(way, is_wanted).unwrap_or(0.0);
        ApplicationTraffic {
            application: name.to_owned(),
            into: volume(Crossing::In),
            out: volume(Crossing::Out),
            within: volume(Crossing::Within),
            through: volume(Crossing::Through),
            in_bits_per_second: rate(Crossing::In),
            out_bits_per_second: rate(Crossing::Out),
        }
    }

    /// All that goes one way, of some applications.
    pub fn volume(&self, way: Crossing, is_wanted: impl Fn(&str) -> bool) -> Volume {
        let mut sum = Volume::default();
        for volumes in self.wanted(way, is_wanted) {
            volumes.values().for_each(|volume| sum.add(*volume));
        }
        sum
    }

    /// Its mean rate over the time of which there are records, in bits per second; `None` without.
    pub fn mean_rate(&self, way: Crossing, is_wanted: impl Fn(&str) -> bool) -> Option<f64> {
        let seconds = self.seconds();
        let bits = self.volume(way, is_wanted).bytes as f64 * 8.0;
        (seconds > 0).then(|| bits / seconds as f64)
    }

    /// The rate of each step that has records, in bits per second.
    pub fn rates(&self, way: Crossing, is_wanted: impl Fn(&str) -> bool) -> Vec<(UnixTime, f64)> {
        let wanted: Vec<_> = self.wanted(way, is_wanted).collect();
        let rate = |(at, seconds): (&UnixTime, &u64)| {
            let bytes = wanted.iter().filter_map(|volumes| volumes.get(at));
            let bytes: f64 = bytes.map(|volume| volume.bytes as f64).sum();
            (*at, bytes * 8.0 / (*seconds).max(1) as f64)
        };
        self.covered.iter().map(rate).collect()
    }

    fn wanted(
        &self,
        way: Crossing,
        is_wanted: impl Fn(&str) -> bool,
    ) -> impl Iterator<Item = &BTreeMap<UnixTime, Volume>> {
        let all = self.volumes.iter();
        let own = all.filter(move |((of, name), _)| *of == way && is_wanted(name));
        own.map(|(_, volumes)| volumes)
    }
}
