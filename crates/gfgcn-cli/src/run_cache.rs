//! Where finished runs are kept, and what they were computed by.

use crate::interrupt::WRITING;
use crate::output::Output;
use gfgcn::files::remove_abandoned;
use gfgcn::{Error, Result};
use gfgcn_baselines::{Cache, SOURCES};
use std::path::PathBuf;

/// The environment variable that names the folder.
const VARIABLE: &str = "GFGCN_CACHE";

/// The folder: the one that [`VARIABLE`] names, or else a part of the user's cache.
pub(crate) fn folder() -> Result<PathBuf> {
    if let Some(folder) = std::env::var_os(VARIABLE).filter(|value| !value.is_empty()) {
        return Ok(folder.into());
    }
    let platform = directories::ProjectDirs::from("", "", "gfgcn");
    platform.map(|folders| folders.cache_dir().join("runs")).ok_or_else(|| {
        Error::Data(format!("there is no home folder for a cache; name a folder with {VARIABLE}"))
    })
}

/// The runs of the code that this program computes with; Ctrl-C waits while one is written. None if there is no place for them,
/// which is said.
pub(crate) fn open(output: &Output) -> Option<Cache> {
    let open = || {
        let folder = folder()?;
        remove_abandoned(&folder, None);
        Ok(Cache::new(folder, format!("gfgcn {SOURCES}")).holding(&WRITING))
    };
    let said = |error: &Error| output.note(format!("nothing is cached: {error}"));
    open().inspect_err(said).ok()
}
