//! From the analysis to its shapes.

use units::Rate;

use super::*;

/// Bits per second as documents have them.
pub(crate) fn whole(bits_per_second: f64) -> u64 {
    Rate::from_f64(bits_per_second).bits_per_second()
}

fn each<A, B: for<'a> From<&'a A>>(list: &[A]) -> Vec<B> {
    list.iter().map(B::from).collect()
}

fn some<A, B: for<'a> From<&'a A>>(value: &Option<A>) -> Option<B> {
    value.as_ref().map(B::from)
}

impl From<&::sweep::Analysis> for SweepAnalysis {
    fn from(analysis: &::sweep::Analysis) -> Self {
        SweepAnalysis {
            settings: each(&analysis.settings),
            directions: each(&analysis.directions),
            directions_apart: some(&analysis.directions_apart),
        }
    }
}

impl From<&::sweep::SettingFigures> for SettingFigures {
    fn from(figures: &::sweep::SettingFigures) -> Self {
        let predictability = |spread: Option<stats::Spread>| spread.map(|rv| 1.0 - rv.median);
        let together = figures.losses_together;
        SettingFigures {
            setting: figures.setting.clone(),
            visits: figures.visits as u64,
            failures: figures.failures as u64,
            goodput: some(&figures.goodput),
            rtt_unloaded: some(&figures.rtt_unloaded),
            rtt_loaded: some(&figures.rtt_loaded),
            rtt_added: some(&figures.rtt_added),
            rate_variability_unloaded: some(&figures.variability_unloaded),
            rate_variability_loaded: some(&figures.variability_loaded),
            rate_predictability_unloaded_ratio: predictability(figures.variability_unloaded),
            rate_predictability_loaded_ratio: predictability(figures.variability_loaded),
            probe_loss_unloaded_ratio: figures.probe_loss_unloaded,
            probe_loss_loaded_ratio: figures.probe_loss_loaded,
            retransmitted: some(&figures.retransmitted),
            fairness: some(&figures.fairness),
            starvation: some(&figures.starvation),
            losses_together_ratio: together.map(|together| together.share),
            losses_together_by_chance_ratio: together.and_then(|together| together.by_chance),
            cpu_user: some(&figures.cpu_user),
            cpu_kernel: some(&figures.cpu_kernel),
            limit: figures.limit,
        }
    }
}

impl From<&::sweep::Starvation> for Starvation {
    fn from(starvation: &::sweep::Starvation) -> Self {
        Starvation {
            visits_ratio: starvation.visits,
            streams_mean: starvation.streams,
        }
    }
}

impl From<&::sweep::DirectionAnalysis> for DirectionAnalysis {
    fn from(way: &::sweep::DirectionAnalysis) -> Self {
        DirectionAnalysis {
            direction: way.direction,
            recommended: some(&way.recommended),
            highest: some(&way.highest),
            gentlest: some(&way.gentlest),
            curves: each(&way.curves),
            rate_variability_unloaded: some(&way.variability_unloaded),
            rate_variability_loaded: some(&way.variability_loaded),
            variability_against_added: some(&way.variability_against_added),
            cpu_against_goodput: some(&way.cpu_against_goodput),
            kernel_to_user_ratio: way.kernel_to_user,
            products: each(&way.products),
            rtt_spread_against_load: some(&way.rtt_spread_against_load),
            durations: each(&way.durations),
            fairness: some(&way.fairness),
        }
    }
}

impl From<&::sweep::Fit> for LineFit {
    fn from(fit: &::sweep::Fit) -> Self {
        LineFit {
            slope: fit.slope,
            intercept: fit.intercept,
            r_squared: fit.r_squared,
            count: fit.count as u64,
        }
    }
}

