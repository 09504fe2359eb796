//! Adam (Kingma and Ba, 2015), with weight decay as PyTorch's `Adam` has it.

use gfgcn::matrix::Matrix;
use gfgcn::simd::Simd;

const BETA_1: f64 = 0.9;
const BETA_2: f64 = 0.999;
const EPSILON: f32 = 1e-8;
/// Gradients below this count as zero.
const NEGLIGIBLE: f32 = 1e-18;

/// The running moments of the gradients of some parameters.
#[derive(Debug)]
pub(crate) struct Adam {
    learning_rate: f64,
    /// One per parameter.
    decay: Vec<f64>,
    moments: Vec<[Vec<f32>; 2]>,
    steps: i32,
}

impl Adam {
    pub(crate) fn new(learning_rate: f64, decay: Vec<f64>, sizes: &[usize]) -> Self {
        let moments = sizes.iter().map(|&size| [vec![0.0; size], vec![0.0; size]]).collect();
        Adam { learning_rate, decay, moments, steps: 0 }
    }

    /// Begins the next step, in which every parameter is updated once.
    pub(crate) fn begin_step(&mut self) {
        self.steps += 1;
    }

    /// ```text
    /// g ← gradient + decay·w
    /// m ← β₁ m + (1 − β₁) g,   v ← β₂ v + (1 − β₂) g²
    /// w ← w − rate · m/(1 − β₁ᵗ) / (√(v/(1 − β₂ᵗ)) + ε)
    /// ```
    pub(crate) fn update(&mut self, k: usize, w: &mut Matrix<f32>, gradient: &Matrix<f32>) {
        let (keep_1, keep_2) = (BETA_1 as f32, BETA_2 as f32);
        let (take_1, take_2) = ((1.0 - BETA_1) as f32, (1.0 - BETA_2) as f32);
        let decay = self.decay[k] as f32;
        let rate = (self.learning_rate / (1.0 - BETA_1.powi(self.steps))) as f32;
        let root = (1.0 - BETA_2.powi(self.steps)).sqrt().recip() as f32;
        let [first, second] = &mut self.moments[k];
        Simd::detect().run(
            #[inline(always)]
            || {
                let weights = w.as_mut_slice().iter_mut().zip(gradient.as_slice());
                for ((w, g), (m, v)) in weights.zip(first.iter_mut().zip(second.iter_mut())) {
                    let g = g + decay * *w;
                    // Its square would not be a normal number; ε is far above it anyway.
                    let g = if g.abs() < NEGLIGIBLE { 0.0 } else { g };
                    *m = keep_1 * *m + take_1 * g;
                    *v = keep_2 * *v + take_2 * g * g;
                    *w -= rate * *m / (v.sqrt() * root + EPSILON);
                }
            },
        );
    }
}
