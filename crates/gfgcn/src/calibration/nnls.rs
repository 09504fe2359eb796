//! Non-negative least squares: min ‖y − Σ_c w_c p_c‖² + ρ ‖y‖² ‖w‖² over w ≥ 0, for a handful of columns.

/// The normal equations of a least-squares problem with p unknowns: sums over the rows that were added.
#[derive(Clone, Debug, Default)]
pub(crate) struct Normal {
    /// PᵀP, p × p.
    gram: Vec<f64>,
    /// Pᵀy.
    right: Vec<f64>,
    /// ‖y‖².
    squares: f64,
}

impl Normal {
    pub(crate) fn new(unknowns: usize) -> Self {
        Normal { gram: vec![0.0; unknowns * unknowns], right: vec![0.0; unknowns], squares: 0.0 }
    }

    /// Adds a row: the values of all columns, and y.
    pub(crate) fn add(&mut self, row: &[f64], y: f64) {
        let unknowns = self.right.len();
        self.squares += y * y;
        for (i, &value) in row.iter().enumerate() {
            self.right[i] += value * y;
            let sums = self.gram[i * unknowns..].iter_mut().zip(row);
            sums.for_each(|(sum, &other)| *sum += value * other);
        }
    }

    /// The equations of the maximum of a concave function, by its slope and minus its second derivatives (p × p) at some
    /// weights.
    pub(crate) fn around(weights: &[f64], slope: &[f64], curvature: Vec<f64>) -> Self {
        let rows = curvature.chunks_exact(weights.len()).zip(slope);
        let right = rows.map(|(row, slope)| {
            slope + row.iter().zip(weights).map(|(entry, weight)| entry * weight).sum::<f64>()
        });
        Normal { right: right.collect(), gram: curvature, squares: 0.0 }
    }

    /// The solution with a penalty ρ on the weights, which shares among columns that are nearly alike.
    pub(crate) fn solve(&self, penalty: f64) -> Vec<f64> {
        let mut penalised = self.clone();
        let p = self.right.len();
        (0..p).for_each(|i| penalised.gram[i * p + i] += penalty * self.squares);
        penalised.solve_unpenalised()
    }

    /// The solution, by the active-set method of Lawson and Hanson (1974): columns enter one after the other, the one
    /// with the steepest descent first, and leave where they would become negative.
    fn solve_unpenalised(&self) -> Vec<f64> {
        let p = self.right.len();
        let entry = |i: usize, j: usize| self.gram[i * p + j];
        let largest = (0..p).map(|i| entry(i, i)).fold(0.0, f64::max);
        let tolerance = 1e-10 * self.right.iter().fold(0.0, |m: f64, r| m.max(r.abs()));
        let (mut weights, mut free) = (vec![0.0; p], vec![false; p]);
        // Each column enters and leaves a few times at most; what does not settle by then is as good as settled.
        for _ in 0..4 * p {
            let slope =
                |i: usize| self.right[i] - (0..p).map(|j| entry(i, j) * weights[j]).sum::<f64>();
            let steepest = (0..p)
                .filter(|&i| !free[i] && entry(i, i) > 1e-12 * largest)
                .map(|i| (i, slope(i)))
                .filter(|&(_, slope)| slope > tolerance)
                .fold(None, |best: Option<(usize, f64)>, new| match best {
                    Some(best) if best.1 >= new.1 => Some(best),
                    _ => Some(new),
                });
            let Some((entering, _)) = steepest else { break };
            free[entering] = true;
            loop {
                let columns: Vec<usize> = (0..p).filter(|&i| free[i]).collect();
                let trial = self.unconstrained(&columns, 1e-10 * largest);
                let at = |k: usize| weights[columns[k]];
                let blocked = (0..columns.len()).filter(|&k| trial[k] <= 0.0);
                let step = blocked.map(|k| at(k) / (at(k) - trial[k])).fold(1.0, f64::min);
                for (k, &column) in columns.iter().enumerate() {
                    weights[column] += step * (trial[k] - weights[column]);
                }
                if step >= 1.0 {
                    break;
                }
                for (k, &column) in columns.iter().enumerate() {
                    if trial[k] <= 0.0 && weights[column] <= 1e-14 {
                        (weights[column], free[column]) = (0.0, false);
                    }
                }
            }
        }
        weights
    }

