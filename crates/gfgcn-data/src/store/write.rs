//! Writing a store, part by part.

use super::arrays::{ArrayWriter, Item};
use super::edges::{EdgeWriter, SortedRows};
use super::features::{FeatureWriter, block_columns};
use super::meta::{self, Columns, Kind, META, Meta, written_parts};
use super::read::read_source;
use gfgcn::context::Context;
use gfgcn::data::{Dataset, Encoding, Listing, Targets};
use gfgcn::features::Features;
use gfgcn::files::NewFolder;
use gfgcn::graph::{Graph, RowArrays};
use gfgcn::split::Split;
use gfgcn::{Error, Result};
use std::path::Path;

/// Rows of features that are taken from one array at a time.
const ROWS: usize = 1 << 12;

/// Writes a dataset as a store. What is in the folder is only replaced with `overwrite`, and only by a whole store; files that
/// this program has not written stay.
///
/// ```
/// use gfgcn::context::Context;
/// use gfgcn_data::store;
/// # use gfgcn::{data::{Dataset, Labels}, graph::Graph, features::Features, matrix::Matrix};
/// # let (graph, _) = Graph::from_edges(3, &[(0, 1), (1, 2)], None)?;
/// # let features = Features::dense(Matrix::from_fn(3, 1, |i, _| i as f32))?;
/// # let data = Dataset::new("path", graph, features, Labels::none(3))?;
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("path.store");
/// let context = Context::default();
/// store::write(&data, &path, false, &context)?;
/// assert_eq!(store::read(&path, "path", &context)?, data);
/// # Ok::<(), gfgcn::Error>(())
/// ```
///
/// # Errors
/// A folder with something in it, without `overwrite`; a disk that refuses; or that the work is cancelled.
pub fn write(dataset: &Dataset, path: &Path, overwrite: bool, context: &Context) -> Result<()> {
    let mut store = StoreWriter::new(path, dataset.nodes(), overwrite, context)?;
    store.graph(dataset.graph())?;
    store.features(dataset.features())?;
    store.targets(dataset.targets())?;
    store.splits(dataset.splits())?;
    if let Some(ids) = dataset.node_ids() {
        store.node_ids(ids)?;
    }
    if let Some(names) = dataset.feature_names() {
        store.feature_names(names)?;
    }
    let (listing, places) = dataset.listing();
    store.listing(listing, places)?;
    store.encoding(dataset.encoding());
    store.meta.source_fingerprint = dataset.source_fingerprint();
    store.finish()
}

/// A store that is being written. Dropped without [`StoreWriter::finish`], it leaves everything as it was.
///
/// Graph and features can be given whole, or [edge by edge](StoreWriter::edges) and [row by row](StoreWriter::dense) in memory
/// that does not grow with them.
#[derive(Debug)]
pub struct StoreWriter {
    folder: NewFolder,
    meta: Meta,
    context: Context,
    block_columns: Option<usize>,
}

impl StoreWriter {
    /// Prepares to write a store of so many nodes.
    ///
    /// # Errors
    /// A file in the place of the folder; a folder with something in it, without `overwrite`; one that cannot be written to.
    pub fn new(path: &Path, nodes: usize, overwrite: bool, context: &Context) -> Result<Self> {
        let refused = |why: &str| Err(Error::Data(why.into()).in_file(path));
        if path.symlink_metadata().is_ok() && !path.is_dir() {
            return refused("is there and is not a folder; name another one");
        }
        let read = || std::fs::read_dir(path).map_err(|error| Error::Read(error).in_file(path));
        if path.is_dir() && !overwrite && read()?.next().is_some() {
            return refused(
                "has files in it already; use --force to replace what gfgcn wrote there",
            );
        }
        let (folder, meta) = (NewFolder::new(path)?, Meta::new(nodes));
        Ok(StoreWriter { folder, meta, context: context.clone(), block_columns: None })
    }

    /// Cuts dense features into blocks of so many columns, and not of as many as suit the number of nodes.
    #[must_use]
    pub fn with_block_columns(mut self, columns: usize) -> Self {
        self.block_columns = Some(columns.max(1));
        self
    }

