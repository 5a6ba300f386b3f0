//! Copies that share a path of simulated packets.

use netpath::PathSpec;
use observe::{Setting, StreamCount, TcpSample, Window};
use sim::Simulation;
use steer::online::{Meter, Streams};
use target::SimulatedPath;
use units::{Bytes, Span, Time};

use crate::sample::sample;
use crate::shared_path::SharedPath;

/// How long a path lasts beyond its run.
const BEYOND: Span = Span::from_secs(60);

/// Copies that share a path of simulated packets.
pub struct Packets {
    simulation: Simulation,
    meters: Vec<Meter>,
    streams: Vec<Vec<u32>>,
    begun: u32,
    joining: Vec<(Time, usize, u32)>,
    handshake: Span,
}

impl Packets {
    /// * `first`: streams of each copy at the start.
    /// * `length`: of the run.
    ///
    /// # Errors
    /// When the path cannot be simulated.
    pub fn begin(path: &PathSpec, seed: u64, first: &[u16], length: Span) -> Result<Self, String> {
        let target = SimulatedPath::new(path, seed);
        let all = 1 + first.iter().sum::<u16>();
        let most = StreamCount::MAX.get().min(all);
        let count = StreamCount::new(most.into()).map_err(|error| error.to_string())?;
        let setting = Setting::new(count, Window::Auto);
        let scenario = target.scenario(&setting, seed);
        let mut scenario = scenario.map_err(|error| error.to_string())?;
        scenario.duration = length + BEYOND;
        let mut next = 1;
        let streams = first.iter().map(|count| {
            next += u32::from(*count);
            (next - u32::from(*count)..next).collect()
        });
        let simulation = Simulation::new(&scenario);
        let mut simulation = simulation.map_err(|error| error.to_string())?;
        // More than a setting may have.
        let joined = simulation.join(u32::from(all - most));
        joined.map_err(|error| error.to_string())?;
        Ok(Packets {
            streams: streams.collect(),
            begun: all.into(),
            handshake: path.base_rtt(),
            simulation,
            meters: vec![Meter::default(); first.len()],
            joining: Vec::new(),
        })
    }

    fn leave(&mut self, copy: usize, keep: usize) -> Result<(), String> {
        let keep = keep.min(self.streams[copy].len());
        for index in self.streams[copy].split_off(keep) {
            self.simulation
                .leave(index)
                .map_err(|error| error.to_string())?;
        }
        Ok(())
    }
}

impl SharedPath for Packets {
    fn read(&mut self) -> Vec<Streams> {
        let simulation = &self.simulation;
        let state = |index: &u32| -> Option<(u32, TcpSample)> {
            Some((*index, sample(&simulation.stream(*index)?)))
        };
        let read = |(meter, streams): (&mut Meter, &Vec<u32>)| {
            meter.read(streams.iter().filter_map(state))
        };
        self.meters
            .iter_mut()
            .zip(&self.streams)
            .map(read)
            .collect()
    }

    fn other(&self) -> Bytes {
        self.simulation
            .stream(0)
            .map_or(Bytes::ZERO, |one| one.arrived)
    }

    fn set(&mut self, wanted: &[u16]) -> Result<(), String> {
        let now = self.simulation.now();
        for (copy, wanted) in wanted.iter().enumerate() {
            let wanted = u32::from(*wanted);
            let coming = self.joining.iter().filter(|(_, whose, _)| *whose == copy);
            let coming: u32 = coming.map(|(_, _, count)| count).sum();
            let there = self.streams[copy].len() as u32 + coming;
            if wanted > there {
                self.joining
                    .push((now + self.handshake, copy, wanted - there));
            }
            self.leave(copy, wanted as usize)?;
        }
        Ok(())
    }

    fn advance(&mut self, until: Time) -> Result<(), String> {
        self.simulation.advance(until);
        let (due, later): (Vec<_>, Vec<_>) =
            self.joining.drain(..).partition(|(at, _, _)| *at <= until);
        self.joining = later;
        for (_, copy, count) in due {
            self.simulation
                .join(count)
                .map_err(|error| error.to_string())?;
            self.streams[copy].extend(self.begun..self.begun + count);
            self.begun += count;
        }
        Ok(())
    }

    fn end(&mut self, copy: usize) -> Result<(), String> {
        self.joining.retain(|(_, whose, _)| *whose != copy);
        self.leave(copy, 0)
    }
}
