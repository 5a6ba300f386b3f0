//! Small packets that are answered at once: round trips beside the streams.

use crate::packet::{Kind, Packet};
use crate::{Probe, Simulation};

/// Size on the wire: 32 bytes of an echo datagram behind 8 of UDP and 20 of IP.
const SIZE: u32 = 60;

impl Simulation {
    /// Sends a probe from the streams' hosts now: 60 bytes, through the queues of both links, with
    /// the streams' class of service.
    ///
    /// ```
    /// use sim::{Scenario, Simulation};
    /// use units::{Span, Time};
    /// let mut scenario = Scenario::new(netpath::PathSpec::load("lan").unwrap()).unwrap();
    /// scenario.idle = Span::from_secs(1);
    /// let mut simulation = Simulation::new(&scenario).unwrap();
    /// simulation.probe();
    /// simulation.advance(Time::ZERO + Span::from_millis(1));
    /// // 150 us and 480 bits at 1 Gbit/s, each way.
    /// let round_trip = simulation.probes()[0].round_trip.unwrap();
    /// assert_eq!(round_trip, Span::from_nanos(2 * (150_000 + 480)));
    /// ```
    pub fn probe(&mut self) {
        let number = self.probes.len() as u32;
        let sent = self.now();
        self.probes.push(Probe {
            sent,
            round_trip: None,
        });
        let echo = Packet {
            number,
            size: SIZE,
            ..self.packet(Kind::Echo, 0)
        };
        self.emit(echo);
    }

    /// The probes so far, in the order in which they were sent.
    pub fn probes(&self) -> &[Probe] {
        &self.probes
    }

    pub(crate) fn on_echo_reply(&mut self, packet: &Packet) {
        let now = self.now();
        if let Some(probe) = self.probes.get_mut(packet.number as usize) {
            probe.round_trip = Some(now.since(probe.sent));
        }
    }
}

#[cfg(test)]
mod tests {
    use netpath::PathSpec;
    use units::{Span, Time};

    use super::*;
    use crate::Scenario;

    fn round_trips(path: &str, idle: Span) -> Vec<Option<Span>> {
        let mut scenario = Scenario::new(PathSpec::load(path).unwrap()).unwrap();
        scenario.idle = idle;
        let mut simulation = Simulation::new(&scenario).unwrap();
        for step in 0..100 {
            simulation.advance(Time::ZERO + Span::from_millis(50 * step));
            simulation.probe();
        }
        simulation.advance(Time::ZERO + Span::from_secs(10));
        simulation
            .probes()
            .iter()
            .map(|probe| probe.round_trip)
            .collect()
    }

    #[test]
    fn an_idle_path_takes_its_delay_and_a_loaded_one_longer() {
        // The queue of 1 MiB adds up to 84 ms to the 100 ms of the path.
        let idle = round_trips("capped-buffers", Span::from_secs(20));
        let least = Span::from_millis(100);
        assert!(
            idle.iter()
                .all(|trip| trip.unwrap() - least < Span::from_micros(10))
        );
        let loaded = round_trips("oc3-80ms", Span::ZERO);
        let longest = loaded.iter().flatten().max().unwrap();
        assert!(*longest > Span::from_millis(85), "{longest}");
    }

    #[test]
    fn a_lossy_path_loses_probes_too() {
        let path = "[forward]\nrate = \"10Mbit/s\"\ndelay = \"5ms\"\n\
                    queue = { kind = \"drop-tail\", limit = \"64KiB\" }\n\
                    loss = { kind = \"random\", rate = 0.5 }\n";
        let mut scenario = Scenario::new(PathSpec::from_toml("lossy", path).unwrap()).unwrap();
        scenario.idle = Span::from_secs(20);
        let mut simulation = Simulation::new(&scenario).unwrap();
        (0..400).for_each(|_| simulation.probe());
        simulation.advance(Time::ZERO + Span::from_secs(1));
        let lost = simulation.probes().iter();
        let lost = lost.filter(|probe| probe.round_trip.is_none()).count();
        // Of 400 with even odds: 200, give or take four standard deviations of 10.
        assert!((160..=240).contains(&lost), "{lost}");
    }
}
