//! Densities of many numbers, as curves.

/// Points of a curve.
const POINTS: usize = 241;

/// Gaussian kernel density estimates of several sets of numbers on one grid, which covers the middle
/// `1 − 2·tail` of the widest set on both sides of zero. Each has Silverman's bandwidth.
///
/// Sets without any spread, or without numbers, have no curve.
pub(crate) fn densities(sets: &[Vec<f64>], tail: f64) -> Vec<Vec<(f64, f64)>> {
    let reach = sets.iter().map(|set| quantile_of_sizes(set, 1.0 - 2.0 * tail)).fold(0.0, f64::max);
    sets.iter().map(|set| density(set, reach)).collect()
}

fn density(set: &[f64], reach: f64) -> Vec<(f64, f64)> {
    let n = set.len() as f64;
    let mean = set.iter().sum::<f64>() / n;
    let spread = (set.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n).sqrt();
    let width = 1.06 * spread * n.powf(-0.2);
    if !(width > 0.0 && reach > 0.0) {
        return Vec::new();
    }
    let norm = (n * width * (2.0 * std::f64::consts::PI).sqrt()).recip();
    (0..POINTS)
        .map(|k| {
            let x = reach * (2.0 * k as f64 / (POINTS - 1) as f64 - 1.0);
            let sum: f64 = set.iter().map(|v| (-0.5 * ((x - v) / width).powi(2)).exp()).sum();
            (x, norm * sum)
        })
        .collect()
}

/// The size below which a share of the numbers is.
fn quantile_of_sizes(set: &[f64], share: f64) -> f64 {
    let mut sizes: Vec<f64> = set.iter().map(|x| x.abs()).collect();
    sizes.sort_by(f64::total_cmp);
    let place = (share * (sizes.len() as f64 - 1.0)).max(0.0) as usize;
    sizes.get(place).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_density_has_area_one_and_its_peak_where_the_numbers_are() {
        let numbers: Vec<f64> =
            (0..4000).map(|k| 0.3 + 0.1 * ((k * 37 % 101) as f64 / 50.0 - 1.0)).collect();
        let wide: Vec<f64> = (0..4000).map(|k| (k * 53 % 1999) as f64 / 1000.0 - 1.0).collect();
        let curves = densities(&[numbers, wide, vec![0.0; 9], vec![]], 0.0);
        for curve in &curves[..2] {
            let step = curve[1].0 - curve[0].0;
            let area: f64 = curve.iter().map(|(_, y)| y * step).sum();
            assert!((area - 1.0).abs() < 0.06, "{area}");
        }
        let peak = curves[0].iter().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
        assert!((peak.0 - 0.3).abs() < 0.1, "{peak:?}");
        assert!(curves[2].is_empty() && curves[3].is_empty());
    }
}
