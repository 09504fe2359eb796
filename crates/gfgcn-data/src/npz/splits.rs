//! Splits as arrays: indices or masks, and masks of several splits at once.
//!
//! | members | shape |
//! |---|---|
//! | `train_idx`, `val_idx`, `test_idx` | the nodes of each part |
//! | `train_mask`, `val_mask`, `test_mask` | one truth value per node; or as the next |
//! | `train_masks`, `val_masks`, `test_masks` | splits × nodes; or nodes × splits, or one split as above |
//!
//! Where there are as many splits as nodes, rows are splits: that is how most publish them, and how they are written.

use super::{Members, named};
use crate::npy::{self, Array};
use gfgcn::data::Dataset;
use gfgcn::split::Split;
use gfgcn::{Error, Result};

const PARTS: [&str; 3] = ["train", "val", "test"];
const KINDS: [&str; 3] = ["idx", "mask", "masks"];

/// Bytes that a split takes, whatever its nodes: its parts as they are read and as they are kept.
const SPLIT: usize = 2 * size_of::<[Vec<usize>; 3]>() + 3 * 64;

/// A part in every split, and the member that it is from.
struct Part {
    member: String,
    of_split: Vec<Vec<usize>>,
}

impl Members<'_> {
    /// All splits; none where no member is about the training part.
    pub(super) fn splits(&mut self, nodes: usize) -> Result<Vec<Split>> {
        let names = self.archive.names();
        let has = |part: &str, kind: &str| names.contains(&format!("{part}_{kind}"));
        // Of several splits all parts are published; one that is called otherwise must not pass for empty.
        let complete = PARTS.iter().any(|part| has(part, "masks"));
        if !complete && !KINDS.iter().any(|kind| has("train", kind)) {
            return Ok(Vec::new());
        }
        let (mut parts, mut members) = (Vec::new(), Vec::new());
        for name in PARTS {
            match self.part(name, nodes)? {
                Some(Part { member, of_split }) => {
                    parts.push(of_split);
                    members.push(member);
                    let (first, last) = (&members[0], &members[members.len() - 1]);
                    let what = format!("splits in {last} (as many as in {first})");
                    Error::check_size(what, parts[0].len(), parts[parts.len() - 1].len())?;
                }
                None if complete => {
                    return Err(Error::Format(format!("member {name}_masks is missing")));
                }
                None => parts.push(vec![Vec::new(); parts[0].len()]),
            }
        }
        let count = parts[0].len();
        let members = members.join(", ");
        let mut parts = parts.into_iter().map(Vec::into_iter);
        let mut part = || parts.next().expect("three parts");
        let splits = part().zip(part()).zip(part()).enumerate();
        let split = |(k, ((train, validation), test))| {
            let what = match count {
                1 => format!("the split (members {members})"),
                _ => format!("split {k}, counted from 0 (members {members})"),
            };
            Split::new(nodes, train, validation, test).map_err(|error| named(&what, error))
        };
        splits.map(split).collect()
    }

    /// A part by the first kind of member that is there.
    fn part(&mut self, part: &str, nodes: usize) -> Result<Option<Part>> {
        let member = format!("{part}_idx");
        if let Some(indices) = self.integers(&member, None)? {
            if let Some(negative) = indices.iter().find(|node| **node < 0) {
                return Err(Error::Format(format!(
                    "member {member} names node {negative}, but nodes are numbered from 0"
                )));
            }
            let of_split = vec![indices.into_iter().map(|node| node as usize).collect()];
            return Ok(Some(Part { member, of_split }));
        }
        for kind in &KINDS[1..] {
            let member = format!("{part}_{kind}");
            let reading = self.reading.clone();
            let read = |array: &Array<'_>| {
                let (splits, by_node) = orientation(array, nodes)?;
                reading.hold((splits * SPLIT) as u64)?;
                masked(array, splits, by_node)
            };
            if let Some(of_split) = self.with(&member, 2 * size_of::<i64>(), read)? {
                return Ok(Some(Part { member, of_split }));
            }
        }
        Ok(None)
    }
}

/// The number of splits of a mask, and whether its rows are nodes.
fn orientation(array: &Array<'_>, nodes: usize) -> Result<(usize, bool)> {
    array.check_plain()?;
    match *array.shape() {
        [length] => {
            Error::check_size("entries (one per node)", nodes, length)?;
            Ok((1, true))
        }
        [splits, columns] if columns == nodes && splits > 0 => Ok((splits, false)),
        [rows, splits] if rows == nodes && splits > 0 => Ok((splits, true)),
        _ => Err(Error::Format(format!(
            "has shape {:?}, but a mask has an entry for each of the {nodes} nodes, and a row for each \
             split where there are several",
            array.shape()
        ))),
    }
}

/// The nodes that a mask is true for, split by split.
fn masked(array: &Array<'_>, splits: usize, by_node: bool) -> Result<Vec<Vec<usize>>> {
    let values = array.integers(None)?;
    if let Some(entry) = values.iter().position(|value| !matches!(value, 0 | 1)) {
        return Err(Error::Format(format!(
            "entry {entry} is {}, but a mask holds 0 and 1, or false and true",
            values[entry]
        )));
    }
    let nodes = values.len() / splits;
    let place = |split: usize, node: usize| match by_node {
        true => node * splits + split,
        false => split * nodes + node,
    };
    let nodes_of = |split| (0..nodes).filter(|&node| values[place(split, node)] == 1).collect();
    Ok((0..splits).map(nodes_of).collect())
}

/// The members that hold the splits of a dataset: indices of one, masks of several.
pub(super) fn members_of(dataset: &Dataset) -> Vec<(&'static str, Vec<u8>)> {
    let (splits, nodes) = (dataset.splits(), dataset.nodes());
    if let [split] = splits {
        let names = ["train_idx", "val_idx", "test_idx"].into_iter();
        let indices = |part: &[usize]| super::integers(part.iter().map(|&node| node as i64));
        return names.zip(split.parts()).map(|(name, (_, part))| (name, indices(part))).collect();
    }
    if splits.is_empty() {
        return Vec::new();
    }
    let names = ["train_masks", "val_masks", "test_masks"].into_iter().enumerate();
    let mask = |part: usize| {
        let mut mask = vec![0; splits.len() * nodes];
        for (split, row) in splits.iter().zip(mask.chunks_exact_mut(nodes)) {
            split.parts()[part].1.iter().for_each(|&node| row[node] = 1);
        }
        npy::encode("|b1", &[splits.len(), nodes], &mask)
    };
    names.map(|(part, name)| (name, mask(part))).collect()
}
