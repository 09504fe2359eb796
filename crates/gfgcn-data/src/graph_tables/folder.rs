//! Which files of a folder are which tables, by their names.

use super::EdgeFile;
use crate::table::FileFormat;
use gfgcn::{Error, Result};
use std::path::{Path, PathBuf};

/// What a table of a dataset is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Edges,
    Features,
    Nodes,
    Labels,
    Values,
    Split,
}

impl Role {
    pub(super) const ALL: [Role; 6] =
        [Role::Edges, Role::Features, Role::Nodes, Role::Labels, Role::Values, Role::Split];

    /// The name of the file without its extension.
    pub(super) fn stem(self) -> &'static str {
        match self {
            Role::Edges => "edges",
            Role::Features => "features",
            Role::Nodes => "nodes",
            Role::Labels => "labels",
            Role::Values => "values",
            Role::Split => "split",
        }
    }

    /// The files of a folder that could play this role.
    pub(super) fn candidates(self, folder: &Path) -> Result<Vec<PathBuf>> {
        let mut found = Vec::new();
        for extension in self.extensions() {
            let path = folder.join(format!("{}.{extension}", self.stem()));
            if path.try_exists().map_err(|e| Error::Read(e).in_file(&path))? {
                found.push(path);
            }
        }
        if self == Role::Edges {
            found.extend(files_of_relations(folder)?.into_iter().map(|(_, path)| path));
        }
        Ok(found)
    }

    /// The extensions a file may have that plays this role.
    fn extensions(self) -> impl Iterator<Item = &'static str> {
        let matrices: &[&str] = match self {
            Role::Edges => &["mtx", "mtx.gz", "npy", "edges", "edgelist"],
            Role::Features => &["mtx", "mtx.gz", "npy", "json"],
            Role::Labels => &["npy"],
            Role::Nodes | Role::Values | Role::Split => &[],
        };
        FileFormat::TABLE_EXTENSIONS.iter().chain(matrices).copied()
    }
}

/// The edges of a folder. Those in `edges` are a type of their own beside those in `edges_NAME`.
pub(super) fn edge_files(folder: &Path) -> Result<Vec<EdgeFile>> {
    let named = files_of_relations(folder)?;
    let plain = Role::Edges.candidates(folder)?.into_iter();
    let plain: Vec<PathBuf> =
        plain.filter(|path| named.iter().all(|(_, other)| other != path)).collect();
    let plain = only_one(folder, Role::Edges.stem(), plain)?;
    if named.is_empty() {
        return Ok(plain.into_iter().map(EdgeFile::from).collect());
    }
    let mut files: Vec<EdgeFile> = Vec::new();
    for (relation, path) in named {
        if let Some(other) = files.iter().find(|file| file.relation.as_ref() == Some(&relation)) {
            let what = format!("{}_{relation}", Role::Edges.stem());
            only_one(folder, &what, vec![other.path.clone(), path.clone()])?;
        }
        files.push(EdgeFile { path, relation: Some(relation) });
    }
    let relation = Some(Role::Edges.stem().to_owned());
    files.extend(plain.map(|path| EdgeFile { path, relation }));
    Ok(files)
}

/// The names of files in a folder that are tables by their extension and play no role by their name, sorted.
pub(super) fn other_tables(folder: &Path) -> Result<Vec<String>> {
    const SHOWN: usize = 5;
    let failed = |error| Error::Read(error).in_file(folder);
    let mut roles = Vec::new();
    for role in Role::ALL {
        roles.extend(role.candidates(folder)?);
    }
    let mut names = Vec::new();
    for entry in folder.read_dir().map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let lower = name.to_lowercase();
        let is_table = FileFormat::TABLE_EXTENSIONS
            .iter()
            .any(|end| lower.strip_suffix(end).is_some_and(|rest| rest.ends_with('.')));
        if is_table && !roles.contains(&path) {
            names.push(name);
        }
    }
    names.sort_unstable();
    if names.len() > SHOWN {
        let more = names.len() - SHOWN;
        names.truncate(SHOWN);
        names.push(format!("… ({more} more)"));
    }
    Ok(names)
}

/// The files of a folder that hold the edges of one type by their name, sorted.
fn files_of_relations(folder: &Path) -> Result<Vec<(String, PathBuf)>> {
    let failed = |error| Error::Read(error).in_file(folder);
    let mut found = Vec::new();
    let Ok(entries) = folder.read_dir() else { return Ok(found) };
    for entry in entries {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        let Some(rest) = name.and_then(|name| name.strip_prefix("edges_")) else { continue };
        let mut endings = Role::Edges.extensions();
        let relation = endings.find_map(|ending| rest.strip_suffix(ending)?.strip_suffix('.'));
        if let Some(relation) = relation.filter(|relation| !relation.is_empty()) {
            found.push((relation.to_owned(), path));
        }
    }
    found.sort_unstable();
    Ok(found)
}

pub(super) fn the_only(folder: &Path, role: Role) -> Result<Option<PathBuf>> {
    only_one(folder, role.stem(), role.candidates(folder)?)
}

/// The only one of some files, if there is one.
fn only_one(folder: &Path, what: &str, found: Vec<PathBuf>) -> Result<Option<PathBuf>> {
    match found.as_slice() {
        [first, second, ..] => Err(Error::Data(format!(
            "both {:?} and {:?} could be the {what}; remove or rename one",
            first.file_name().unwrap_or_default(),
            second.file_name().unwrap_or_default(),
        ))
        .in_file(folder)),
        _ => Ok(found.into_iter().next()),
    }
}
