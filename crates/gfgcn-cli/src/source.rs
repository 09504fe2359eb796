//! What the arguments for datasets, splits and outputs mean.

use crate::columns::ColumnArguments;
use crate::output::Output;
use crate::{Global, interrupt, stdio};
use clap::Args;
use gfgcn::data::Dataset;
use gfgcn::files::temporary_beside;
use gfgcn::split::Split;
use gfgcn::{Error, Model, Result};
use gfgcn_data::{
    Columns, Directions, EdgeFile, Layout, OutputFormat, ReadOptions, TableFiles, giveaway, npz,
    read_splits, read_values,
};
use gfgcn_datasets::{has_extension, open_with, recognise, stem};
use std::path::{Path, PathBuf};

/// A dataset: by name, by path, or as separate tables.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Source {
    /// A dataset: a name (`gfgcn data list`; write ./NAME for a folder of that name), a file (.npz, .graphml, .gexf, .json, .mat,
    /// or a list of edges), a folder with edges, features and labels tables, or a folder of Planetoid, OGB, MUSAE or Neo4j
    #[arg(value_name = "DATASET", required_unless_present = "edges")]
    dataset: Option<PathBuf>,
    /// Table of edges (source,target, perhaps weight, type and directed), or a MatrixMarket file; instead of DATASET. A file
    /// for each type: --edges NAME=FILE --edges NAME=FILE
    #[arg(long, value_name = "[NAME=]FILE", conflicts_with = "dataset")]
    edges: Vec<PathBuf>,
    /// Table of features (id,name,… or id,feature,value), or a MatrixMarket file; nodes may have none
    #[arg(long, value_name = "FILE", requires = "edges")]
    features: Option<PathBuf>,
    /// Table of all nodes (id), where there are no features and some nodes have no edges
    #[arg(long, value_name = "FILE", requires = "edges", conflicts_with = "features")]
    node_list: Option<PathBuf>,
    /// Table of labels (id,label); nodes without one are unlabelled
    #[arg(long, value_name = "FILE", requires = "edges")]
    labels: Option<PathBuf>,
    /// Table of values (id and columns of numbers) to be learnt in place of labels
    #[arg(long, value_name = "FILE", conflicts_with = "labels")]
    values: Option<PathBuf>,
    #[command(flatten)]
    direction: Directed,
    #[command(flatten)]
    columns: ColumnArguments,
}

/// Whether edges have directions.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(crate) struct Directed {
    /// Keep the directions of edges, from source to target; without, edges are used either way unless the data say that they
    /// are directed
    #[arg(long)]
    directed: bool,
}

impl Directed {
    pub(crate) fn directions(self) -> Directions {
        if self.directed { Directions::Kept { by: "--directed" } } else { Directions::AsSaid }
    }

    /// Says so where directions were asked for and there are none.
    pub(crate) fn note(self, dataset: &Dataset, output: &Output) {
        if self.directed && !dataset.graph().has_directions() {
            output.note("every edge goes both ways, so --directed changes nothing");
        }
    }
}

impl Source {
    /// Reads the dataset and says what was repaired on the way.
    pub(crate) fn load(&self, global: &Global, output: &Output) -> Result<Dataset> {
        let (directions, columns) = (self.direction.directions(), self.columns.columns());
        let dataset = self.load_with(&ReadOptions { directions, columns }, global, output)?;
        if let Some(column) = giveaway(&dataset) {
            output.warn(format!(
                "the feature {column:?} alone gives every label; if it was made from the labels, leave it out \
                 (--drop-columns), or the model will be of no use"
            ));
        }
        Ok(dataset)
    }

    /// Reads the dataset as [`Source::load`] does, with directions where a model was trained with some, and columns made
    /// features as they were then.
    pub(crate) fn load_for(
        &self,
        model: &Model,
        global: &Global,
        output: &Output,
    ) -> Result<Dataset> {
        let directions = match model.is_directed() {
            true => Directions::Kept { by: "the model" },
            false => self.direction.directions(),
        };
        let encoding = Some(model.encoding().cloned().unwrap_or_default());
        let columns = Columns { encoding, ..self.columns.columns() };
        self.load_with(&ReadOptions { directions, columns }, global, output)
    }

