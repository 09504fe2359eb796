//! gfgcn on a GPU: one product, and ridge problems whose rows are there. Times are those of the device, without sending the data.
//!
//! Beside each time, what peers need to compute the same is written to a folder as plain arrays.

use crate::data::{dense, norm, read};
use anyhow::{Context as _, Result};
use gfgcn::context::{Context, Placement, Work};
use gfgcn::data::{Dataset, Labels};
use gfgcn::device::{
    Device, DeviceInput, Gathered, Judging, LeftOutParts, Operation, ResidentRows, Sums,
    SystemInputs,
};
use gfgcn::driver::{Driver, Rows, Side};
use gfgcn::features::Features;
use gfgcn::filter::{Basis, Filter};
use gfgcn::graph::Graph;
use gfgcn::matrix::Matrix;
use gfgcn::ridge::{Selection, penalty_grid};
use gfgcn::split::{Ratio, Split};
use gfgcn::{Classifier, Ridge};
use gfgcn_cuda::Cuda;
use serde_json::json;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// Rows of the product that are compared with peers'.
const COMPARED: usize = 1000;
/// Products that are timed together.
const PRODUCTS: usize = 20;

/// The arrays of W = D̃⁻¹ (A + I).
struct Walk {
    offsets: Vec<u64>,
    neighbours: Vec<u32>,
    scale: Vec<f64>,
    outer: Vec<f64>,
}

impl Walk {
    /// Symmetric, or of the random walk itself.
    fn new(graph: &Graph, symmetric: bool) -> Self {
        let neighbours: Vec<u32> =
            (0..graph.nodes()).flat_map(|node| graph.neighbours(node)).copied().collect();
        let degrees = graph.degrees();
        let scale = degrees.iter().map(|degree| degree.recip()).collect();
        let outer = match symmetric {
            true => degrees.iter().map(|degree| degree.sqrt()).collect(),
            false => vec![1.0; degrees.len()],
        };
        Walk { offsets: graph.offsets().to_vec(), neighbours, scale, outer }
    }

    /// One polynomial.
    fn operation<'a>(&'a self, polynomial: &'a [f64]) -> Operation<'a> {
        Operation {
            key: 0,
            there: None,
            sums: Sums {
                offsets: &self.offsets,
                neighbours: &self.neighbours,
                weights: None,
                loops: 1.0,
                scale: &self.scale,
            },
            outer: &self.outer,
            basis: Basis::Powers,
            polynomials: vec![polynomial],
        }
    }
}

/// One product with columns of a known matrix.
pub(crate) fn product(data: &Path, columns: usize, folder: &Path) -> Result<()> {
    let data = read(data)?;
    let walk = Walk::new(data.graph(), false);
    let x = Matrix::from_fn(data.nodes(), columns, |i, j| ((i * 31 + j * 17) % 23) as f32 / 23.0);
    let features = Features::dense(x)?;
    write(folder, "offsets.u64", &walk.offsets)?;
    write(folder, "neighbours.u32", &walk.neighbours)?;
    let gpu = Cuda::open(0)?;
    let (session, context) = (gpu.session()?, Context::default());
    let input = DeviceInput { key: 0, features: &features };
    let rows: Vec<usize> = (0..COMPARED.min(data.nodes())).collect();
    let run = |products: usize| -> Result<(f64, Arc<dyn ResidentRows>)> {
        let mut polynomial = vec![0.0; products + 1];
        polynomial[products] = 1.0;
        let operation = walk.operation(&polynomial);
        let start = Instant::now();
        let rows =
            session.filter(&operation, input, Side::Features, Some(&rows), &context)?.remove(0);
        Ok((start.elapsed().as_secs_f64(), rows))
    };
    let once = run(1)?.1.fetch()?;
    let time = |products| best(5, || Ok(run(products)?.0));
    let seconds = (time(PRODUCTS + 1)? - time(1)?) / PRODUCTS as f64;
    let nonzeros = walk.neighbours.len() + data.nodes();
    print(json!({
        "task": "product",
        "device": gpu.name(),
        "nodes": data.nodes(),
        "nonzeros": nonzeros,
        "columns": columns,
        "seconds": seconds,
        "bytes": 4 * nonzeros * columns,
        "norm": norm(once.as_slice(), columns),
    }))
}

/// From filtered training features on the device to weights: λ given, and 25 λ with exact leave-one-out.
pub(crate) fn ridge(data: &Path, folder: &Path) -> Result<()> {
    let data = read(data)?.largest_component();
    let split = Split::stratified(data.labels(), Ratio::PAPER, 0)?;
    let (walk, context) = (Walk::new(data.graph(), true), Context::default());
    let features = Features::dense(dense(data.features()))?;
    let gpu = Cuda::open(0)?;
    let session = gpu.session()?;
    let operation = walk.operation(&[0.0, 0.0, 1.0]);
    let input = DeviceInput { key: 0, features: &features };
    let rows =
        session.filter(&operation, input, Side::Features, Some(split.train()), &context)?.remove(0);
    let targets = one_hot(&data, split.train());
    let fetched = rows.fetch()?;
    write(folder, "train.f32", fetched.as_slice())?;
    write(folder, "targets.f64", targets.as_slice())?;
    let positions: Vec<usize> = (0..fetched.rows()).collect();
    let channels = [(rows, 1.0)];
    let system = || {
        let rows =
            Gathered { channels: &channels, positions: &positions, shares: None, roots: None };
        gpu.system(SystemInputs::Resident(rows), &targets, &context)
    };
    let scale = system()?.diagonal()?.iter().sum::<f64>() / fetched.rows() as f64;
    let (xi, penalties) = (1e-3 * scale, penalty_grid(scale));
    let weights = system()?.solve(&[xi], &context)?.remove(0).context("a solution")?;
    let given = best(200, || {
        let start = Instant::now();
        system()?.solve(&[xi], &context)?;
        Ok(start.elapsed().as_secs_f64())
    })?;
    let mut parts = LeftOutParts::default();
    let leave_one_out = best(50, || {
        let start = Instant::now();
        system()?.left_out(&penalties, &context)?.fetch(0..fetched.rows(), &mut parts, &context)?;
        Ok(start.elapsed().as_secs_f64())
    })?;
    print(json!({
        "task": "ridge",
        "device": gpu.name(),
        "training_nodes": fetched.rows(),
        "columns": fetched.cols(),
        "targets": targets.cols(),
        "penalty": xi,
        "given_seconds": given,
        "leave_one_out_seconds": leave_one_out,
        "penalties": penalties.len(),
        "norm": norm(weights.as_slice(), weights.cols()),
    }))
}

