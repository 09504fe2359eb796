//! Opening a dataset, whatever it is: a name, or a path in any [layout](Layout).

use crate::{BUNDLED, Bundled, find, folder, remote};
use gfgcn::context::Context;
use gfgcn::data::Dataset;
use gfgcn::files::put_back;
use gfgcn::{Error, Result};
use gfgcn_data::{Layout, ReadOptions, npz};
use std::io;
use std::path::{Path, PathBuf};

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
    open_with(dataset, data_dir, &ReadOptions::default(), context)
}

/// Like [`open`], with directions and columns as asked for.
///
/// # Errors
/// As [`open`]; data that say that their edges have no directions where they are asked for.
pub fn open_with(
    dataset: &Path,
    data_dir: Option<&Path>,
    options: &ReadOptions,
    context: &Context,
) -> Result<Dataset> {
    match find_path(dataset, data_dir)? {
        Place::Bundled(bundled) => {
            npz::from_bytes_with(bundled.bytes, bundled.name, options.directions, context)
        }
        Place::Path(path) => Layout::of(&path)?.read(&stem(&path), options, context),
    }
}

/// What a dataset's name or path stands for, and how it would be read; `None` for one that is part of the program.
///
/// # Errors
/// As [`open`].
pub fn recognise(dataset: &Path, data_dir: Option<&Path>) -> Result<Option<Layout>> {
    match find_path(dataset, data_dir)? {
        Place::Bundled(_) => Ok(None),
        Place::Path(path) => Layout::of(&path).map(Some),
    }
}

/// Where a dataset is.
enum Place {
    Bundled(&'static Bundled),
    Path(PathBuf),
}

fn find_path(dataset: &Path, data_dir: Option<&Path>) -> Result<Place> {
    let name = dataset.to_str().filter(|text| !text.contains(std::path::MAIN_SEPARATOR));
    if let Some(bundled) = name.and_then(find) {
        return Ok(Place::Bundled(bundled));
    }
    if !dataset.exists() {
        // A killed program may have moved it aside.
        put_back(dataset);
    }
    if dataset.exists() {
        return Ok(Place::Path(dataset.to_owned()));
    }
    let Some(name) = name else { return Err(missing(dataset)) };
    let folder = folder::resolve(data_dir)?;
    match folder::find(&folder, name) {
        Some(path) => Ok(Place::Path(path)),
        None => Err(unknown(name, &folder)),
    }
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
