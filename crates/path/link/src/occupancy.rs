//! How many packets waited over time.

use units::Time;

/// The time integral of a queue's length.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Occupancy {
    packets: usize,
    since: Time,
    /// Packets times nanoseconds, up to `since`.
    area: u128,
}

impl Occupancy {
    /// From `now` on, so many packets wait.
    #[inline]
    pub(crate) fn change(&mut self, packets: usize, now: Time) {
        self.area = self.until(now);
        self.packets = packets;
        self.since = now;
    }

    /// Packets times nanoseconds from the beginning to `now`.
    #[inline]
    pub(crate) fn until(&self, now: Time) -> u128 {
        let nanos = now.since(self.since).as_nanos();
        self.area + self.packets as u128 * u128::from(nanos)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_area_is_length_times_time() {
        let mut occupancy = Occupancy::default();
        occupancy.change(2, Time::from_nanos(10));
        occupancy.change(5, Time::from_nanos(30));
        occupancy.change(0, Time::from_nanos(31));
        // 2 x 20 + 5 x 1, and nothing after.
        assert_eq!(occupancy.until(Time::from_nanos(100)), 45);
    }
}
