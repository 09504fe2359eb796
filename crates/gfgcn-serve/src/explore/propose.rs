//! Which node is worth labelling next.
//!
//! The least certain one is that whose two most probable classes are closest. The largest gain is that of ridge regression seen as a Gaussian
//! process: with the posterior covariance k of the scores, knowing node x takes
//!
//! ```text
//! gain(x) = Σ_u k(u, x)² / (k(x, x) + ξ),   k(u, x) = f_u·f_x − k_uT (K_TT + ξI)⁻¹ k_Tx
//! ```
//!
//! from the variances of all nodes u (Seo et al. 2000). It needs no label at all, so it is where one begins.

use crate::change::Id;
use crate::problem::Problem;
use crate::versions::Version;
use gfgcn::context::Context;
use gfgcn::driver::{Driver, Rows};
use gfgcn::linalg::{Cholesky, gram_of_rows, multiply, multiply_by_transposed};
use gfgcn::matrix::Matrix;
use gfgcn::training::Recipe;
use serde::{Deserialize, Serialize};

/// Nodes among which the largest gain is looked for.
const CANDIDATES: usize = 200;
/// Nodes whose variances count.
const COUNTED: usize = 2000;
/// Labelled nodes up to which it is worth the time.
const LABELLED: usize = 3000;
/// ξ before there is a model, relative to the mean of k(x, x).
const PENALTY: f64 = 0.1;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum By {
    Uncertainty,
    Gain,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AskNext {
    by: By,
    /// Nodes that were passed over.
    #[serde(default)]
    except: Vec<Id>,
}

#[derive(Debug, Serialize)]
pub(super) struct Proposal {
    node: String,
    by: By,
    /// How far the two most probable classes are apart, or the share of the remaining variance that goes.
    value: f64,
}

pub(super) fn next(
    version: &Version,
    ask: &AskNext,
    context: &Context,
) -> Result<Proposal, Problem> {
    let world = &version.world;
    let labelled = world.taught().map_or_else(Vec::new, |targets| targets.known());
    let mut open = vec![true; world.dataset.nodes()];
    labelled.iter().for_each(|&node| open[node] = false);
    // One that is gone meanwhile is passed over as well.
    let passed = ask.except.iter().filter_map(|id| world.names.node(&id.to_string()).ok());
    passed.for_each(|node| open[node] = false);
    let open: Vec<usize> = (0..open.len()).filter(|&node| open[node]).collect();
    if open.is_empty() {
        return Err(Problem::conflict("every node has a label or was passed over"));
    }
    // One class is always certain.
    let several = version.predictions.as_ref().filter(|p| p.classes().len() > 1);
    let proposal = |node: usize, by: By, value: f64| Proposal {
        node: world.dataset.node_id(node).into_owned(),
        by,
        value,
    };
    let Some(predictions) = several else {
        let (node, gain) = largest_gain(version, &spread(&open, CANDIDATES), &labelled, context)?;
        return Ok(proposal(node, By::Gain, gain));
    };
    let margin = |node: usize| {
        let mut p = predictions.probabilities(node);
        p.sort_unstable_by(|a, b| b.total_cmp(a));
        p[0] - p[1]
    };
    let mut by_margin: Vec<(f64, usize)> = open.iter().map(|&node| (margin(node), node)).collect();
    by_margin.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    if ask.by == By::Uncertainty || labelled.len() > LABELLED {
        let (value, node) = by_margin[0];
        return Ok(proposal(node, By::Uncertainty, value));
    }
    let candidates: Vec<usize> = by_margin.iter().take(CANDIDATES).map(|(_, node)| *node).collect();
    let (node, gain) = largest_gain(version, &candidates, &labelled, context)?;
    Ok(proposal(node, By::Gain, gain))
}

/// So many of some nodes, evenly.
fn spread(nodes: &[usize], count: usize) -> Vec<usize> {
    nodes.iter().copied().step_by(nodes.len().div_ceil(count).max(1)).collect()
}

fn largest_gain(
    version: &Version,
    candidates: &[usize],
    labelled: &[usize],
    context: &Context,
) -> Result<(usize, f64), Problem> {
    let world = &version.world;
    let Some(Recipe::Described(classifier)) = world.recipe() else {
        return Err(Problem::conflict("the model is searched for, so a gain is not known"));
    };
    let total = world.dataset.nodes();
    let counted = spread(&(0..total).collect::<Vec<_>>(), COUNTED);
    let rows = Rows::of([candidates, labelled, &counted].concat(), total);
    let designs = std::slice::from_ref(&classifier.design);
    let driver = Driver::new(&world.dataset, designs, rows, 0)?;
    let remedy = "label another node first";
    let _lease = context.memory().reserve("looking for a gain", driver.least_memory(), remedy)?;
    let filtered = driver.run(0..1, context)?.remove(0);
    let (x, u) = (filtered.of(candidates), filtered.of(&counted));
    let mut joint = multiply_by_transposed(&u, &x, context)?;
    let mut own: Vec<f64> = (0..x.rows()).map(|i| squared(x.row(i))).collect();
    let before: f64 = (0..u.rows()).map(|i| squared(u.row(i))).sum();
    let mean = before / u.rows().max(1) as f64;
    let xi = match &world.model {
        Some(model) => model.members()[0].lambda().recip(),
        None => PENALTY * mean.max(1e-12),
    };
    if !labelled.is_empty() {
        let taught = filtered.of(labelled);
        let mut gram = gram_of_rows(&taught, context)?;
        (0..gram.rows()).for_each(|i| gram[(i, i)] += xi);
        let too_small = |_| Problem::conflict("λ is too large to say what a label would gain");
        let factor = Cholesky::new(gram, context)?.map_err(too_small)?;
        let to_x = multiply_by_transposed(&taught, &x, context)?;
        let solved = factor.solve(to_x.clone(), context)?;
        let to_u = multiply_by_transposed(&u, &taught, context)?;
        let known = multiply(&to_u, &solved, context)?;
        subtract(&mut joint, &known);
        for (i, own) in own.iter_mut().enumerate() {
            *own -= (0..to_x.rows()).map(|t| to_x[(t, i)] * solved[(t, i)]).sum::<f64>();
        }
    }
    let mut best = (candidates[0], f64::NEG_INFINITY);
    for (i, &node) in candidates.iter().enumerate() {
        let sum: f64 = (0..joint.rows()).map(|k| joint[(k, i)] * joint[(k, i)]).sum();
        let gain = sum / (own[i].max(0.0) + xi);
        if gain > best.1 {
            best = (node, gain);
        }
    }
    Ok((best.0, best.1 / before.max(1e-300)))
}

fn squared(row: &[f64]) -> f64 {
    row.iter().map(|value| value * value).sum()
}

fn subtract(from: &mut Matrix<f64>, other: &Matrix<f64>) {
    from.as_mut_slice().iter_mut().zip(other.as_slice()).for_each(|(a, b)| *a -= b);
}
