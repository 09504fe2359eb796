//! Stores, made from arrays piece by piece.

use crate::arrays::Indices;
use crate::errors::raise;
use crate::targets::GivenTargets;
use crate::work::{self, Workers};
use gfgcn::Error;
use gfgcn::context::Context;
use gfgcn::split::Split;
use gfgcn_data::store::{self, EdgeWriter, FeatureWriter};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// A store that is being written: edges, then rows of features, then the rest.
#[pyclass(frozen, module = "gfgcn._gfgcn")]
pub(crate) struct StoreWriter(Mutex<Option<State>>);

struct State {
    nodes: usize,
    store: store::StoreWriter,
    edges: Option<EdgeWriter>,
    features: Option<FeatureWriter>,
}

impl StoreWriter {
    fn with<R>(&self, work: impl FnOnce(&mut State) -> gfgcn::Result<R>) -> PyResult<R> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let state = state.as_mut().ok_or_else(|| raise(finished()))?;
        work(state).map_err(raise)
    }
}

fn finished() -> Error {
    Error::Data("the store is finished already".into())
}

#[pymethods]
impl StoreWriter {
    /// A store of so many nodes, about so many edges, and so many columns of features.
    #[new]
    #[pyo3(signature = (path, nodes, edges, columns, weighted, directed, overwrite))]
    fn new(
        path: PathBuf,
        nodes: usize,
        edges: usize,
        columns: usize,
        weighted: bool,
        directed: bool,
        overwrite: bool,
    ) -> PyResult<Self> {
        let make = || {
            let store = store::StoreWriter::new(&path, nodes, overwrite, &Context::default());
            let mut store = store.map_err(|error| match error {
                Error::InFile { path, place, source } => {
                    let source = match *source {
                        Error::Data(text) => {
                            Error::Data(text.replace("use --force", "pass overwrite=True"))
                        }
                        other => other,
                    };
                    Error::InFile { path, place, source: Box::new(source) }
                }
                other => other,
            })?;
            let edges = Some(store.edges(edges, weighted, directed)?);
            let features = if columns > 0 { Some(store.dense(columns)?) } else { None };
            Ok(State { nodes, store, edges, features })
        };
        make().map(|state| StoreWriter(Mutex::new(Some(state)))).map_err(raise)
    }

    /// Adds edges by their ends, with weights or without.
    #[pyo3(signature = (from_, to, weights=None))]
    fn add_edges(
        &self,
        from_: Indices<'_>,
        to: Indices<'_>,
        weights: Option<PyReadonlyArray1<'_, f32>>,
    ) -> PyResult<()> {
        let (from, to): (Vec<u32>, Vec<u32>) = (from_.to("node")?, to.to("node")?);
        let weights = weights.map(|weights| weights.as_array().to_vec());
        self.with(|state| {
            Error::check_size("ends of edges", from.len(), to.len())?;
            if let Some(weights) = &weights {
                Error::check_size("edge weights", from.len(), weights.len())?;
            }
            let edges = state.edges.as_mut().ok_or_else(finished)?;
            let weight = |k: usize| weights.as_ref().map_or(1.0, |weights| weights[k]);
            (0..from.len()).try_for_each(|k| edges.add(from[k], to[k], weight(k)))
        })
    }

    /// Adds rows of features, in the order of the nodes.
    fn add_rows(&self, rows: PyReadonlyArray2<'_, f32>) -> PyResult<()> {
        let rows: Vec<f32> = rows.as_array().iter().copied().collect();
        self.with(|state| match &mut state.features {
            Some(features) => features.add(&rows),
            None => Err(Error::Data("the store was begun without features".into())),
        })
    }

    /// Puts the store in its place.
    #[pyo3(signature = (targets=None, split=None, node_ids=None, feature_names=None))]
    fn finish(
        &self,
        py: Python<'_>,
        targets: Option<GivenTargets<'_>>,
        split: Option<[Vec<usize>; 3]>,
        node_ids: Option<Vec<String>>,
        feature_names: Option<Vec<String>>,
    ) -> PyResult<()> {
        let targets = targets.map(|targets| targets.targets()).transpose().map_err(raise)?;
        let state = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let State { nodes, mut store, edges, features } = state.ok_or_else(|| raise(finished()))?;
        work::run(py, Workers::default(), |_| {
            store.sorted(edges.ok_or_else(finished)?)?;
            if let Some(features) = features {
                store.dense_rows(features)?;
            }
            if let Some(targets) = &targets {
                store.targets(targets)?;
            }
            if let Some([train, validation, test]) = split {
                store.splits(&[Split::new(nodes, train, validation, test)?])?;
            }
            if let Some(ids) = node_ids {
                store.node_ids(&ids)?;
            }
            if let Some(names) = feature_names {
                store.feature_names(&names)?;
            }
            store.finish()
        })
    }
}
