//! Many models on many splits, and what is kept of them on disk.

mod real;

use gfgcn::context::{Context, Memory, Observer, Progress};
use gfgcn::data::{Dataset, Labels};
use gfgcn::features::Features;
use gfgcn::filter::{Filter, Tolerance};
use gfgcn::graph::Normalization;
use gfgcn::matrix::Matrix;
use gfgcn::split::Split;
use gfgcn_baselines::{Baseline, Cache, Comparison, Gcn, ModelRuns, Run, Training};
use real::{bundled, splits};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts the epochs that are reported.
#[derive(Default)]
struct Epochs(AtomicUsize);

impl Observer for Epochs {
    fn begin(&self, _: &str, _: u64) {}
    fn advance(&self, steps: u64) {
        self.0.fetch_add(steps as usize, Ordering::Relaxed);
    }
}

const EPOCHS: usize = 4;

fn comparison<'a>(dataset: &'a Dataset, splits: &[Split]) -> Comparison<'a> {
    Comparison {
        dataset,
        models: vec![
            Baseline::Gcn(Gcn::new(2)),
            Baseline::logistic(Filter::ssgc(4, 0.05).unwrap()),
        ],
        splits: splits.to_vec(),
        seed: 3,
        training: Training { epochs: EPOCHS, ..Training::default() },
    }
}

/// What a run computed, without its times.
fn results(outcomes: &[ModelRuns]) -> Vec<Vec<(f64, Vec<f64>)>> {
    let of_run = |run: &Run| (run.accuracy, run.losses.clone());
    outcomes.iter().map(|outcome| outcome.runs.iter().map(of_run).collect()).collect()
}

/// Runs what is missing; also the number of epochs that were trained.
fn run(comparison: &Comparison<'_>, cache: Option<&Cache>) -> (Vec<ModelRuns>, usize) {
    run_within(u64::MAX, comparison, cache)
}

/// As [`run`], with so much memory.
fn run_within(
    memory: u64,
    comparison: &Comparison<'_>,
    cache: Option<&Cache>,
) -> (Vec<ModelRuns>, usize) {
    let epochs = Arc::new(Epochs::default());
    let known = comparison.known(cache);
    let missing = known.missing();
    let context = Context::default()
        .with_memory(Memory::limited(memory))
        .with_progress(Progress::told(epochs.clone()));
    let outcomes = comparison.run(known, cache, &context).unwrap();
    let epochs = epochs.0.load(Ordering::Relaxed);
    assert_eq!(epochs, missing * EPOCHS);
    (outcomes, epochs)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn runs_do_not_depend_on_how_many_go_on_at_a_time() {
    let data = bundled("cora");
    let splits = splits(&data, 3);
    let on = |threads: usize, memory: u64| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| results(&run_within(memory, &comparison(&data, &splits), None).0))
    };
    let alone = on(1, 1 << 30);
    assert_eq!(alone, on(2, 1 << 30));
    assert_eq!(alone, on(4, 1 << 30));
    assert_eq!(alone, on(4, 24 << 20), "one at a time, on all threads");
}

#[test]
fn finished_runs_are_not_trained_again() {
    let data = bundled("cora");
    let splits = splits(&data, 3);
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::new(folder.path().join("deep").join("runs"), "test 1");
    let two = comparison(&data, &splits[..2]);
    let (first, trained) = run(&two, Some(&cache));
    assert_eq!(trained, 4 * EPOCHS);
    assert!(first.iter().all(|outcome| outcome.known == 0));
    let (second, trained) = run(&two, Some(&cache));
    assert_eq!(trained, 0);
    assert!(second.iter().all(|outcome| outcome.known == 2));
    assert_eq!(results(&first), results(&second));
    // One split more: only its runs are new.
    let (third, trained) = run(&comparison(&data, &splits), Some(&cache));
    assert_eq!(trained, 2 * EPOCHS);
    assert_eq!(results(&third), results(&run(&comparison(&data, &splits), None).0));
    assert!(cache.take_problem().is_none());
}

