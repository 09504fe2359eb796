//! Theorem 1, drawn: how the scale of the zero-centred filtered features falls with depth.

use crate::report::{Axis, Figure, Panel, Point, Scale, Series, Style};
use crate::subject::{DEPTHS, Model, Subject};
use gfgcn::context::Context;
use gfgcn::driver::{Driver, Rows};
use gfgcn::filter::{DEFAULT_TAU, DEFAULT_TIME, Filter, MAX_DEPTH};
use gfgcn::graph::{Normalization, Operator};
use gfgcn::matrix::Matrix;
use gfgcn::{Design, Result};

/// ‖F − mean of its rows‖ relative to that of X, by depth, for both normalisations.
pub(crate) fn figure(subject: &Subject, context: &Context) -> Result<Figure> {
    let panels = Operator::PAPERS
        .into_iter()
        .map(|operator| panel(subject, &operator, context))
        .collect::<Result<Vec<Panel>>>()?;
    Ok(Figure {
        id: "scale".into(),
        title: "Scale of the zero-centred features by depth".into(),
        text: format!(
            "{}: the Frobenius norm of F less the mean of its rows, relative to that of X; dashed lines are the limits \
             for K → ∞. With row normalisation these are the limits of the paper's Theorem 1: 0 for SGC, which no \
             logarithmic axis can show, τ = {DEFAULT_TAU} for SSGC, and the heat kernel at T = {DEFAULT_TIME} for DGC. \
             With symmetric normalisation SGC and SSGC have small limits other than these.",
            subject.which.title()
        ),
        panels,
    })
}

fn panel(subject: &Subject, operator: &Operator, context: &Context) -> Result<Panel> {
    let features = subject.dataset.features();
    let mut x = Matrix::zeros(features.rows(), features.cols());
    for i in 0..features.rows() {
        features.for_each_in_row(i, |j, value| x[(i, j)] = f64::from(value));
    }
    let unit = centred_norm(&x);
    // Every model at every depth, and what is as good as the heat kernel: they differ by T²/2K.
    let curves = Model::LINEAR.iter().flat_map(|model| DEPTHS.map(|depth| model.filter(depth)));
    let filters: Vec<Filter> =
        curves.flatten().chain([Filter::dgc(MAX_DEPTH, DEFAULT_TIME)?]).collect();
    let scales = scales(subject, operator, &filters, context)?;
    let degrees = subject.dataset.graph().degrees();
    let mut series = Vec::new();
    for (model, scales_of_model) in Model::LINEAR.into_iter().zip(scales.chunks(DEPTHS.len())) {
        let points = DEPTHS.iter().zip(scales_of_model);
        let points =
            points.map(|(&depth, y)| Point { x: depth as f64, y: y / unit, error: None }).collect();
        series.push(Series { name: model.name().into(), style: Style::Dots, points });
        let limit = match model {
            Model::DGC => scales[scales.len() - 1] / unit,
            Model::SSGC => centred_norm(&limit(&degrees, operator, &x, DEFAULT_TAU)) / unit,
            _ => centred_norm(&limit(&degrees, operator, &x, 0.0)) / unit,
        };
        // Rounding leaves a little of what is zero.
        if limit > 1e-9 {
            let ends = [DEPTHS[0], DEPTHS[DEPTHS.len() - 1]];
            let points = ends.map(|x| Point { x: x as f64, y: limit, error: None }).to_vec();
            series.push(Series {
                name: format!("{} as K → ∞", model.name()),
                style: Style::Dashed,
                points,
            });
        }
    }
    Ok(Panel {
        title: match operator.normalization {
            Normalization::Symmetric => "symmetric normalisation",
            _ => "row normalisation",
        }
        .into(),
        x: Axis { label: "depth K".into(), scale: Scale::Powers },
        y: Axis { label: "relative scale".into(), scale: Scale::Logarithmic },
        series,
    })
}

/// ‖F − mean of its rows‖ for each filter, from one pass over the graph.
fn scales(
    subject: &Subject,
    operator: &Operator,
    filters: &[Filter],
    context: &Context,
) -> Result<Vec<f64>> {
    let designs: Vec<Design> = filters
        .iter()
        .map(|&filter| Design::from(filter).with_operator(operator.clone()))
        .collect();
    let driver = Driver::new(&subject.dataset, &designs, Rows::All, 0)?;
    let mut scales = Vec::with_capacity(filters.len());
    for pass in driver.passes(context.memory().free() / 2) {
        let filtered = driver.run(pass, context)?;
        scales.extend(filtered.iter().map(|f| centred_norm(&f.to_matrix().to_f64())));
    }
    Ok(scales)
}

/// τ X + (1 − τ) Â^∞ X for a connected graph with degrees D̃: the largest eigenvalue of Â is 1, with one eigenvector.
fn limit(degrees: &[f64], operator: &Operator, x: &Matrix<f64>, tau: f64) -> Matrix<f64> {
    let total: f64 = degrees.iter().sum();
    // Â^∞ = right · leftᵀ.
    let (right, left): (Vec<f64>, Vec<f64>) = degrees
        .iter()
        .map(|degree| match operator.normalization {
            Normalization::Symmetric => (degree.sqrt(), degree.sqrt() / total),
            _ => (1.0, degree / total),
        })
        .unzip();
    let mut mean = vec![0.0; x.cols()];
    for (i, weight) in left.iter().enumerate() {
        mean.iter_mut().zip(x.row(i)).for_each(|(mean, x)| *mean += weight * x);
    }
    Matrix::from_fn(x.rows(), x.cols(), |i, j| tau * x[(i, j)] + (1.0 - tau) * right[i] * mean[j])
}

fn centred_norm(f: &Matrix<f64>) -> f64 {
    let means = f.column_means();
    let squares = (0..f.rows()).map(|i| {
        let row = f.row(i).iter().zip(&means);
        row.map(|(value, mean)| (value - mean).powi(2)).sum::<f64>()
    });
    squares.sum::<f64>().sqrt()
}
