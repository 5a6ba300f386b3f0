//! Streams whose pace changes while they run, as `SO_MAX_PACING_RATE` does it.

use std::sync::Arc;

use units::Rate;

use crate::Simulation;

impl Simulation {
    /// Stream `index`, counted from 0, sends no faster than `rate` from now on; `None` lets it go.
    /// Nothing happens where there is no such stream. What waits for its time already leaves at
    /// that time.
    ///
    /// ```
    /// use sim::{Scenario, Simulation};
    /// use units::{Span, Time};
    /// let scenario = Scenario::new(netpath::PathSpec::load("oc12-100ms").unwrap()).unwrap();
    /// let mut simulation = Simulation::new(&scenario).unwrap();
    /// let at = |seconds| Time::ZERO + Span::from_secs(seconds);
    /// simulation.pace(0, Some("10Mbit/s".parse().unwrap()));
    /// simulation.advance(at(5));
    /// simulation.pace(0, Some("20Mbit/s".parse().unwrap()));
    /// simulation.advance(at(10));
    /// // 1448 of 1500 bytes are payload: 5 s at 10 Mbit/s, of which slow start takes about 0.4 s, and 5 s at 20 Mbit/s
    /// // are 17.6 MB.
    /// let delivered = simulation.stream(0).unwrap().delivered.as_f64();
    /// assert!((delivered / 17.6e6 - 1.0).abs() < 0.01, "{delivered}");
    /// ```
    pub fn pace(&mut self, index: u32, rate: Option<Rate>) {
        if index < self.scenario.streams {
            let place = self.flows.place(index as usize);
            let sender = &mut self.flows.senders[place];
            Arc::make_mut(&mut sender.rules).pacing_max = rate;
        }
    }
}