/// Nothing that the result depends on may be forgotten in the key.
#[test]
fn whatever_changes_the_result_is_trained_anew() {
    let data = bundled("cora");
    let splits = splits(&data, 2);
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::new(folder.path(), "test 1");
    let base = comparison(&data, &splits[..1]);
    run(&base, Some(&cache));
    assert_eq!(base.known(Some(&cache)).missing(), 0);
    let missing = |comparison: &Comparison<'_>| comparison.known(Some(&cache)).missing();
    let with = |change: &dyn Fn(&mut Training)| {
        let mut training = base.training;
        change(&mut training);
        missing(&Comparison { training, ..base.clone() })
    };
    assert_eq!(with(&|t| t.epochs += 1), 2);
    assert_eq!(with(&|t| t.learning_rate = Some(0.02)), 2);
    assert_eq!(with(&|t| t.weight_decay = Some(0.0)), 2);
    assert_eq!(with(&|t| t.patience = Some(3)), 2);
    assert_eq!(with(&|t| t.rows = gfgcn::RowScaling::Sum), 2);
    assert_eq!(with(&|t| t.tolerance = Tolerance::new(1e-5).unwrap()), 2);
    assert_eq!(with(&|t| t.normalization = Normalization::Row), 2);
    assert_eq!(missing(&Comparison { seed: 4, ..base.clone() }), 2);
    assert_eq!(missing(&Comparison { splits: splits[1..].to_vec(), ..base.clone() }), 2);
    let other = Baseline::Gcn(Gcn { dropout: 0.4, ..Gcn::new(2) });
    assert_eq!(missing(&Comparison { models: vec![other], ..base.clone() }), 1);
    let normalised = data.clone().map_features(|features| features.row_normalized());
    assert_eq!(missing(&Comparison { dataset: &normalised, ..base.clone() }), 2);
    // The same to the fingerprint, but dropout and initial weights fall on other places.
    let Features::Sparse(x) = data.features() else { panic!("Cora is sparse") };
    let mut dense = Matrix::zeros(x.rows(), x.cols());
    for i in 0..x.rows() {
        x.row(i).0.iter().zip(x.row(i).1).for_each(|(&j, &v)| dense[(i, j as usize)] = v);
    }
    let dense = data.clone().map_features(|_| Features::dense(dense).unwrap());
    assert_eq!(missing(&Comparison { dataset: &dense, ..base.clone() }), 2);
    let classes = data.labels().classes();
    let turned: Vec<String> = classes.iter().rev().cloned().collect();
    let last = classes.len() as i64 - 1;
    let ids: Vec<i64> =
        data.labels().as_slice().iter().map(|c| c.map_or(-1, |c| last - i64::from(c))).collect();
    let labels = Labels::from_ids(&ids, Some(&turned)).unwrap();
    let turned =
        Dataset::new(data.name(), data.graph().clone(), data.features().clone(), labels).unwrap();
    assert_eq!(turned.fingerprint(), data.fingerprint());
    assert_eq!(missing(&Comparison { dataset: &turned, ..base.clone() }), 2);
    assert_eq!(base.known(Some(&Cache::new(folder.path(), "test 2"))).missing(), 2);
}

