//! Opening a store.

use super::arrays::{Files, check_contents};
use super::meta::{Columns, FileMeta, Meta, Targets as TargetsMeta};
use crate::NO_FEATURES;
use crate::directions::{Directions, Said};
use gfgcn::buffer::Buffer;
use gfgcn::context::Context;
use gfgcn::data::{Dataset, LabelSets, Labels, Targets, Values};
use gfgcn::features::Features;
use gfgcn::graph::{Graph, Repairs, StoredRows};
use gfgcn::matrix::{ColumnBlocks, Matrix, SparseMatrix};
use gfgcn::split::Split;
use gfgcn::{Error, Result};
use std::path::{Path, PathBuf};

/// Opens a store: graph and features stay on the disk, and are fetched as they are used.
///
/// # Errors
/// A store of another version; a file that is missing, has another length, type or shape, or has changed; arrays that
/// contradict each other; less memory than names, labels and splits take.
pub fn read(path: &Path, name: &str, context: &Context) -> Result<Dataset> {
    read_with(path, name, Directions::AsSaid, context)
}

/// Like [`read`], with edges directed as asked for. A store knows whether its edges have directions, and those of one that
/// knows none go both ways.
///
/// # Errors
/// As [`read`].
pub fn read_with(
    path: &Path,
    name: &str,
    directions: Directions,
    context: &Context,
) -> Result<Dataset> {
    context.check()?;
    let meta = Meta::read(path)?;
    let by = "meta.json".to_owned();
    directions.resolve(meta.is_directed().then_some(Said { directed: true, by }))?;
    let files = Files { folder: path, meta: &meta };
    files.check()?;
    let remedy = "use a machine with more memory";
    context.memory().at_present().check("reading the data", meta.memory(), remedy)?;
    let targets = files.targets()?;
    let dataset = files.source(name, targets)?;
    let mut dataset = dataset.with_source_fingerprint(meta.source_fingerprint.clone());
    let named = |error: Error| error.in_file(path);
    if files.has("node_ids/offsets.npy") {
        dataset = dataset.with_node_ids(files.texts("node_ids")?).map_err(named)?;
    }
    if files.has("feature_names/offsets.npy") {
        dataset = dataset.with_feature_names(files.texts("feature_names")?).map_err(named)?;
    }
    if let Some(encoding) = &meta.encoding {
        encoding.check().map_err(named)?;
        dataset = dataset.with_encoding(encoding.clone());
    }
    dataset = dataset.with_splits(files.splits()?).map_err(named)?;
    let places = match files.has("places.npy") {
        true => Some(files.numbers("places.npy", Some(meta.nodes))?),
        false => None,
    };
    dataset = dataset.with_listing(meta.listing, places).map_err(named)?;
    Ok(if dataset.features().is_empty() { dataset.with_note(NO_FEATURES) } else { dataset })
}

/// What [`verify`] found.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Verified {
    /// Files, all as they were written.
    pub files: usize,
    /// Bytes of all of them.
    pub bytes: u64,
}

/// Checks all of a store, in passes over everything: that every file is as it was written, that the graph is sound with every
/// edge in both directions, and that the fingerprint is that of the data.
///
/// # Errors
/// As [`read`], and what else is found.
pub fn verify(path: &Path, context: &Context) -> Result<Verified> {
    let dataset = read(path, "store", context)?;
    let meta = Meta::read(path)?;
    for (name, listed) in &meta.files {
        context.check()?;
        check_contents(&path.join(name), listed)?;
    }
    dataset.features().ready(0..dataset.features().cols())?;
    let files = Files { folder: path, meta: &meta };
    let rows = files.rows("")?;
    let (_, repairs) = Graph::from_buffers(rows.offsets, rows.neighbours, rows.weights)?;
    if repairs != Repairs::default() {
        let problem = "the graph is not as a store has it: an edge is there in one direction only";
        return Err(Error::Data(problem.into()).in_file(path));
    }
    let source = read_source(path, &meta, context)?;
    if source.source_fingerprint() != meta.source_fingerprint {
        let problem = "the fingerprint in meta.json is not that of the graph and the features";
        return Err(Error::Data(problem.into()).in_file(path));
    }
    let bytes = meta.files.values().map(|file| file.bytes).sum();
    Ok(Verified { files: meta.files.len(), bytes })
}