    /// The least-squares solution in some columns; a little is added to the diagonal, so that equal columns share.
    fn unconstrained(&self, columns: &[usize], ridge: f64) -> Vec<f64> {
        let (n, p) = (columns.len(), self.right.len());
        let mut lower = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..=i {
                let own = self.gram[columns[i] * p + columns[j]] + if i == j { ridge } else { 0.0 };
                let sum: f64 = (0..j).map(|k| lower[i * n + k] * lower[j * n + k]).sum();
                lower[i * n + j] = match i == j {
                    true => (own - sum).max(ridge).sqrt(),
                    false => (own - sum) / lower[j * n + j],
                };
            }
        }
        let mut x: Vec<f64> = columns.iter().map(|&column| self.right[column]).collect();
        for i in 0..n {
            let sum: f64 = (0..i).map(|k| lower[i * n + k] * x[k]).sum();
            x[i] = (x[i] - sum) / lower[i * n + i];
        }
        for i in (0..n).rev() {
            let sum: f64 = (i + 1..n).map(|k| lower[k * n + i] * x[k]).sum();
            x[i] = (x[i] - sum) / lower[i * n + i];
        }
        x
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A number between −1 and 1 that looks like chance.
    fn chance(seed: &mut u64) -> f64 {
        *seed =
            seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*seed >> 40) as f64 / f64::from(1 << 23) - 1.0
    }

    /// From anywhere to the top of a parabola.
    #[test]
    fn one_step_finds_the_maximum_of_a_parabola() {
        // −½ wᵀ H w + rᵀ w with H = [[2, 0.5], [0.5, 1]], whose top is where H w = r = (2.5, 1.5).
        let (from, slope) = ([3.0, 0.0], [2.5 - 6.0, 1.5 - 1.5]);
        let weights = Normal::around(&from, &slope, vec![2.0, 0.5, 0.5, 1.0]).solve(0.0);
        assert!(weights.iter().all(|w| (w - 1.0).abs() < 1e-8), "{weights:?}");
    }

    /// Whatever subset of the columns is free, no other solution is better: brute force over all subsets.
    #[test]
    fn no_subset_of_columns_does_better() {
        let mut seed = 7;
        for case in 0..60 {
            let p = 1 + case % 6;
            let rows: Vec<(Vec<f64>, f64)> = (0..12)
                .map(|_| {
                    let mut row: Vec<f64> = (0..p).map(|_| chance(&mut seed)).collect();
                    if case % 5 == 0 && p > 1 {
                        row[1] = row[0]; // twins
                    }
                    (row, chance(&mut seed))
                })
                .collect();
            let mut normal = Normal::new(p);
            rows.iter().for_each(|(row, y)| normal.add(row, *y));
            let error = |weights: &[f64]| -> f64 {
                let residual = |(row, y): &(Vec<f64>, f64)| {
                    y - row.iter().zip(weights).map(|(p, w)| p * w).sum::<f64>()
                };
                rows.iter().map(residual).map(|r| r * r).sum()
            };
            let weights = normal.solve(0.0);
            assert!(weights.iter().all(|&w| w >= 0.0), "{weights:?}");
            let mut least = f64::INFINITY;
            for subset in 0..1u32 << p {
                let columns: Vec<usize> = (0..p).filter(|i| subset >> i & 1 == 1).collect();
                let solution = normal.unconstrained(&columns, 1e-12);
                let mut all = vec![0.0; p];
                columns.iter().zip(&solution).for_each(|(&column, &w)| all[column] = w);
                if all.iter().all(|&w| w >= 0.0) {
                    least = least.min(error(&all));
                }
            }
            assert!(error(&weights) <= least + 1e-7, "{} {least}", error(&weights));
        }
    }
}