/// Where the time of a fit on all nodes goes, as far as its parts can be had by themselves.
pub(crate) fn fit(data: &Path, depth: usize) -> Result<()> {
    let data = read(data)?;
    let split = Split::all_labelled(data.labels())?;
    let filter = Filter::sgc(depth)?;
    let start = Instant::now();
    let gpu = Arc::new(Cuda::open(0)?);
    let opened = start.elapsed();
    let context = Context::default().with_placement(Placement::on(gpu.clone()));
    let rows = || Rows::of(split.train().to_vec(), data.nodes());
    let plan = timed(|| Ok(Driver::new(&data, &[filter.into()], rows(), 0)?))?;
    let driver = Driver::new(&data, &[filter.into()], rows(), 0)?;
    let filtered = || {
        let filter = |context: &Context| Ok(driver.run_where_it_is(0..1, context)?.remove(0));
        context.place(Work::default(), filter)
    };
    let sent = timed(|| Ok(filtered()?))?;
    let again = timed(|| Ok(filtered()?))?;
    let rows = filtered()?;
    let channels = rows.resident().context("rows on the GPU")?;
    let positions: Vec<usize> = (0..rows.rows()).collect();
    let targets = one_hot(&data, split.train());
    let gathered = Gathered { channels, positions: &positions, shares: None, roots: None };
    let system = || gpu.system(SystemInputs::Resident(gathered), &targets, &context);
    let built = timed(|| Ok(system()?))?;
    let system = system()?;
    let scale = system.diagonal()?.iter().sum::<f64>() / rows.rows() as f64;
    let penalties = penalty_grid(scale);
    let labels = split.train().iter().map(|&node| data.labels().get(node).unwrap_or(u32::MAX));
    let (classes, zeros): (Vec<u32>, _) = (labels.collect(), vec![1e-9; targets.cols()]);
    let judging = Judging {
        classes: Some(&classes),
        means: None,
        roots: None,
        total: rows.rows() as f64,
        zeros: &zeros,
        growth: 0.0,
    };
    let judged = timed(|| Ok(system.left_out(&penalties, &context)?.judge(&judging, &context)?))?;
    let fetched = timed(|| {
        let fits = system.left_out(&penalties[12..13], &context)?;
        Ok(fits.fetch(0..rows.rows(), &mut LeftOutParts::default(), &context)?)
    })?;
    drop(system);
    let classifier = Classifier::new(filter);
    let fit = || Ok(classifier.fit(&data, &split, &context)?);
    let cold = timed(fit)?;
    let hashed = timed(|| Ok(data.clone().map_features(|x| x).fingerprint()))?;
    let warm = timed(fit)?;
    let selection = Selection::fixed(penalties[12].recip())?;
    let given = classifier.clone().with_ridge(Ridge { selection, ..Ridge::default() });
    let given = timed(|| Ok(given.fit(&data, &split, &context)?))?;
    print(json!({
        "task": "fit",
        "device": gpu.name(),
        "open_seconds": opened.as_secs_f64(),
        "plan_seconds": plan,
        "send_and_filter_seconds": sent,
        "filter_seconds": again,
        "system_seconds": built,
        "judge_left_out_seconds": judged,
        "fetch_left_out_seconds": fetched,
        "fingerprint_seconds": hashed,
        "fit_seconds": cold,
        "fit_of_known_data_seconds": warm,
        "fit_of_given_lambda_seconds": given,
    }))
}

fn one_hot(data: &Dataset, nodes: &[usize]) -> Matrix<f64> {
    let labels: &Labels = data.labels();
    let classes = data.targets().names().len();
    Matrix::from_fn(nodes.len(), classes, |i, c| f64::from(labels.get(nodes[i]) == Some(c as u32)))
}

fn timed<T>(work: impl FnOnce() -> Result<T>) -> Result<f64> {
    let start = Instant::now();
    work()?;
    Ok(start.elapsed().as_secs_f64())
}

fn best(times: usize, mut run: impl FnMut() -> Result<f64>) -> Result<f64> {
    run()?; // the first time kernels are loaded
    (0..times).try_fold(f64::INFINITY, |best, _| Ok(best.min(run()?)))
}

/// Plain numbers, as they are in memory.
fn write<T: Copy>(folder: &Path, name: &str, values: &[T]) -> Result<()> {
    // SAFETY: numbers without padding, read as the bytes they are.
    let bytes =
        unsafe { std::slice::from_raw_parts(values.as_ptr().cast::<u8>(), size_of_val(values)) };
    let path = folder.join(name);
    fs::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))
}

#[allow(clippy::print_stdout)] // what the runner reads
fn print(value: serde_json::Value) -> Result<()> {
    println!("{value}");
    Ok(())
}