    /// Writes a whole graph.
    ///
    /// # Errors
    /// Another number of nodes, or what the disk says.
    pub fn graph(&mut self, graph: &Graph) -> Result<()> {
        Error::check_size("nodes of the graph", self.meta.nodes, graph.nodes())?;
        self.meta.edges = graph.edges();
        self.meta.directed = self.rows_of("", graph)?;
        for (k, relation) in graph.relations().iter().enumerate() {
            let directed = self.rows_of(&format!("relations/{k}/"), relation.graph())?;
            self.meta.relations.push(Kind { name: relation.name().to_owned(), directed });
        }
        Ok(())
    }

    /// Writes the rows of a graph; whether it is directed.
    fn rows_of(&mut self, stem: &str, graph: &Graph) -> Result<bool> {
        self.rows(stem, graph.arrays())?;
        let Some([out, into]) = graph.arc_arrays() else { return Ok(false) };
        self.rows(&format!("{stem}arcs/out/"), out)?;
        self.rows(&format!("{stem}arcs/into/"), into)?;
        Ok(true)
    }

    fn rows(&mut self, stem: &str, rows: RowArrays<'_>) -> Result<()> {
        self.array(&format!("{stem}offsets.npy"), rows.offsets, None)?;
        self.array(&format!("{stem}neighbours.npy"), rows.neighbours, None)?;
        match rows.weights {
            Some(weights) => self.array(&format!("{stem}weights.npy"), weights, None),
            None => Ok(()),
        }
    }

    /// Takes the graph edge by edge, of about so many; to be given back to [`StoreWriter::sorted`].
    ///
    /// # Errors
    /// Too little memory, or what the disk says.
    pub fn edges(&self, edges: usize, weighted: bool, directed: bool) -> Result<EdgeWriter> {
        let (folder, nodes) = (self.folder.staging(), self.meta.nodes);
        EdgeWriter::new(folder, nodes, edges, weighted, directed, &self.context)
            .map_err(|error| self.folder.in_place(error))
    }

    /// Sorts the edges that were given one by one, and writes the graph.
    ///
    /// # Errors
    /// What the disk says, or that the work is cancelled.
    pub fn sorted(&mut self, edges: EdgeWriter) -> Result<()> {
        let weighted = edges.is_weighted();
        let (both, arcs) = edges.into_parts();
        self.meta.edges = self.sorted_rows("", weighted, both)? as usize / 2;
        if let Some([out, into]) = arcs {
            self.sorted_rows("arcs/out/", weighted, out)?;
            self.sorted_rows("arcs/into/", weighted, into)?;
            // Arcs that all have their reverse are those of an undirected graph.
            let files = &self.meta.files;
            let same = |name: &str| files.get(name).eq(&files.get(&format!("arcs/out/{name}")));
            self.meta.directed =
                !["offsets.npy", "neighbours.npy", "weights.npy"].iter().all(|n| same(n));
            if !self.meta.directed {
                self.meta.files.retain(|name, _| !name.starts_with("arcs/"));
                self.folder.remove("arcs")?;
            }
        }
        Ok(())
    }

    fn sorted_rows(&mut self, stem: &str, weighted: bool, rows: SortedRows) -> Result<u64> {
        let mut offsets = self.begin::<u64>(&format!("{stem}offsets.npy"))?;
        let mut neighbours = self.begin::<u32>(&format!("{stem}neighbours.npy"))?;
        let weights = weighted.then(|| self.begin::<f32>(&format!("{stem}weights.npy")));
        let mut weights = weights.transpose()?;
        let written = rows.write(&mut offsets, &mut neighbours, weights.as_mut());
        let (arcs, plain) = written.map_err(|error| self.folder.in_place(error))?;
        for array in [offsets, neighbours] {
            self.end(array, None)?;
        }
        if let Some(weights) = weights {
            let name = weights.name.clone();
            self.end(weights, None)?;
            if plain {
                self.meta.files.remove(&name);
                self.folder.remove(&name)?;
            }
        }
        Ok(arcs)
    }