#[test]
fn a_damaged_file_is_not_trusted() {
    let data = bundled("cora");
    let splits = splits(&data, 1);
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::new(folder.path(), "test 1");
    let comparison =
        Comparison { models: vec![Baseline::Gcn(Gcn::new(2))], ..comparison(&data, &splits) };
    let (expected, _) = run(&comparison, Some(&cache));
    let [file] = files(folder.path()).try_into().unwrap();
    let sound = fs::read(&file).unwrap();
    let missing = || comparison.known(Some(&cache)).missing();
    for position in 0..sound.len() {
        let mut damaged = sound.clone();
        damaged[position] ^= 1;
        fs::write(&file, &damaged).unwrap();
        assert_eq!(missing(), 1, "bit 0 of byte {position} flipped");
    }
    for length in [0, 1, sound.len() / 2, sound.len() - 1] {
        fs::write(&file, &sound[..length]).unwrap();
        assert_eq!(missing(), 1, "cut to {length} bytes");
    }
    fs::write(&file, b"{\"key\":\"\",\"run\":\"{}\",\"sha256\":\"\"}").unwrap();
    assert_eq!(missing(), 1);
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    assert_eq!(missing(), 1, "a folder in its place");
    fs::remove_dir(&file).unwrap();
    fs::write(&file, b"nonsense").unwrap();
    let (again, _) = run(&comparison, Some(&cache));
    assert_eq!(results(&again), results(&expected));
    assert_eq!(missing(), 0, "written anew");
}

#[test]
fn a_cache_that_cannot_be_written_loses_no_result() {
    let data = bundled("cora");
    let splits = splits(&data, 1);
    let folder = tempfile::tempdir().unwrap();
    let blocked = folder.path().join("file");
    fs::write(&blocked, "").unwrap();
    let cache = Cache::new(blocked.join("runs"), "test 1");
    let comparison = comparison(&data, &splits);
    let (outcomes, _) = run(&comparison, Some(&cache));
    assert_eq!(results(&outcomes), results(&run(&comparison, None).0));
    let problem = cache.take_problem().unwrap();
    assert!(problem.to_string().contains("cannot write"), "{problem}");
}

#[test]
fn clearing_deletes_runs_and_nothing_else() {
    let data = bundled("cora");
    let splits = splits(&data, 1);
    let folder = tempfile::tempdir().unwrap();
    run(&comparison(&data, &splits), Some(&Cache::new(folder.path(), "test 1")));
    let hash = "a".repeat(64);
    let others =
        ["notes.txt", "0123.run", &format!("{hash}.json"), &format!(".{hash}.run.partial~")];
    for other in others {
        fs::write(folder.path().join(other), "mine").unwrap();
    }
    fs::create_dir(folder.path().join(format!("{hash}.run"))).unwrap();
    fs::write(folder.path().join(format!(".{hash}.run1b2c.partial")), "half a run").unwrap();
    assert_eq!(Cache::clear(folder.path()).unwrap(), 2);
    assert_eq!(files(folder.path()).len(), others.len() + 1, "the leftover is gone");
    assert_eq!(Cache::clear(folder.path()).unwrap(), 0);
    assert_eq!(Cache::clear(&folder.path().join("nowhere")).unwrap(), 0);
}

/// The name of the sources is that of this very build, and nothing else: 64 digits.
#[test]
fn sources_have_a_name() {
    let name = gfgcn_baselines::SOURCES;
    assert!(name.len() == 64 && name.bytes().all(|b| b.is_ascii_hexdigit()), "{name}");
}

#[test]
fn an_estimate_is_about_what_is_missing() {
    let data = bundled("cora");
    let splits = splits(&data, 2);
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::new(folder.path(), "test 1");
    let comparison = comparison(&data, &splits);
    assert!(
        comparison.estimate(&comparison.known(Some(&cache)), &Context::default()).as_nanos() > 0
    );
    let impatient = Training { patience: Some(1), ..comparison.training };
    let impatient = Comparison { training: impatient, ..comparison.clone() };
    assert!(impatient.estimate(&impatient.known(None), &Context::default()).as_nanos() > 0);
    run(&comparison, Some(&cache));
    assert_eq!(
        comparison.estimate(&comparison.known(Some(&cache)), &Context::default()).as_nanos(),
        0
    );
}

#[test]
fn a_split_without_test_nodes_is_refused() {
    let data = bundled("cora");
    let split = Split::new(data.nodes(), vec![0, 1], vec![], vec![]).unwrap();
    let comparison = comparison(&data, &[split]);
    let error = comparison.run(comparison.known(None), None, &Context::default()).unwrap_err();
    assert!(error.to_string().contains("no labelled test node"), "{error}");
}
