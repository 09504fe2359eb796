//! Metrics of an order: how far nodes of a class stand above the others.

/// Scores of nodes, and whether each is one of those that should stand above.
pub(crate) type Ranked = (f32, bool);

/// The share of pairs of a positive and a negative node in which the positive one scores higher; a tie is half a pair.
/// `None` without such a pair.
pub(crate) fn auc(scores: &mut [Ranked]) -> Option<f64> {
    scores.sort_unstable_by(|(a, _), (b, _)| a.total_cmp(b));
    // Twice the pairs, so that all are counted in whole numbers.
    let (mut negatives, mut positives, mut doubled) = (0u64, 0u64, 0u128);
    for tied in scores.chunk_by(|(a, _), (b, _)| a == b) {
        let own = tied.iter().filter(|(_, positive)| *positive).count() as u64;
        let others = tied.len() as u64 - own;
        doubled += u128::from(own) * u128::from(2 * negatives + others);
        (positives, negatives) = (positives + own, negatives + others);
    }
    let pairs = positives as f64 * negatives as f64;
    (pairs > 0.0).then(|| doubled as f64 / (2.0 * pairs))
}

/// The mean over the positive nodes of the precision among those that score no less than it. `None` without a
/// positive or without a negative node.
pub(crate) fn average_precision(scores: &mut [Ranked]) -> Option<f64> {
    scores.sort_unstable_by(|(a, _), (b, _)| b.total_cmp(a));
    let (mut seen, mut positives, mut sum) = (0, 0, 0.0);
    for tied in scores.chunk_by(|(a, _), (b, _)| a == b) {
        let own = tied.iter().filter(|(_, positive)| *positive).count();
        seen += tied.len();
        positives += own;
        sum += own as f64 * positives as f64 / seen as f64;
    }
    (positives > 0 && positives < seen).then(|| sum / positives as f64)
}

/// The threshold above which nodes are taken for positive, so that their F1 is the best; midway between two scores.
/// Of equally good ones the highest.
pub(crate) fn best_threshold(scores: &mut [Ranked]) -> f64 {
    scores.sort_unstable_by(|(a, _), (b, _)| b.total_cmp(a));
    let positives = scores.iter().filter(|(_, positive)| *positive).count();
    let (mut right, mut best, mut threshold) = (0, -1.0, 0.0);
    for k in 0..scores.len() {
        let (score, positive) = scores[k];
        right += usize::from(positive);
        let next = scores.get(k + 1).map(|(next, _)| *next);
        if next == Some(score) {
            continue;
        }
        let f1 = 2.0 * right as f64 / (k + 1 + positives) as f64;
        if f1 > best {
            best = f1;
            let below = next.map_or(f64::from(score) - 1.0, f64::from);
            threshold = 0.5 * (f64::from(score) + below);
        }
    }
    threshold
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Few distinct scores, so that there are many ties.
    fn samples() -> impl Iterator<Item = Vec<Ranked>> {
        (0..40u32).map(|seed| {
            let mut state = seed.wrapping_mul(2_654_435_761).wrapping_add(1);
            let mut next = move |n: u32| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 16) % n
            };
            let levels = 2 + seed % 20;
            (0..2 + seed as usize)
                .map(|_| (next(levels) as f32 / 3.0 - 1.0, next(3) == 0))
                .collect()
        })
    }

    #[test]
    fn auc_counts_every_pair() {
        let mut defined = 0;
        for mut scores in samples() {
            let (mut sum, mut pairs) = (0.0, 0.0);
            for (a, _) in scores.iter().filter(|(_, positive)| *positive) {
                for (b, _) in scores.iter().filter(|(_, positive)| !positive) {
                    sum += if a > b {
                        1.0
                    } else if a == b {
                        0.5
                    } else {
                        0.0
                    };
                    pairs += 1.0;
                }
            }
            match auc(&mut scores) {
                None => assert_eq!(pairs, 0.0),
                Some(found) => {
                    assert!((found - sum / pairs).abs() < 1e-12);
                    defined += 1;
                }
            }
        }
        assert!(defined > 30);
    }

    /// By its definition: at every threshold, the precision times the recall that is gained.
    #[test]
    fn average_precision_sums_over_thresholds() {
        for mut scores in samples() {
            let positives = scores.iter().filter(|(_, positive)| *positive).count() as f64;
            let mut thresholds: Vec<f32> = scores.iter().map(|(score, _)| *score).collect();
            thresholds.sort_by(|a, b| b.total_cmp(a));
            thresholds.dedup();
            let (mut sum, mut recall) = (0.0, 0.0);
            for threshold in thresholds {
                let above: Vec<&Ranked> = scores.iter().filter(|(s, _)| *s >= threshold).collect();
                let right = above.iter().filter(|(_, positive)| *positive).count() as f64;
                sum += (right / positives - recall) * right / above.len() as f64;
                recall = right / positives;
            }
            match average_precision(&mut scores) {
                None => assert!(positives == 0.0 || positives == scores.len() as f64),
                Some(found) => assert!((found - sum).abs() < 1e-12, "{found} {sum}"),
            }
        }
    }

    #[test]
    fn no_threshold_is_better_than_the_best() {
        for scores in samples().filter(|scores| scores.iter().any(|(_, positive)| *positive)) {
            let f1 = |threshold: f64| {
                let chosen = |(score, _): &&Ranked| f64::from(*score) > threshold;
                let right = scores.iter().filter(chosen).filter(|(_, positive)| *positive).count();
                let positives = scores.iter().filter(|(_, positive)| *positive).count();
                2.0 * right as f64 / (scores.iter().filter(chosen).count() + positives) as f64
            };
            let best = (-400..400).map(|k| f1(f64::from(k) / 50.0)).fold(0.0, f64::max);
            let threshold = best_threshold(&mut scores.clone());
            assert!((f1(threshold) - best).abs() < 1e-12, "{scores:?}");
        }
    }
}
