//! The paths that explain all samples, each as likely as it does.
//!
//! Paths are drawn from the prior and held against the samples. Those that explain them badly make
//! room for copies of the others, which then move: one figure drawn anew, or all moved a little,
//! kept as often as the likelihood says (Chopin 2002, "A sequential particle filter method for
//! static models"). The likelihood counts little at first and in full at the end, so that the first
//! draw need not hit.

use crate::draw::Draw;
use crate::evidence::Evidence;
use crate::likelihood::{Residual, fit};
use crate::path::Path;
use crate::prior::Prior;

/// Paths that are drawn first, and those that are kept.
const DRAWN: usize = 2_400;
const KEPT: usize = 108;
/// The likelihood counts more from round to round, by as much as leaves this share of the paths
/// that are kept their say (effective sample size, Del Moral et al. 2012, "An adaptive sequential
/// Monte Carlo method").
const SAY: f64 = 0.5;
/// Rounds at the most.
const ROUNDS: usize = 12;
/// Moves of each path in a round.
const MOVES: usize = 6;
/// A path that explains the samples by so much less well than another, as a logarithm, is not kept.
const HOPELESS: f64 = 80.0;

/// A path, and how it explains the samples.
#[derive(Debug, Clone)]
pub struct Particle {
    /// The path.
    pub path: Path,
    log: f64,
    /// What it counts beside that, as a logarithm: less than others where it was drawn more often.
    counts: f64,
    /// What each sample showed over what the path shows.
    pub(crate) residuals: Vec<Residual>,
}

/// Paths that explain the samples, all equally likely.
#[derive(Debug, Clone)]
pub struct Posterior {
    /// The paths.
    pub particles: Vec<Particle>,
    /// What they explain.
    pub evidence: Vec<Evidence>,
}

impl Posterior {
    /// What explains `evidence`; `None` where it tells nothing.
    ///
    /// * `told`: what the buffers that kernels size by themselves offer at the most, bytes.
    pub fn of(evidence: Vec<Evidence>, told: Option<f64>, seed: u64) -> Option<Posterior> {
        let prior = Prior::of(&evidence, told)?;
        let mut draw = Draw::new(seed);
        let mut particles = drawn(&prior, &evidence, &mut draw);
        let mut counted = 0.0;
        for round in 0..ROUNDS {
            let least = (1.0 - counted) / (ROUNDS - round) as f64;
            let counts = counted + least.max(tolerable(&particles, 1.0 - counted));
            particles = resampled(&particles, counts - counted, &mut draw);
            counted = counts;
            for one in &mut particles {
                again(one, &evidence, &mut draw);
                for number in 0..MOVES {
                    step(one, &prior, &evidence, counts, number, &mut draw);
                }
            }
            if counts > 1.0 - 1e-9 {
                break;
            }
        }
        Some(Posterior {
            particles,
            evidence,
        })
    }
}

/// `None` of a path that explains the samples less well than `least`, a logarithm.
fn particle(path: Path, evidence: &[Evidence], least: f64, draw: &mut Draw) -> Option<Particle> {
    let mut log = 0.0;
    let mut residuals: Vec<Residual> = Vec::with_capacity(evidence.len());
    for seen in evidence {
        let before = evidence.iter().zip(&residuals);
        let before = before.filter(|(one, _)| one.run.is_like(&seen.run));
        let before = before.map(|(_, residual)| residual);
        let fit = fit(&path, seen, before, draw.seed());
        log += fit.log;
        if log < least {
            return None;
        }
        residuals.push(fit.residual);
    }
    Some(Particle {
        path,
        log,
        counts: 0.0,
        residuals,
    })
}

/// Paths drawn from the prior, but for those that no later round would keep.
fn drawn(prior: &Prior, evidence: &[Evidence], draw: &mut Draw) -> Vec<Particle> {
    let (mut best, mut particles) = (f64::NEG_INFINITY, Vec::new());
    for _ in 0..DRAWN {
        let (path, counts) = prior.draw(draw);
        if let Some(one) = particle(path, evidence, best - HOPELESS, draw) {
            best = one.log.max(best);
            particles.push(Particle { counts, ..one });
        }
    }
    particles
}

/// By how much more the likelihood may count, no more than `most`, until too few paths have a say.
fn tolerable(particles: &[Particle], most: f64) -> f64 {
    let have_a_say = |counts: f64| {
        let weights = weights(particles, counts);
        let (sum, squares) = weights.iter().fold((0.0, 0.0), |(sum, squares), one| {
            (sum + one, squares + one * one)
        });
        sum * sum / squares >= SAY * KEPT as f64
    };
    if have_a_say(most) {
        return most;
    }
    let (mut low, mut high) = (0.0, most);
    for _ in 0..20 {
        let middle = (low + high) / 2.0;
        match have_a_say(middle) {
            true => low = middle,
            false => high = middle,
        }
    }
    low
}

/// How much each path has to say.
fn weights(particles: &[Particle], counts: f64) -> Vec<f64> {
    let logs = particles.iter().map(|one| one.log);
    let best = logs.fold(f64::NEG_INFINITY, f64::max);
    let weight = |one: &Particle| (counts * (one.log - best) + one.counts).exp();
    particles.iter().map(weight).collect()
}

/// As many as are kept, drawn by how well they explain (systematic resampling).
fn resampled(particles: &[Particle], counts: f64, draw: &mut Draw) -> Vec<Particle> {
    let weights = weights(particles, counts);
    let step = weights.iter().sum::<f64>() / KEPT as f64;
    let mut at = step * draw.uniform();
    let (mut sum, mut kept) = (0.0, Vec::with_capacity(KEPT));
    for (one, weight) in particles.iter().zip(weights) {
        sum += weight;
        while at < sum && kept.len() < KEPT {
            kept.push(Particle {
                counts: 0.0,
                ..one.clone()
            });
            at += step;
        }
    }
    kept
}

/// Holds a path against the samples with other chances, so that a lucky draw does not keep it.
fn again(one: &mut Particle, evidence: &[Evidence], draw: &mut Draw) {
    if let Some(drawn) = particle(one.path, evidence, f64::NEG_INFINITY, draw) {
        *one = drawn;
    }
}

fn step(
    one: &mut Particle,
    prior: &Prior,
    evidence: &[Evidence],
    counts: f64,
    number: usize,
    draw: &mut Draw,
) {
    let path = match number % 2 {
        0 => prior.nudge(&one.path, draw),
        _ => prior.redraw(&one.path, draw),
    };
    let least = one.log + (1.0 - draw.uniform()).ln() / counts;
    if let Some(moved) = particle(path, evidence, least, draw) {
        *one = moved;
    }
}