    /// Writes all features.
    ///
    /// # Errors
    /// Another number of rows than nodes, values that are not finite, or what the disk says.
    pub fn features(&mut self, features: &Features) -> Result<()> {
        Error::check_size("feature rows (one per node)", self.meta.nodes, features.rows())?;
        features.ready(0..features.cols())?;
        match features {
            none if none.is_empty() => Ok(()),
            Features::Sparse(m) => {
                let offsets: Vec<u64> = m.offsets().iter().map(|&offset| offset as u64).collect();
                self.array("features/offsets.npy", &offsets, None)?;
                self.array("features/columns.npy", m.indices(), None)?;
                self.array("features/values.npy", m.values(), None)?;
                self.meta.features = Columns::Sparse { columns: m.cols() };
                Ok(())
            }
            Features::Dense(m) => {
                let mut writer = self.dense(m.cols())?;
                let parts = m.as_slice().chunks(ROWS * m.cols());
                parts.into_iter().try_for_each(|rows| self.add_rows(&mut writer, rows))?;
                self.dense_rows(writer)
            }
            Features::Blocks(m) => {
                let mut writer = self.dense(m.cols())?;
                let mut rows = Vec::new();
                for first in (0..m.rows()).step_by(ROWS) {
                    rows.clear();
                    let part = first..m.rows().min(first + ROWS);
                    part.for_each(|row| rows.extend(m.values(row, 0..m.cols())));
                    self.add_rows(&mut writer, &rows)?;
                }
                self.dense_rows(writer)
            }
        }
    }

    fn add_rows(&self, writer: &mut FeatureWriter, rows: &[f32]) -> Result<()> {
        writer.add(rows).map_err(|error| self.folder.in_place(error))
    }

    /// Takes dense features row by row; to be given back to [`StoreWriter::dense_rows`].
    ///
    /// # Errors
    /// No columns, or what the disk says.
    pub fn dense(&mut self, columns: usize) -> Result<FeatureWriter> {
        if columns == 0 {
            return Err(Error::Data("there are no feature columns".into()));
        }
        let nodes = self.meta.nodes;
        let width = self.block_columns.unwrap_or_else(|| block_columns(nodes, columns));
        let digits = columns.to_string().len().max(5);
        let block = |first: usize| {
            let last = columns.min(first + width) - 1;
            let name = format!("features/{first:0digits$}-{last:0digits$}.npy");
            self.begin::<f32>(&name)
        };
        let blocks = (0..columns).step_by(width).map(block).collect::<Result<Vec<_>>>()?;
        Ok(FeatureWriter::new(blocks, width, columns, nodes))
    }

    /// Ends the features that were given row by row.
    ///
    /// # Errors
    /// Fewer rows than nodes, or what the disk says.
    pub fn dense_rows(&mut self, features: FeatureWriter) -> Result<()> {
        features.check_complete()?;
        let FeatureWriter { blocks, width, columns, .. } = features;
        for (k, block) in blocks.into_iter().enumerate() {
            self.end(block, Some(width.min(columns - k * width)))?;
        }
        self.meta.features = Columns::Dense { columns };
        Ok(())
    }

    /// Writes what is known of the nodes.
    ///
    /// # Errors
    /// Another number of nodes, or what the disk says.
    pub fn targets(&mut self, targets: &Targets) -> Result<()> {
        Error::check_size("targets (one per node)", self.meta.nodes, targets.len())?;
        match targets {
            Targets::Classes(labels) => {
                let classes = labels.as_slice().iter().map(|class| class.map_or(-1, |c| c as i32));
                self.items("labels.npy", classes)?;
                self.meta.targets = meta::Targets::Classes;
            }
            Targets::Sets(sets) => {
                let mut end = 0;
                let ends = (0..sets.len()).map(|node| {
                    end += sets.get(node).map_or(0, <[u32]>::len) as u64;
                    end
                });
                self.items("label_sets/offsets.npy", std::iter::once(0).chain(ends))?;
                let all = (0..sets.len()).filter_map(|node| sets.get(node)).flatten().copied();
                self.items("label_sets/labels.npy", all)?;
                let known = (0..sets.len()).map(|node| u8::from(sets.get(node).is_some()));
                self.items("label_sets/known.npy", known)?;
                self.meta.targets = meta::Targets::Sets;
            }
            Targets::Values(values) => {
                let columns = values.names().len();
                let unknown = vec![f64::NAN; columns];
                let mut array = self.begin::<f64>("values.npy")?;
                for node in 0..values.len() {
                    let put = array.put(values.get(node).unwrap_or(&unknown));
                    put.map_err(|error| self.folder.in_place(error))?;
                }
                self.end(array, Some(columns))?;
                self.meta.targets = meta::Targets::Values;
            }
        }
        self.texts("target_names", targets.names())
    }

