//! Random numbers: initial weights from a stream, dropout from a hash.
//!
//! Whether an entry is dropped is a function of the step's key and the entry's place alone. So no
//! mask is stored, the backward pass asks again, and threads cannot change the outcome.

use gfgcn::matrix::Matrix;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A matrix with entries drawn evenly from −bound to bound.
pub(crate) fn uniform(
    rows: usize,
    cols: usize,
    bound: f64,
    random: &mut ChaCha8Rng,
) -> Matrix<f32> {
    Matrix::from_fn(rows, cols, |_, _| {
        let unit = (f64::from(random.next_u32()) + 0.5) / (f64::from(u32::MAX) + 1.0);
        (bound * (2.0 * unit - 1.0)) as f32
    })
}

/// The stream of a run's initial weights.
pub(crate) fn initial_weights(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// What the dropouts of a run, of an epoch, of a step are derived from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key(u64);

impl Key {
    pub(crate) fn of_run(seed: u64) -> Self {
        Key(mix(seed))
    }

    /// The key of the `n`-th part.
    pub(crate) fn part(self, n: u64) -> Self {
        Key(mix(self.0.wrapping_add((n + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15))))
    }
}

/// SplitMix64's finaliser.
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Dropout: every entry is set to zero with some probability, and otherwise scaled so that its
/// expectation stays the same.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dropout {
    key: u64,
    /// Entries with a hash below this are dropped.
    threshold: u32,
    scale: f32,
}

impl Dropout {
    /// `rate` is from 0 to below 1.
    pub(crate) fn new(rate: f64, key: Key) -> Self {
        let threshold = (rate * (f64::from(u32::MAX) + 1.0)) as u32;
        let kept = 1.0 - f64::from(threshold) / (f64::from(u32::MAX) + 1.0);
        Dropout { key: key.0, threshold, scale: kept.recip() as f32 }
    }

    /// What the entry at a place is multiplied by.
    #[inline(always)]
    pub(crate) fn factor(self, place: usize) -> f32 {
        // Two rounds of a 32-bit hash, half of the key before each: vectors of them are cheap.
        let mut x = (place as u32) ^ (self.key as u32);
        x = (x ^ (x >> 16)).wrapping_mul(0x7FEB_352D);
        x = (x ^ (x >> 15)).wrapping_add((self.key >> 32) as u32).wrapping_mul(0x846C_A68B);
        x ^= x >> 16;
        if x >= self.threshold { self.scale } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropout_drops_its_share_and_keeps_the_mean() {
        let n = 200_000;
        for rate in [0.0, 0.1, 0.5, 0.6, 0.9] {
            let dropout = Dropout::new(rate, Key::of_run(3).part(5));
            let factors: Vec<f64> = (0..n).map(|k| f64::from(dropout.factor(k))).collect();
            let dropped = factors.iter().filter(|&&f| f == 0.0).count() as f64 / n as f64;
            let spread = 4.0 * (rate * (1.0 - rate) / n as f64).sqrt();
            assert!((dropped - rate).abs() <= spread, "rate {rate}: {dropped}");
            let mean = factors.iter().sum::<f64>() / n as f64;
            assert!((mean - 1.0).abs() <= 1e-6 + spread / (1.0 - rate), "rate {rate}: {mean}");
        }
    }

    /// Neighbouring places, epochs and seeds have nothing to do with each other.
    #[test]
    fn dropouts_are_independent() {
        let n = 100_000;
        let of = |seed: u64, epoch: u64| Dropout::new(0.5, Key::of_run(seed).part(epoch));
        let agree = |a: Dropout, b: Dropout, shift: usize| {
            (0..n).filter(|&k| a.factor(k) == b.factor(k + shift)).count() as f64 / n as f64
        };
        let pairs = [
            (of(0, 0), of(0, 1), 0),
            (of(0, 0), of(1, 0), 0),
            (of(0, 0), of(0, 0), 1),
            (of(0, 0), of(0, 0), 16),
            (of(7, 3), of(7, 3), 1 << 12),
        ];
        for (k, (a, b, shift)) in pairs.into_iter().enumerate() {
            let share = agree(a, b, shift);
            assert!((share - 0.5).abs() < 0.01, "pair {k}: {share}");
        }
    }

    #[test]
    fn initial_weights_fill_their_range() {
        let weights = uniform(100, 50, 0.3, &mut initial_weights(1));
        let largest = weights.as_slice().iter().fold(0.0_f32, |m, w| m.max(w.abs()));
        assert!(largest <= 0.3 && largest > 0.29);
        let mean = weights.as_slice().iter().sum::<f32>() / 5000.0;
        assert!(mean.abs() < 4.0 * 0.3 / (3.0_f32 * 5000.0).sqrt(), "{mean}");
    }
}
