//! The polynomial `n^2 / T^2 = a n^power + linear n + constant`.

/// `a n^power + linear n + constant`, per (Mbit/s)^2.
#[derive(Debug, Clone, Copy)]
pub(super) struct Radicand {
    pub a: f64,
    pub power: f64,
    pub linear: f64,
    pub constant: f64,
}

impl Radicand {
    pub fn at(&self, n: f64) -> f64 {
        self.a * n.powf(self.power) + self.linear * n + self.constant
    }

    /// `(2 - power) a n^power + linear n + 2 constant`: above zero where throughput rises with `n`.
    ///
    /// With `R` the radicand, `T = n / sqrt(R)` has the slope `T rising / (2 n R)`.
    pub fn rising(&self, n: f64) -> f64 {
        (2.0 - self.power) * self.a * n.powf(self.power) + self.linear * n + 2.0 * self.constant
    }

    /// The smallest value over one and more streams, for `a` above 0 and a power above 1.
    pub fn lowest(&self) -> f64 {
        let level = (-self.linear / (self.a * self.power)).powf(1.0 / (self.power - 1.0));
        // Not a number where the linear part rises too: then the lowest is at one stream.
        self.at(level.max(1.0))
    }
}