    /// Writes splits.
    ///
    /// # Errors
    /// What the disk says.
    pub fn splits(&mut self, splits: &[Split]) -> Result<()> {
        for (k, split) in splits.iter().enumerate() {
            for (name, part) in ["train", "validation", "test"].into_iter().zip(split.parts()) {
                let nodes = part.1.iter().map(|&node| node as u64);
                self.items(&format!("splits/{k}/{name}.npy"), nodes)?;
            }
        }
        self.meta.splits = splits.len();
        Ok(())
    }

    /// Writes the names of the nodes.
    ///
    /// # Errors
    /// Another number of names, or what the disk says.
    pub fn node_ids(&mut self, ids: &[String]) -> Result<()> {
        Error::check_size("node ids", self.meta.nodes, ids.len())?;
        self.texts("node_ids", ids)
    }

    /// Writes the names of the features.
    ///
    /// # Errors
    /// What the disk says.
    pub fn feature_names(&mut self, names: &[String]) -> Result<()> {
        self.texts("feature_names", names)
    }

    fn listing(&mut self, listing: Listing, places: Option<&[usize]>) -> Result<()> {
        self.meta.listing = listing;
        match places {
            Some(places) => self.items("places.npy", places.iter().map(|&place| place as u64)),
            None => Ok(()),
        }
    }

    fn encoding(&mut self, encoding: Option<&Encoding>) {
        self.meta.encoding = encoding.cloned();
    }

    fn texts(&mut self, stem: &str, texts: &[String]) -> Result<()> {
        let mut end = 0;
        let ends = texts.iter().map(|text| {
            end += text.len() as u64;
            end
        });
        self.items(&format!("{stem}/offsets.npy"), std::iter::once(0).chain(ends))?;
        self.items(&format!("{stem}/text.npy"), texts.iter().flat_map(|text| text.bytes()))
    }

    /// Puts the store in its place.
    ///
    /// # Errors
    /// A graph or features that are missing, what the disk says, or that the work is cancelled. What was there before is there
    /// still.
    pub fn finish(mut self) -> Result<()> {
        if !self.meta.files.contains_key(meta::OFFSETS) {
            return Err(Error::Data("a store needs a graph".into()));
        }
        if !self.meta.files.contains_key("target_names/offsets.npy") {
            let none = gfgcn::data::Labels::none(self.meta.nodes);
            self.targets(&none.into())?;
        }
        if self.meta.source_fingerprint.is_empty() {
            let source = read_source(self.folder.staging(), &self.meta, &self.context)?;
            self.meta.source_fingerprint = source.source_fingerprint();
        }
        let meta = &self.meta;
        self.folder.put(META, |path| meta.write(path))?;
        self.folder.finish_with(&written_parts)
    }

    fn begin<T: Item>(&mut self, name: &str) -> Result<ArrayWriter> {
        let path = self.folder.add(name)?;
        let array = ArrayWriter::new::<T>(name, path, &self.context);
        array.map_err(|error| self.folder.in_place(error))
    }

    fn end(&mut self, array: ArrayWriter, columns: Option<usize>) -> Result<()> {
        let name = array.name.clone();
        let file = array.finish(columns).map_err(|error| self.folder.in_place(error))?;
        self.meta.files.insert(name, file);
        Ok(())
    }

    fn array<T: Item>(&mut self, name: &str, items: &[T], columns: Option<usize>) -> Result<()> {
        let mut array = self.begin::<T>(name)?;
        for part in items.chunks(1 << 18) {
            array.put(part).map_err(|error| self.folder.in_place(error))?;
        }
        self.end(array, columns)
    }

    fn items<T: Item>(&mut self, name: &str, items: impl Iterator<Item = T>) -> Result<()> {
        let mut array = self.begin::<T>(name)?;
        let (mut items, mut part) = (items, Vec::new());
        loop {
            part.clear();
            part.extend(items.by_ref().take(1 << 16));
            if part.is_empty() {
                return self.end(array, None);
            }
            array.put(&part).map_err(|error| self.folder.in_place(error))?;
        }
    }
}
