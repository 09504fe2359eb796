//! Where named datasets live on disk.
//!
//! `--data-dir` goes before `GFGCN_DATA`, and that before the platform's folder for user data: the
//! closer to the command, the stronger.

use crate::canonical_name;
use gfgcn::{Error, Result};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// The environment variable that names the folder.
pub const VARIABLE: &str = "GFGCN_DATA";

/// The folder to look for named datasets and to download them to. It need not exist yet.
///
/// # Errors
/// If the argument is empty, or nothing names a folder and the user has no home.
pub fn resolve(argument: Option<&Path>) -> Result<PathBuf> {
    choose(argument, std::env::var_os(VARIABLE), || {
        directories::ProjectDirs::from("", "", "gfgcn").map(|dirs| dirs.data_dir().to_owned())
    })
}

fn choose(
    argument: Option<&Path>,
    variable: Option<OsString>,
    platform: impl FnOnce() -> Option<PathBuf>,
) -> Result<PathBuf> {
    if let Some(folder) = argument {
        // An empty path would silently mean the current folder: an unset shell variable, usually.
        return if folder.as_os_str().is_empty() {
            Err(Error::parameter("--data-dir", "empty", "a folder (`.` for the current one)"))
        } else {
            Ok(folder.to_owned())
        };
    }
    if let Some(folder) = variable.filter(|value| !value.is_empty()) {
        return Ok(PathBuf::from(folder));
    }
    platform().ok_or_else(|| {
        Error::Data(format!(
            "there is no home folder to keep datasets in; name a folder with --data-dir or {VARIABLE}"
        ))
    })
}

/// The dataset of that name in a folder: a file `NAME.npz`, or else a subfolder `NAME`. Case and
/// `-` or `_` do not matter, but the exact spelling wins where several are there.
///
/// The name is compared with what is in the folder and never made a path of, so `../x` finds
/// nothing. A folder that is not there or cannot be listed holds no datasets.
pub fn find(folder: &Path, name: &str) -> Option<PathBuf> {
    let entries: Vec<(String, PathBuf)> = fs::read_dir(folder)
        .ok()?
        .flatten()
        .filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry.path())))
        .collect();
    let matching = |wanted: &str, is_kind: fn(&Path) -> bool| {
        let canonical = canonical_name(wanted);
        entries
            .iter()
            .filter(|(found, path)| canonical_name(found) == canonical && is_kind(path))
            // The order of a listing is the file system's; the choice must not depend on it.
            .min_by_key(|(found, _)| (found != wanted, found.as_str()))
            .map(|(_, path)| path.clone())
    };
    matching(&format!("{name}.npz"), Path::is_file).or_else(|| matching(name, Path::is_dir))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_argument_goes_before_the_variable_before_the_platform() {
        let platform = || Some(PathBuf::from("platform"));
        let variable = || Some(OsString::from("variable"));
        let chosen = choose(Some(Path::new("argument")), variable(), platform).unwrap();
        assert_eq!(chosen, Path::new("argument"));
        assert_eq!(choose(None, variable(), platform).unwrap(), Path::new("variable"));
        assert_eq!(choose(None, None, platform).unwrap(), Path::new("platform"));
        assert_eq!(choose(None, Some("".into()), platform).unwrap(), Path::new("platform"));
    }

    #[test]
    fn no_folder_at_all_says_what_to_do() {
        let error = choose(None, None, || None).unwrap_err().to_string();
        assert!(error.contains("--data-dir") && error.contains("GFGCN_DATA"), "{error}");
        let error = choose(Some(Path::new("")), None, || None).unwrap_err().to_string();
        assert!(error.contains("--data-dir is empty"), "{error}");
    }

    #[test]
    fn datasets_are_found_in_any_spelling() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("Cora_ML.npz"), "").unwrap();
        for name in ["cora-ml", "cora_ml", "CORA-ML", "Cora_ML"] {
            assert_eq!(find(folder.path(), name), Some(path("Cora_ML.npz")), "{name}");
        }
        for name in ["", "cora", "cora-ml.npz", "../cora-ml", "."] {
            assert_eq!(find(folder.path(), name), None, "{name:?}");
        }
        assert_eq!(find(&path("missing"), "cora-ml"), None);
    }

    #[test]
    fn the_exact_spelling_wins_and_files_go_before_folders() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir(path("a-b")).unwrap();
        fs::create_dir(path("c.npz")).unwrap();
        assert_eq!(find(folder.path(), "A_B"), Some(path("a-b")));
        assert_eq!(find(folder.path(), "c"), None, "a folder is not an archive");
        fs::write(path("a-b.npz"), "").unwrap();
        assert_eq!(find(folder.path(), "A_B"), Some(path("a-b.npz")));
        fs::write(path("a_b.npz"), "").unwrap();
        assert_eq!(find(folder.path(), "a_b"), Some(path("a_b.npz")));
        assert_eq!(find(folder.path(), "a-b"), Some(path("a-b.npz")));
    }
}
