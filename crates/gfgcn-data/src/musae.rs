//! Folders in the layout of MUSAE and KarateClub: `PREFIX_edges.csv`, `PREFIX_features.json` or `.csv`, `PREFIX_target.csv`.
//!
//! The target table has a row for each node, and says more than the label: its columns have to be told apart. Features are
//! lists (`{"0": [3, 17], …}`) or entries (`node_id,feature_id,value`). KarateClub's have no prefix.

use crate::columns::Columns;
use crate::directions::Directions;
use crate::graph_tables::{EdgeFile, TableFiles};
use crate::reading::Reading;
use crate::table::{Table, TableSource};
use gfgcn::context::Context;
use gfgcn::data::Dataset;
use gfgcn::{Error, Result};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// The files of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MusaeFiles {
    edges: PathBuf,
    features: Option<PathBuf>,
    target: PathBuf,
}

/// Columns of targets that are labels, the first that is there.
const LABELS: [&str; 4] = ["ml_target", "page_type", "mature", "target"];
/// Columns that edges call nodes by, the first that is there: in some collections `id` is another.
const IDS: [&str; 2] = ["new_id", "id"];
/// More different numbers than this are values, not classes.
const MOST_CLASSES: usize = 50;

impl MusaeFiles {
    /// The files of a folder, if it is one of these.
    ///
    /// # Errors
    /// A folder that cannot be looked into, or one with several datasets.
    pub(crate) fn in_folder(folder: &Path) -> Result<Option<MusaeFiles>> {
        let failed = |error| Error::Read(error).in_file(folder);
        let mut targets = Vec::new();
        for entry in folder.read_dir().map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let Some(prefix) = name.strip_suffix("target.csv").map(str::to_owned) else { continue };
            let file = |end: &str| {
                Some(folder.join(format!("{prefix}{end}"))).filter(|path| path.is_file())
            };
            let features = file("features.json").or_else(|| file("features.csv"));
            if let Some(edges) = file("edges.csv") {
                targets.push(MusaeFiles { edges, features, target: path });
            }
        }
        targets.sort_by(|a, b| a.target.cmp(&b.target));
        match targets.len() {
            0 | 1 => Ok(targets.pop()),
            several => {
                let problem = format!("has {several} datasets; put each into a folder of its own");
                Err(Error::Data(problem).in_file(folder))
            }
        }
    }

    /// The files that are read.
    pub fn paths(&self) -> Vec<&Path> {
        let features = self.features.as_deref();
        [Some(&*self.edges), features, Some(&*self.target)].into_iter().flatten().collect()
    }

    pub(crate) fn read(
        &self,
        name: &str,
        directions: Directions,
        columns: &Columns,
        context: &Context,
    ) -> Result<Dataset> {
        let reading = &Reading::under(context)?;
        let mut columns = columns.clone();
        let are_values = self.choose(&mut columns, reading)?;
        let target = Some(self.target.clone());
        let (labels, values) = if are_values { (None, target) } else { (target, None) };
        let notes = vec![format!(
            "column {:?} of {} is what is learnt (--label-column names another)",
            columns.label.as_deref().unwrap_or_default(),
            self.target.file_name().unwrap_or_default().to_string_lossy()
        )];
        let files = TableFiles {
            edges: vec![EdgeFile::from(self.edges.clone())],
            features: self.features.clone(),
            nodes: Some(self.target.clone()),
            labels,
            values,
            directions,
            columns,
            ..TableFiles::default()
        };
        files.tables().read(name, notes, reading)
    }

    /// Fills in the columns of ids and labels, and says whether the latter are values.
    fn choose(&self, columns: &mut Columns, reading: &Reading) -> Result<bool> {
        let source = TableSource::File { path: self.target.clone(), separator: columns.separator };
        let mut table = Table::open(&source, |_| false, |_| true, reading)?;
        let choose = |given: &Option<String>, known: &[&str]| {
            let found = known.iter().find(|name| table.find_if_there(name).is_some());
            given.clone().or_else(|| found.map(|name| (*name).to_owned()))
        };
        let (id, label) = (choose(&columns.id, &IDS), choose(&columns.label, &LABELS));
        let (Some(id), Some(label)) = (id, label) else {
            return Err(table.header_error(format!(
                "there is no column called {} and one called {}; name them with --id-column and --label-column",
                IDS.join(" or "),
                LABELS.join(", ")
            )));
        };
        let column = table.find(&label)?;
        (columns.id, columns.label) = (Some(id), Some(label));
        let mut numbers = HashSet::new();
        while table.advance()? {
            match table.cell(column)?.text().parse::<f64>() {
                Ok(number) => drop(numbers.insert(number.to_bits())),
                Err(_) => return Ok(false),
            }
            if numbers.len() > MOST_CLASSES {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
