//! What goes wrong is said, and nothing is lost.

use super::gpu;
use gfgcn::context::{Context, Placement};
use gfgcn::device::{
    Device, DeviceInput, LeftOutFits, Operation, ResidentRows, Session, System, SystemInputs,
};
use gfgcn::driver::Side;
use gfgcn::evaluation::Evaluation;
use gfgcn::filter::Filter;
use gfgcn::matrix::Matrix;
use gfgcn::tune::Search;
use gfgcn::{Classifier, Error, Result};
use gfgcn_cuda::{Cuda, devices};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

#[test]
fn a_number_that_is_not_there_is_named_with_those_that_are() {
    if gpu().is_none() {
        return;
    }
    let error = Cuda::open(99).unwrap_err().to_string();
    assert!(error.starts_with("cuda:99: it is not there") && error.contains("cuda:0"), "{error}");
}

#[test]
fn every_device_that_is_listed_can_be_opened() {
    if gpu().is_none() {
        return;
    }
    for found in devices().unwrap() {
        println!("{found:?}");
        assert!(found.memory.1 > 1 << 30 && found.memory.0 <= found.memory.1);
        assert_eq!(Cuda::open(found.number).is_ok(), found.unusable.is_none());
    }
}

/// A GPU that is lost after so many pieces of work.
#[derive(Debug)]
struct Dying<T: ?Sized> {
    inner: Arc<T>,
    life: Arc<AtomicUsize>,
}

impl<T: ?Sized> Dying<T> {
    fn live(&self) -> Result<()> {
        let left = |left: usize| left.checked_sub(1);
        match self.life.fetch_update(Ordering::Relaxed, Ordering::Relaxed, left) {
            Ok(_) => Ok(()),
            Err(_) => Err(Error::Device { device: "cuda:0".into(), problem: "lost".into() }),
        }
    }

    fn with<U: ?Sized>(&self, inner: Arc<U>) -> Dying<U> {
        Dying { inner, life: self.life.clone() }
    }
}

impl Device for Dying<dyn Device> {
    fn name(&self) -> String {
        self.inner.name()
    }

    fn session(&self) -> Result<Arc<dyn Session>> {
        self.live()?;
        Ok(Arc::new(self.with(self.inner.session()?)))
    }

    fn system(
        &self,
        inputs: SystemInputs<'_>,
        targets: &Matrix<f64>,
        context: &Context,
    ) -> Result<Arc<dyn System>> {
        self.live()?;
        Ok(Arc::new(self.with(self.inner.system(inputs, targets, context)?)))
    }
}

impl Session for Dying<dyn Session> {
    fn filter(
        &self,
        operation: &Operation<'_>,
        input: DeviceInput<'_>,
        side: Side,
        nodes: Option<&[usize]>,
        context: &Context,
    ) -> Result<Vec<Arc<dyn ResidentRows>>> {
        self.live()?;
        self.inner.filter(operation, input, side, nodes, context)
    }

    fn scores(
        &self,
        operation: &Operation<'_>,
        input: DeviceInput<'_>,
        weights: &Matrix<f64>,
        context: &Context,
    ) -> Result<Matrix<f64>> {
        self.live()?;
        self.inner.scores(operation, input, weights, context)
    }
}

impl System for Dying<dyn System> {
    fn diagonal(&self) -> Result<Vec<f64>> {
        self.inner.diagonal()
    }

    fn means(&self) -> Option<&[f64]> {
        self.inner.means()
    }

    fn solve(&self, penalties: &[f64], context: &Context) -> Result<Vec<Option<Matrix<f64>>>> {
        self.live()?;
        self.inner.solve(penalties, context)
    }

    fn penalties_at_once(&self) -> Result<usize> {
        self.inner.penalties_at_once()
    }

    fn left_out(&self, penalties: &[f64], context: &Context) -> Result<Box<dyn LeftOutFits + '_>> {
        self.live()?;
        self.inner.left_out(penalties, context)
    }

    fn transposed_times(&self, v: &Matrix<f64>, context: &Context) -> Result<Matrix<f64>> {
        self.live()?;
        self.inner.transposed_times(v, context)
    }
}

/// Fitting, evaluating and searching, with a GPU that is lost after every number of steps: an error where it was asked for,
/// and otherwise what the processor says from the start.
#[test]
fn a_gpu_that_is_lost_in_the_middle_loses_nothing() {
    let Ok(gpu) = Cuda::open(0) else {
        gpu(); // says why it is skipped
        return;
    };
    let data = gfgcn_datasets::open("cora".as_ref(), None, &Context::default()).unwrap();
    let split = data.split().unwrap().clone();
    type Work<'a> = Box<dyn Fn(&Context) -> Result<Vec<f64>> + 'a>;
    let fit: Work<'_> = Box::new(|context| {
        let model = Classifier::new(Filter::ssgc(8, 0.05)?).fit(&data, &split, context)?;
        Ok(model.predict(&data, context)?.into_targets().into_vec())
    });
    let evaluate: Work<'_> = Box::new(|context| {
        let designs = vec![Filter::sgc(2)?.into(), Filter::dgc(16, 5.27)?.into()];
        let splits = vec![split.clone()];
        let all = Evaluation { designs, splits, ..Evaluation::default() }.run(&data, context)?;
        Ok(all.iter().flat_map(|evaluated| evaluated.accuracies.clone()).collect())
    });
    let search: Work<'_> = Box::new(|context| {
        let tuned = Search::default().run(&data, &split, context)?;
        Ok(tuned.model.predict(&data, context)?.into_targets().into_vec())
    });
    for (name, work, steps) in
        [("fit", fit, 12), ("evaluate", evaluate, 24), ("search", search, 60)]
    {
        let here = work(&Context::default()).unwrap();
        let there = work(&Context::default().with_placement(Placement::on(Arc::new(gpu.clone()))));
        let there = there.unwrap();
        let mut lost = 0;
        for life in (0..steps).chain([1_000_000]) {
            let dying = || -> Arc<dyn Device> {
                let inner: Arc<dyn Device> = Arc::new(gpu.clone());
                Arc::new(Dying { inner, life: Arc::new(AtomicUsize::new(life)) })
            };
            let asked = Context::default().with_placement(Placement::on(dying()));
            match work(&asked) {
                Ok(found) => assert_eq!(found, there, "{name}, {life} steps"),
                Err(error) => assert!(matches!(error, Error::Device { .. }), "{name}: {error}"),
            }
            let device = dying();
            let open = move || Ok(device.clone());
            let auto = Placement::where_the_data_are(Box::new(open));
            let context = Context::default().with_placement(auto);
            let found = work(&context).unwrap();
            match context.placement().trouble() {
                None => assert_eq!(found, there, "{name}, {life} steps"),
                Some(trouble) => {
                    lost += 1;
                    assert!(trouble.contains("lost"), "{trouble}");
                    // A model that was fitted there may be applied here.
                    let off = found.iter().zip(&here).map(|(a, b)| (a - b).abs());
                    let off = off.fold(0.0, f64::max);
                    assert!(off < 1e-4, "{name}, {life} steps: {off:e}");
                }
            }
        }
        println!("{name}: lost {lost} times");
        assert!(lost > 2, "{name}");
    }
}