impl From<&::sweep::Curve> for Curve {
    fn from(curve: &::sweep::Curve) -> Self {
        Curve {
            window: curve.setting.window,
            congestion: curve.setting.congestion.clone(),
            streams: curve.streams.clone(),
            linear: curve.linear.map(|linear| Linear {
                until_streams: linear.until_streams,
                ends: linear.ends,
                fit: (&linear.fit).into(),
            }),
            knee: some(&curve.knee),
            gentlest_streams: curve.gentlest_streams,
        }
    }
}

impl From<&::sweep::Knee> for Knee {
    fn from(knee: &::sweep::Knee) -> Self {
        Knee {
            streams: knee.streams,
            low_streams: knee.interval.map(|interval| interval.low),
            high_streams: knee.interval.map(|interval| interval.high),
            confidence: knee.interval.map(|interval| interval.confidence),
            share_ratio: knee.share,
            goodput_bits_per_second: whole(knee.goodput),
            highest_bits_per_second: whole(knee.highest),
            at_edge: knee.at_edge,
        }
    }
}

impl From<&::sweep::OperatingPoint> for OperatingPoint {
    fn from(point: &::sweep::OperatingPoint) -> Self {
        OperatingPoint {
            setting: point.setting.clone(),
            // The target knows.
            window_granted: None,
            goodput: (&point.goodput).into(),
            rtt_added_seconds: point.rtt_added,
            retransmitted_ratio: point.retransmitted,
            fairness: point.fairness,
            starvation: some(&point.starvation),
        }
    }
}

impl From<&::sweep::Recommendation> for RecommendedPoint {
    fn from(recommended: &::sweep::Recommendation) -> Self {
        RecommendedPoint {
            at: (&recommended.at).into(),
            share_of_highest_ratio: recommended.share_of_highest,
            passed_over: recommended.passed_over as u64,
        }
    }
}

impl From<&::sweep::Distribution> for Distribution {
    fn from(distribution: &::sweep::Distribution) -> Self {
        let bins = distribution.frequencies.as_ref();
        let counts = bins.map_or(&[][..], |bins| &bins.counts);
        Distribution {
            spread: (&distribution.spread).into(),
            mean_ratio: distribution.mean,
            standard_deviation_ratio: distribution.deviation,
            at_most_tenth_ratio: distribution.at_most_tenth,
            bin_width_ratio: bins.map(|bins| bins.bin_width),
            bin_counts: counts.iter().map(|count| *count as u64).collect(),
            exponential: distribution.exponential.map(|fit| ExponentialFit {
                height_ratio: fit.height,
                scale_ratio: fit.scale,
                r_squared: fit.r_squared,
            }),
            logarithm: distribution.logarithm.map(|fit| LogarithmFit {
                slope: fit.slope,
                offset: fit.offset,
                r_squared: fit.r_squared,
            }),
        }
    }
}

impl From<&::sweep::Product> for Product {
    fn from(product: &::sweep::Product) -> Self {
        Product {
            product_bytes: product.bytes.round() as u64,
            streams: product.streams.clone(),
            kernel: some(&product.kernel),
            user: some(&product.user),
        }
    }
}

impl From<&::sweep::LoadFit> for LoadFit {
    fn from(load: &::sweep::LoadFit) -> Self {
        LoadFit {
            fit: (&load.fit).into(),
            reference_bits_per_second: whole(load.reference),
            load_max_ratio: load.load_max,
        }
    }
}

impl From<&::sweep::DurationFigures> for DurationFigures {
    fn from(figures: &::sweep::DurationFigures) -> Self {
        DurationFigures {
            duration_seconds: figures.duration,
            relative_goodput: (&figures.relative_goodput).into(),
        }
    }
}

impl From<&::sweep::DirectionsApart> for DirectionsApart {
    fn from(apart: &::sweep::DirectionsApart) -> Self {
        DirectionsApart {
            forward_bits_per_second: whole(apart.forward),
            reverse_bits_per_second: whole(apart.reverse),
            shift: (&apart.shift).into(),
        }
    }
}