    /// With a file in place of `-`, which one of the arguments may be.
    fn with_input_kept(&self) -> Result<(Source, Option<stdio::Folder>)> {
        let mut source = self.clone();
        let single = [
            &mut source.dataset,
            &mut source.features,
            &mut source.node_list,
            &mut source.labels,
            &mut source.values,
        ];
        let mut paths: Vec<&mut PathBuf> = single.into_iter().flatten().collect();
        paths.extend(&mut source.edges);
        paths.retain(|path| stdio::is_standard(path));
        match &mut paths[..] {
            [] => Ok((source, None)),
            [only] => {
                let (folder, path) = stdio::keep_input()?;
                **only = path;
                Ok((source, Some(folder)))
            }
            _ => Err(Error::parameter("-", "there twice", "standard input for one table only")),
        }
    }

    fn load_with(
        &self,
        options: &ReadOptions,
        global: &Global,
        output: &Output,
    ) -> Result<Dataset> {
        let (source, kept) = self.with_input_kept()?;
        let read = source.read(options, global, output);
        match kept {
            Some(folder) => read.map_err(|error| folder.blame_input(error)),
            None => read,
        }
    }

    fn read(&self, options: &ReadOptions, global: &Global, output: &Output) -> Result<Dataset> {
        let context = &interrupt::context();
        output.log(format!("reading {}", self.describe(global)?));
        let edges: Vec<EdgeFile> = self.edges.iter().map(|text| edge_file(text)).collect();
        let dataset = match (&self.dataset, &edges[..]) {
            (Some(dataset), _) => open_with(dataset, global.data_dir.as_deref(), options, context)?,
            (None, [first, ..]) => {
                let name = stem(&first.path);
                let files = TableFiles {
                    features: self.features.clone(),
                    nodes: self.node_list.clone(),
                    labels: self.labels.clone(),
                    values: None,
                    split: None,
                    directions: options.directions,
                    columns: options.columns.clone(),
                    edges,
                };
                files.read(&name, context)?
            }
            (None, []) => unreachable!("the parser requires a dataset or edges"),
        };
        let (graph, features) = (dataset.graph(), dataset.features());
        output.log(format!(
            "read {}: {} nodes, {} edges, {} features",
            dataset.name(),
            graph.nodes(),
            graph.edges(),
            features.cols()
        ));
        dataset.notes().iter().for_each(|note| output.note(note));
        self.direction.note(&dataset, output);
        let dataset = match &self.values {
            Some(path) => {
                let values = read_values(path, &dataset, context)?;
                dataset.with_targets(values)?
            }
            None => dataset,
        };
        // In an archive the places of nodes are what counts, in tables their ids.
        let by_place = match &self.dataset {
            None => false,
            Some(path) => {
                recognise(path, global.data_dir.as_deref())?.is_none_or(|l| l.is_by_place())
            }
        };
        Ok(if by_place { dataset } else { dataset.ordered_by_names() })
    }

    /// What the dataset was recognised as, where it is one that is not part of the program.
    pub(crate) fn layout(&self, global: &Global) -> Result<Option<Layout>> {
        match &self.dataset {
            Some(dataset) if !stdio::is_standard(dataset) => {
                recognise(dataset, global.data_dir.as_deref())
            }
            _ => Ok(None),
        }
    }

    /// The store that is read, where machines share the work.
    pub(crate) fn store(&self, global: &Global) -> Result<PathBuf> {
        match self.layout(global)? {
            Some(Layout::Store(path)) => std::path::absolute(&path)
                .map_err(|error| Error::Read(error).in_file(&path)),
            _ => Err(Error::Data(
                "machines share the data as a store; make one by gfgcn data convert DATASET NAME.store, in a folder that all of them see"
                    .into(),
            )),
        }
    }

    /// Refuses to read something else beside a store that only this machine has.
    pub(crate) fn check_as_stored(&self) -> Result<()> {
        match &self.values {
            Some(_) => {
                let expected =
                    "left out where machines share an evaluation: put the values into the store";
                Err(Error::parameter("--values", "given", expected))
            }
            None => Ok(()),
        }
    }

