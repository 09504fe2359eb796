//! Opening a dataset, whatever it is: a name, an archive, a folder of tables or of Planetoid files.

use crate::{BUNDLED, find, folder, remote};
use gfgcn::context::Context;
use gfgcn::data::Dataset;
use gfgcn::files::put_back;
use gfgcn::{Error, Result};
use gfgcn_data::{Directions, TableFiles, npz, planetoid};
use std::io;
use std::path::Path;

/// Opens a dataset by name or path. Names win: write `./cora` for a folder called cora. Names that are not
/// built in are looked up in the [data folder](folder::resolve).
///
/// ```
/// use gfgcn::context::Context;
/// let cora = gfgcn_datasets::open("cora".as_ref(), None, &Context::default())?;
/// assert_eq!(cora.nodes(), 2708);
/// # Ok::<(), gfgcn::Error>(())
/// ```
///
/// # Errors
/// Nothing of that name, or whatever its reader refuses; less memory than the data take.
pub fn open(dataset: &Path, data_dir: Option<&Path>, context: &Context) -> Result<Dataset> {
    open_with(dataset, data_dir, Directions::AsSaid, context)
}

/// Like [`open`], with edges directed as asked for.
///
/// # Errors
/// As [`open`]; data that say that their edges have no directions where they are asked for.
pub fn open_with(
    dataset: &Path,
    data_dir: Option<&Path>,
    directions: Directions,
    context: &Context,
) -> Result<Dataset> {
    let name = dataset.to_str().filter(|text| !text.contains(std::path::MAIN_SEPARATOR));
    if let Some(bundled) = name.and_then(find) {
        return npz::from_bytes_with(bundled.bytes, bundled.name, directions, context);
    }
    if !dataset.exists() {
        // A killed program may have moved it aside.
        put_back(dataset);
    }
    if dataset.exists() {
        return open_path(dataset, directions, context);
    }
    let Some(name) = name else { return Err(missing(dataset)) };
    let folder = folder::resolve(data_dir)?;
    match folder::find(&folder, name) {
        Some(path) => open_path(&path, directions, context),
        None => Err(unknown(name, &folder)),
    }
}

fn open_path(path: &Path, directions: Directions, context: &Context) -> Result<Dataset> {
    let name = stem(path);
    if !path.is_dir() {
        return match planetoid_name(path) {
            Some((folder, name)) => planetoid::read_with(folder, name, directions, context),
            None if has_extension(path, "npz") => npz::read_with(path, &name, directions, context),
            None => Err(Error::Data(
                "is not a dataset by its name; give an .npz file, a folder, or separate tables \
                 (--edges, --features and --labels)"
                    .into(),
            )
            .in_file(path)),
        };
    }
    if let Some(tables) = TableFiles::in_folder(path)? {
        return TableFiles { directions, ..tables }.read(&name, context);
    }
    match &planetoid::names_in(path)?[..] {
        [only] => planetoid::read_with(path, only, directions, context),
        [] => Err(Error::Data(
            "has neither tables (edges.csv, features.csv, labels.csv) nor Planetoid files \
             (ind.NAME.graph, …)"
                .into(),
        )
        .in_file(path)),
        several => Err(Error::Data(format!(
            "has {} Planetoid datasets ({}); name one by its graph, such as {}",
            several.len(),
            several.join(", "),
            path.join(format!("ind.{}.graph", several[0])).display()
        ))
        .in_file(path)),
    }
}

/// `folder/ind.NAME.graph` (or another of its files) names the dataset in that folder.
fn planetoid_name(path: &Path) -> Option<(&Path, &str)> {
    let name = path.file_name()?.to_str()?.strip_prefix("ind.")?.split('.').next()?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    Some((folder.unwrap_or(Path::new(".")), name))
}

fn missing(path: &Path) -> Error {
    let error = io::Error::new(io::ErrorKind::NotFound, "there is no such file or folder");
    Error::Read(error).in_file(path)
}

fn unknown(name: &str, folder: &Path) -> Error {
    if let Some(remote) = remote::find(name) {
        return Error::Data(format!(
            "dataset {name:?} is not in {}; download it with: gfgcn data get {}",
            folder.display(),
            remote.name
        ));
    }
    let names = BUNDLED.iter().map(|b| b.name).chain(remote::REMOTE.iter().map(|r| r.name));
    Error::Data(format!(
        "there is no file, folder or dataset called {name:?}; known datasets are {}",
        names.collect::<Vec<_>>().join(", ")
    ))
}

/// Whether a file's name ends in that extension, in any case.
pub fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found.eq_ignore_ascii_case(extension))
}

/// The name of a dataset that is read from a path.
pub fn stem(path: &Path) -> String {
    path.canonicalize()
        .unwrap_or_else(|_| path.to_owned())
        .file_stem()
        .map_or_else(|| "dataset".into(), |stem| stem.to_string_lossy().into_owned())
}
