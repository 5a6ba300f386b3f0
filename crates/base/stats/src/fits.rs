//! Distributions fitted to values.

use statrs::distribution::{Continuous, ContinuousCDF, LogNormal, Normal};

use crate::distribution::cumulative;
use crate::{finite, mean, standard_deviation};

/// A distribution with two parameters, and how far the values are from it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fitted {
    /// Which one.
    pub family: Family,
    /// Mean of the values, or of their logarithms.
    pub centre: f64,
    /// Standard deviation of the same.
    pub deviation: f64,
    /// Largest distance between the shares of the values below and those of the distribution
    /// (Kolmogorov and Smirnov), 0 to 1. It was fitted to these values, so it is no test of them.
    pub distance: f64,
}

/// A family of distributions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// Normal.
    Normal,
    /// The logarithms are normal.
    Lognormal,
}

impl Family {
    /// The member with the mean and deviation of the values or of their logarithms.
    ///
    /// `None` below three values, where they do not scatter, and for a logarithm of zero or less.
    /// ```
    /// use stats::Family;
    /// let normal = Family::Normal.fit(&[9.0, 10.0, 11.0]).unwrap();
    /// assert_eq!((normal.centre, normal.deviation), (10.0, 1.0));
    /// assert!((normal.below(11.0) - 0.8413).abs() < 1e-4);
    /// // Logarithms 0, 1 and 2: half of them lie below e.
    /// let e = std::f64::consts::E;
    /// let lognormal = Family::Lognormal.fit(&[1.0, e, e * e]).unwrap();
    /// assert!((lognormal.below(e) - 0.5).abs() < 1e-9);
    /// ```
    pub fn fit(self, values: &[f64]) -> Option<Fitted> {
        let values = finite(values).filter(|values| values.len() >= 3)?;
        let scaled: Vec<f64> = match self {
            Family::Normal => values.to_vec(),
            Family::Lognormal => values.iter().map(|value| value.ln()).collect(),
        };
        let mut fitted = Fitted {
            family: self,
            centre: mean(&scaled)?,
            deviation: standard_deviation(&scaled).filter(|deviation| *deviation > 0.0)?,
            distance: 0.0,
        };
        let mut before = 0.0;
        for (value, share) in cumulative(values)? {
            let below = fitted.below(value);
            let off = (below - before).abs().max((below - share).abs());
            fitted.distance = fitted.distance.max(off);
            before = share;
        }
        Some(fitted)
    }
}

impl Fitted {
    /// The share of the distribution up to `x`.
    pub fn below(&self, x: f64) -> f64 {
        match self.family {
            Family::Normal => self.normal().map_or(0.0, |normal| normal.cdf(x)),
            Family::Lognormal => self.lognormal().map_or(0.0, |normal| normal.cdf(x)),
        }
    }

    /// Its density at `x`.
    pub fn density(&self, x: f64) -> f64 {
        match self.family {
            Family::Normal => self.normal().map_or(0.0, |normal| normal.pdf(x)),
            Family::Lognormal => self.lognormal().map_or(0.0, |normal| normal.pdf(x)),
        }
    }

    fn normal(&self) -> Option<Normal> {
        Normal::new(self.centre, self.deviation).ok()
    }

    fn lognormal(&self) -> Option<LogNormal> {
        LogNormal::new(self.centre, self.deviation).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values at even shares of a lognormal lie nearer to it than to the normal.
    #[test]
    fn the_family_that_made_the_values_lies_nearer() {
        let source = LogNormal::new(3.0, 0.6).unwrap();
        let values: Vec<f64> = (0..100)
            .map(|rank| source.inverse_cdf((f64::from(rank) + 0.5) / 100.0))
            .collect();
        let [normal, lognormal] =
            [Family::Normal, Family::Lognormal].map(|family| family.fit(&values).unwrap());
        assert!(lognormal.distance < 0.02, "{lognormal:?}");
        assert!(normal.distance > 0.08, "{normal:?}");
        let step = 0.01;
        let area: f64 = (0..20_000)
            .map(|i| lognormal.density(f64::from(i) * step) * step)
            .sum();
        assert!((area - lognormal.below(200.0)).abs() < 1e-3, "{area}");
    }

    #[test]
    fn nonsense_is_not_fitted() {
        assert_eq!(Family::Normal.fit(&[1.0, 1.0, 1.0]), None);
        assert_eq!(Family::Normal.fit(&[1.0, 2.0]), None);
        assert_eq!(Family::Normal.fit(&[1.0, 2.0, f64::NAN]), None);
        assert_eq!(Family::Lognormal.fit(&[0.0, 1.0, 2.0]), None);
        assert_eq!(Family::Lognormal.fit(&[-1.0, 1.0, 2.0]), None);
    }
}