/// The graph and the features of a store, which may be on its way to its place.
pub(super) fn read_source(folder: &Path, meta: &Meta, context: &Context) -> Result<Dataset> {
    context.check()?;
    let files = Files { folder, meta };
    files.source("store", Labels::none(meta.nodes).into())
}

impl Meta {
    /// Bytes of what is read into memory.
    fn memory(&self) -> u64 {
        let bytes = |begin: &str, factor: u64| -> u64 {
            let own = self.files.iter().filter(|(name, _)| name.starts_with(begin));
            own.map(|(_, file)| factor * file.bytes).sum()
        };
        // A text is kept with its length and place, twice for a moment to see that no two are alike.
        bytes("labels.npy", 2)
            + bytes("label_sets/", 3)
            + bytes("values.npy", 2)
            + bytes("splits/", 2)
            + bytes("places.npy", 2)
            + bytes("features/offsets.npy", 1)
            + [("node_ids/", 5), ("feature_names/", 5)]
                .map(|(name, n)| bytes(name, n))
                .iter()
                .sum::<u64>()
    }

    fn is_directed(&self) -> bool {
        self.directed || self.relations.iter().any(|relation| relation.directed)
    }
}

impl Files<'_> {
    fn source(&self, name: &str, targets: Targets) -> Result<Dataset> {
        let graph = self.graph()?;
        let nodes = self.meta.nodes;
        Error::check_size("nodes of the graph", nodes, graph.nodes())
            .and_then(|()| Error::check_size("edges of the graph", self.meta.edges, graph.edges()))
            .map_err(|error| error.in_file(self.folder))?;
        let features = self.features()?;
        Dataset::new(name, graph, features, targets).map_err(|error| error.in_file(self.folder))
    }

    /// The rows of a graph, their contents checked.
    fn rows(&self, stem: &str) -> Result<StoredRows> {
        let offsets = self.list(&format!("{stem}offsets.npy"), Some(self.meta.nodes + 1))?;
        let neighbours: Buffer<u32> = self.list(&format!("{stem}neighbours.npy"), None)?;
        let weights = format!("{stem}weights.npy");
        let weights = match self.has(&weights) {
            true => Some(self.list(&weights, Some(neighbours.len()))?),
            false => None,
        };
        Ok(StoredRows { offsets, neighbours, weights })
    }

    fn graph_at(&self, stem: &str, directed: bool) -> Result<Graph> {
        let both = self.rows(stem)?;
        let arcs = match directed {
            true => Some([
                self.rows(&format!("{stem}arcs/out/"))?,
                self.rows(&format!("{stem}arcs/into/"))?,
            ]),
            false => None,
        };
        Graph::from_stored(both, arcs)
            .map_err(|error| error.in_file(self.folder.join(format!("{stem}neighbours.npy"))))
    }

    fn graph(&self) -> Result<Graph> {
        let relations = self.meta.relations.iter().enumerate().map(|(k, relation)| {
            let graph = self.graph_at(&format!("relations/{k}/"), relation.directed)?;
            Ok((relation.name.clone(), graph))
        });
        let relations = relations.collect::<Result<Vec<_>>>()?;
        let graph = self.graph_at("", self.meta.directed)?;
        graph.with_relations(relations).map_err(|error| error.in_file(self.folder))
    }

    fn features(&self) -> Result<Features> {
        let nodes = self.meta.nodes;
        let inside = |error: Error| error.in_file(self.folder.join("features"));
        match self.meta.features {
            Columns::None => Ok(Features::none(nodes)),
            Columns::Sparse { columns } => {
                let offsets = self.numbers("features/offsets.npy", Some(nodes + 1))?;
                let indices = self.list("features/columns.npy", None)?;
                let values = self.list("features/values.npy", Some(indices.len()))?;
                let matrix = SparseMatrix::from_buffers(columns, offsets, indices, values);
                matrix.and_then(Features::sparse).map_err(inside)
            }
            Columns::Dense { columns } => {
                let names: Vec<&String> = self.meta.feature_blocks().collect();
                let block = |name: &&String| {
                    let (values, shape) = self.map::<f32>(name, &[Some(nodes), None])?;
                    Matrix::from_buffer(nodes, shape[1], values).map_err(inside)
                };
                let mut blocks = names.iter().map(block).collect::<Result<Vec<_>>>()?;
                let found = blocks.iter().map(Matrix::cols).sum();
                Error::check_size("columns of all blocks", columns, found).map_err(inside)?;
                let listed: Vec<(PathBuf, FileMeta)> = names
                    .iter()
                    .map(|name| (self.folder.join(name), self.meta.files[*name].clone()))
                    .collect();
                if let ([_], [(path, listed)]) = (&blocks[..], &listed[..]) {
                    check_contents(path, listed)?;
                    return Features::dense(blocks.remove(0)).map_err(|error| error.in_file(path));
                }
                let check = move |k: usize| check_contents(&listed[k].0, &listed[k].1);
                let blocks = ColumnBlocks::new(blocks, Some(Box::new(check)));
                blocks.and_then(Features::blocks).map_err(inside)
            }
        }
    }

    fn targets(&self) -> Result<Targets> {
        let (nodes, names) = (self.meta.nodes, self.texts("target_names")?);
        match self.meta.targets {
            TargetsMeta::Classes => {
                let classes: Buffer<i32> = self.list("labels.npy", Some(nodes))?;
                let inside = |error: Error| error.in_file(self.folder.join("labels.npy"));
                let class = |&class: &i32| match class {
                    -1 => Ok(None),
                    0.. => Ok(Some(class as u32)),
                    _ => Err(inside(Error::Data(format!("{class} is no class")))),
                };
                let of_node = classes.iter().map(class).collect::<Result<Vec<_>>>()?;
                Ok(Labels::from_classes(of_node, names).map_err(inside)?.into())
            }
            TargetsMeta::Sets => {
                let offsets = self.numbers("label_sets/offsets.npy", Some(nodes + 1))?;
                let labels: Buffer<u32> = self.list("label_sets/labels.npy", None)?;
                let known: Buffer<u8> = self.list("label_sets/known.npy", Some(nodes))?;
                let inside = |error: Error| error.in_file(self.folder.join("label_sets"));
                gfgcn::matrix::check_offsets(&offsets, labels.len()).map_err(inside)?;
                let sets = offsets
                    .windows(2)
                    .zip(known.iter())
                    .map(|(ends, &known)| (known == 1).then(|| labels[ends[0]..ends[1]].to_vec()));
                Ok(LabelSets::from_numbers(names, sets).map_err(inside)?.into())
            }
            TargetsMeta::Values => {
                let shape = [Some(nodes), Some(names.len())];
                let (values, _) = self.checked::<f64>("values.npy", &shape)?;
                let matrix = Matrix::from_buffer(nodes, names.len(), values);
                let values = matrix.and_then(|matrix| Values::new(names, matrix));
                Ok(values.map_err(|error| error.in_file(self.folder.join("values.npy")))?.into())
            }
        }
    }

    fn splits(&self) -> Result<Vec<Split>> {
        let split = |k: usize| {
            let part = |name: &str| self.numbers(&format!("splits/{k}/{name}.npy"), None);
            Split::from_parts(self.meta.nodes, part("train")?, part("validation")?, part("test")?)
                .map_err(|error| error.in_file(self.folder.join(format!("splits/{k}"))))
        };
        (0..self.meta.splits).map(split).collect()
    }

    /// Numbers of nodes or entries.
    fn numbers(&self, name: &str, length: Option<usize>) -> Result<Vec<usize>> {
        let numbers: Buffer<u64> = self.list(name, length)?;
        Ok(numbers.iter().map(|&number| number as usize).collect())
    }
}