    /// What the dataset was recognised as, and how it is read.
    pub(crate) fn describe(&self, global: &Global) -> Result<String> {
        match &self.dataset {
            None => Ok("separate tables".into()),
            Some(dataset) if stdio::is_standard(dataset) => Ok("standard input".into()),
            Some(dataset) => {
                let layout = recognise(dataset, global.data_dir.as_deref())?;
                Ok(layout.map_or("part of the program".into(), |layout| layout.describe()))
            }
        }
    }

    /// The paths that are read.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let edges = self.edges.iter().map(|text| edge_file(text).path);
        let others = [&self.dataset, &self.features, &self.node_list, &self.labels, &self.values];
        edges.chain(others.into_iter().flatten().cloned()).collect()
    }
}

/// The model in a file.
///
/// # Errors
/// Whatever is wrong with it; a dataset in its place is recognised.
pub(crate) fn load_model(path: &Path) -> Result<Model> {
    if path.is_dir() {
        let problem = "is a folder, but a file is needed here: a model, which gfgcn fit saves; a dataset comes after it";
        return Err(Error::Data(problem.into()).in_file(path));
    }
    Model::load(path)
}

/// A dataset by name or by path: where options name tables that say something else.
#[derive(Args, Clone, Debug)]
pub(crate) struct NamedSource {
    /// A dataset: a name (`gfgcn data list`), an .npz file, or a folder of tables
    #[arg(value_name = "DATASET")]
    dataset: PathBuf,
    #[command(flatten)]
    direction: Directed,
    #[command(flatten)]
    columns: ColumnArguments,
}

impl NamedSource {
    pub(crate) fn new(dataset: PathBuf, direction: Directed, columns: ColumnArguments) -> Self {
        NamedSource { dataset, direction, columns }
    }

    /// Reads the dataset as [`Source::load_for`] does.
    pub(crate) fn load_for(
        &self,
        model: &Model,
        global: &Global,
        output: &Output,
    ) -> Result<Dataset> {
        let (dataset, direction) = (Some(self.dataset.clone()), self.direction);
        let columns = self.columns.clone();
        Source { dataset, direction, columns, ..Source::default() }.load_for(model, global, output)
    }

    /// The path that is read.
    pub(crate) fn path(&self) -> &Path {
        &self.dataset
    }
}

/// `NAME=FILE`, or a file whose edges have no name; one that is there is taken for that.
fn edge_file(text: &Path) -> EdgeFile {
    match text.to_str().and_then(|text| text.split_once('=')) {
        Some((name, path)) if !text.exists() => {
            EdgeFile { path: path.into(), relation: Some(name.to_owned()) }
        }
        _ => EdgeFile::from(text.to_owned()),
    }
}

/// A split that comes with the data or in a file.
#[derive(Args, Clone, Debug)]
pub(crate) struct SplitSource {
    /// Use the split that comes with the dataset, the first of several
    #[arg(long, conflicts_with = "split")]
    public_split: bool,
    /// Use the split in a file: a table (id,split with train, val, test) or an .npz with train_idx, …
    #[arg(long, value_name = "FILE")]
    split: Option<PathBuf>,
}

impl SplitSource {
    /// Whether a split was asked for.
    pub(crate) fn is_given(&self) -> bool {
        self.public_split || self.split.is_some()
    }

    /// The splits that were asked for: the one that comes first in the dataset, or all in a file. None if none was.
    pub(crate) fn load(&self, dataset: &Dataset) -> Result<Vec<Split>> {
        if let Some(path) = &self.split {
            let context = &interrupt::context();
            return if has_extension(path, "npz") {
                let splits = npz::read_splits(path, dataset.nodes(), context)?.into_iter();
                Ok(splits.map(|split| dataset.split_of_places(split)).collect())
            } else {
                read_splits(path, dataset, context)
            };
        }
        match (self.public_split, dataset.split()) {
            (false, _) => Ok(Vec::new()),
            (true, Some(split)) => Ok(vec![split.clone()]),
            (true, None) => Err(Error::Data(format!(
                "dataset {} comes without a split; give one with --split",
                dataset.name()
            ))),
        }
    }

    /// The one split that was asked for, if any was.
    pub(crate) fn load_one(&self, dataset: &Dataset) -> Result<Option<Split>> {
        let mut splits = self.load(dataset)?;
        match (splits.len(), &self.split) {
            (2.., Some(path)) => Err(Error::Data(format!(
                "has {} splits, but one is needed here; leave only that one in the file",
                splits.len()
            ))
            .in_file(path)),
            _ => Ok(splits.pop()),
        }
    }
}

