//! A hypothesis of a path.

/// What a path may be, in payload and seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Path {
    /// Payload that the narrowest link carries beside what does not give way, bits per second.
    pub rate: f64,
    /// Round trip while every queue is empty, seconds.
    pub rtt: f64,
    /// Payload that the queue takes of a burst, bytes.
    pub queue: f64,
    /// Of it, what may stand there: all of a drop-tail queue, little of one that drops early, none
    /// of a policer's bucket; 0 to 1.
    pub standing: f64,
    /// Loss events for each packet that come of no queue.
    pub loss: f64,
    /// Packets that one such event takes.
    pub run: f64,
    /// Streams of others that give way as ours do.
    pub others: f64,
    /// How far the rate swings about its mean, as its coefficient of variation.
    pub swing: f64,
    /// Seconds for which it stays the same.
    pub swing_every: f64,
    /// Payload whose acknowledgements fill the way back, bits per second.
    pub back: f64,
    /// The longest that acknowledgements wait there, seconds; more are dropped, which does no harm.
    pub back_wait: f64,
    /// The most that one stream has on the way where its window is left to the kernels, bytes.
    pub window: f64,
    /// The most that each stream carries, whatever its window, bits per second.
    pub per_stream: f64,
    /// The most that both hosts and their programs move, bits per second.
    pub hosts: f64,
    /// Payload of a segment, bytes.
    pub segment: f64,
}

impl Path {
    /// Segments that the link carries in a second.
    pub(crate) fn segments(&self) -> f64 {
        self.rate / 8.0 / self.segment
    }

    /// Bytes that fill the empty path.
    pub fn product(&self) -> f64 {
        self.rate / 8.0 * self.rtt
    }

    /// Bytes that stand in the queue before anything is dropped.
    pub fn standing_queue(&self) -> f64 {
        self.queue * self.standing
    }
}