/// The file a command writes.
#[derive(Args, Clone, Debug)]
pub(crate) struct Target {
    /// File to write; predictions also to - for standard output
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Replace the output file if it is there
    #[arg(long)]
    force: bool,
}

impl Target {
    pub(crate) fn path(&self) -> &Path {
        &self.output
    }

    pub(crate) fn force(&self) -> bool {
        self.force
    }

    /// Notices before any work is done that the output could not or must not be written.
    pub(crate) fn check(&self, inputs: &[PathBuf]) -> Result<()> {
        if stdio::is_standard(&self.output) {
            let problem = "standard output is for predictions; name a file".to_owned();
            return Err(Error::Data(problem));
        }
        check_output(&self.output, self.force, inputs)
    }
}

/// Where a model goes, and what it predicts: one of the two at least.
#[derive(Args, Clone, Debug)]
pub(crate) struct ModelTarget {
    /// File to write the model to
    #[arg(short, long, value_name = "FILE", required_unless_present = "predictions")]
    output: Option<PathBuf>,
    /// Label every node, too, and write the predictions to a table, or to - for standard output: .csv, .tsv, .json (each also
    /// .gz), .parquet or .npz
    #[arg(long, value_name = "FILE")]
    predictions: Option<PathBuf>,
    /// Replace the output files if they are there
    #[arg(long)]
    force: bool,
}

impl ModelTarget {
    pub(crate) fn model(&self) -> Option<&Path> {
        self.output.as_deref()
    }

    pub(crate) fn predictions(&self) -> Option<&Path> {
        self.predictions.as_deref()
    }

    pub(crate) fn force(&self) -> bool {
        self.force
    }

    /// Notices before any work is done what could not or must not be written, and says where the report goes.
    pub(crate) fn check(&self, inputs: &[PathBuf], output: &Output) -> Result<Output> {
        if let Some(path) = &self.output {
            Target { output: path.clone(), force: self.force }.check(inputs)?;
        }
        let Some(path) = &self.predictions else { return Ok(*output) };
        if stdio::is_standard(path) {
            return Ok(output.with_data_on_stdout());
        }
        if self.output.as_ref() == Some(path) {
            let problem = "cannot be both the model and the predictions; name two files";
            return Err(Error::Data(problem.into()).in_file(path));
        }
        OutputFormat::of(path)?;
        check_output(path, self.force, inputs)?;
        Ok(*output)
    }
}

/// See [`Target::check`].
pub(crate) fn check_output(path: &Path, force: bool, inputs: &[PathBuf]) -> Result<()> {
    let refused = |why: &str| Err(Error::Data(why.into()).in_file(path));
    if is_read(path, inputs) {
        return refused("is an input too; write to another file");
    }
    if path.is_dir() {
        return refused("is a folder; name a file in it");
    }
    if path.exists() && !path.is_file() {
        // The output is renamed to its place, and /dev/null must not become a file.
        return refused("is not a regular file (a pipe or device?); write to a file");
    }
    if path.symlink_metadata().is_ok() && !force {
        return refused("is there already; use --force to replace it");
    }
    if let Some(folder) = path.parent().filter(|f| !f.as_os_str().is_empty() && !f.is_dir()) {
        return refused(&format!("there is no folder {}; make it first", folder.display()));
    }
    let failed = |source| Error::Write { path: path.to_owned(), source };
    temporary_beside(path).map(drop).map_err(failed)
}

/// Whether writing to a path would replace something that is read.
pub(crate) fn is_read(path: &Path, inputs: &[PathBuf]) -> bool {
    let Ok(path) = path.canonicalize() else { return false };
    let inputs = inputs.iter().filter_map(|input| input.canonicalize().ok());
    inputs.into_iter().any(|input| path == input || is_part_of(&path, &input))
}

/// Whether a file is one of those that a folder is read from.
fn is_part_of(file: &Path, folder: &Path) -> bool {
    let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let roles = ["edges.", "edges_", "features.", "nodes.", "labels.", "values.", "split.", "ind."];
    file.parent() == Some(folder) && roles.iter().any(|role| name.starts_with(role))
}
