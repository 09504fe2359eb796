//! Sums over neighbours on the GPU.
//!
//! A graph is sent once. One that is larger than the memory stays where it is and is sent in parts, for every product anew.

use crate::arguments::arguments;
use crate::lanes::Held;
use cudarc::driver::{CudaSlice, DeviceRepr, ValidAsZeroBits};
use gfgcn::device::Sums;
use gfgcn::{Error, Result};
use std::ops::Range;

/// Rows of more neighbours than this are added up in pieces.
const LONG_ROW: u64 = 256;
/// Nodes that numbers of 31 bits tell apart.
const MOST_NODES: usize = 1 << 31;
/// Neighbours in a piece.
const PIECE: u64 = 512;
/// Threads of a block at most: all of them wait for the longest of their rows, so there are few.
const BLOCK: usize = 128;
/// Bytes of a block of columns that are in the GPU's cache without being asked to stay.
const CACHED: usize = 32 << 20;
/// Bytes of a part of a graph that is streamed.
const PART: u64 = 1 << 30;

/// A floating-point type that columns are propagated in.
pub(crate) trait Real: DeviceRepr + ValidAsZeroBits + Copy + Default {
    /// As kernels are named by it.
    const NAME: &'static str;
    /// Entries in sixteen bytes.
    const LANES: usize = 16 / size_of::<Self>();
    fn from_f64(value: f64) -> Self;
    fn argument(self) -> crate::arguments::Argument;
}

impl Real for f32 {
    const NAME: &'static str = "f32";
    fn from_f64(value: f64) -> Self {
        value as f32
    }
    fn argument(self) -> crate::arguments::Argument {
        self.into()
    }
}

impl Real for f64 {
    const NAME: &'static str = "f64";
    fn from_f64(value: f64) -> Self {
        value
    }
    fn argument(self) -> crate::arguments::Argument {
        self.into()
    }
}

/// The sums of an operator.
#[derive(Debug)]
pub(crate) struct DeviceSums {
    nodes: usize,
    loops: f32,
    offsets: CudaSlice<u64>,
    scale: CudaSlice<f64>,
    parts: Vec<Part>,
    /// Of the only part, where the graph is on the GPU.
    resident: Option<Edges>,
}

#[derive(Debug)]
struct Edges {
    neighbours: CudaSlice<u32>,
    weights: Option<CudaSlice<f32>>,
}

/// Rows whose neighbours are on the GPU together.
#[derive(Debug)]
struct Part {
    rows: Range<usize>,
    edges: Range<usize>,
    long: Option<LongRows>,
}

/// Rows that are added up in pieces.
#[derive(Debug)]
struct LongRows {
    rows: CudaSlice<u32>,
    count: usize,
    /// The first piece of each row, and one past the last.
    first: CudaSlice<u32>,
    /// The first and last positions of each piece.
    pieces: CudaSlice<u64>,
    /// The row that a piece is the first of; a number that no row has for others.
    owners: CudaSlice<u32>,
    piece_count: usize,
}

/// One product: y = a · scale ∘ (loops · x + A x) + c · z.
pub(crate) struct Step<'a, T> {
    pub(crate) a: T,
    pub(crate) c: T,
    pub(crate) x: &'a CudaSlice<T>,
    /// Whether z is the old y; there is no z otherwise.
    pub(crate) in_place: bool,
    pub(crate) y: &'a CudaSlice<T>,
    pub(crate) stride: usize,
}

impl DeviceSums {
    /// Sends the sums of an operator, the graph with them if it takes no more than so many bytes.
    pub(crate) fn new(lane: &Held, sums: &Sums<'_>, budget: u64) -> Result<Self> {
        let nodes = sums.offsets.len() - 1;
        // A bit of their numbers has another meaning on the GPU.
        if nodes > MOST_NODES {
            let problem = format!("it takes {MOST_NODES} nodes at most; choose --device cpu");
            return Err(Error::Device { device: lane.device.name.clone(), problem });
        }
        let per_edge = if sums.weights.is_some() { 8 } else { 4 };
        let bytes = per_edge * sums.neighbours.len() as u64;
        let is_resident = bytes <= budget;
        let edges_at_once =
            if is_resident { u64::MAX } else { (PART.min(budget / 2) / per_edge).max(1 << 20) };
        let parts = divide(sums.offsets, edges_at_once).into_iter().map(|rows| {
            let edges = sums.offsets[rows.start] as usize..sums.offsets[rows.end] as usize;
            let long = LongRows::new(lane, sums.offsets, rows.clone())?;
            Ok(Part { rows, edges, long })
        });
        let parts = parts.collect::<Result<Vec<Part>>>()?;
        let all = 0..sums.neighbours.len();
        let offsets = lane.upload(sums.offsets)?;
        let resident = is_resident.then(|| Edges::new(lane, sums, all, &offsets)).transpose()?;
        Ok(DeviceSums {
            nodes,
            loops: sums.loops,
            offsets,
            scale: lane.upload(sums.scale)?,
            parts,
            resident,
        })
    }

    /// Takes a step. The sums are those that this was made of.
    pub(crate) fn step<T: Real>(
        &self,
        lane: &Held,
        sums: &Sums<'_>,
        step: &Step<'_, T>,
    ) -> Result<()> {
        for part in &self.parts {
            match &self.resident {
                Some(edges) => self.part(lane, part, edges, 0, step)?,
                None => {
                    let edges = Edges::new(lane, sums, part.edges.clone(), &self.offsets)?;
                    self.part(lane, part, &edges, part.edges.start as u64, step)?;
                }
            }
        }
        Ok(())
    }

    fn part<T: Real>(
        &self,
        lane: &Held,
        part: &Part,
        edges: &Edges,
        origin: u64,
        step: &Step<'_, T>,
    ) -> Result<()> {
        let Step { a, c, x, in_place, y, stride } = *step;
        let z = in_place.then_some(y);
        let (a, c) = (a.argument(), c.argument());
        let vectors = stride / T::LANES;
        // Each thread has one vector of a row, or of a piece of one; all of a row's are in one block where they fit.
        let across = vectors.div_ceil(BLOCK);
        let width = vectors.div_ceil(across);
        let rows_of_block = BLOCK / width;
        let threads = (rows_of_block * width) as u32;
        let grid = (part.rows.len().div_ceil(rows_of_block), across);
        let (first, last) = (part.rows.start as u32, part.rows.end as u32);
        let crowded = u32::from(size_of::<T>() * self.nodes * stride > CACHED);
        lane.launch(
            &format!("product_{}", T::NAME),
            grid,
            threads,
            arguments![
                &self.offsets,
                &edges.neighbours,
                edges.weights.as_ref(),
                origin,
                LONG_ROW,
                self.loops,
                &self.scale,
                a,
                c,
                x,
                z,
                y,
                stride as u32,
                width as u32,
                first,
                last,
                crowded,
            ],
        )?;
        let Some(long) = &part.long else { return Ok(()) };
        let partial = lane.allocate::<f64>(long.piece_count * stride)?;
        lane.launch(
            &format!("piece_sums_{}", T::NAME),
            (long.piece_count.div_ceil(rows_of_block), across),
            threads,
            arguments![
                &edges.neighbours,
                edges.weights.as_ref(),
                origin,
                &long.pieces,
                &long.owners,
                self.loops,
                x,
                &partial,
                stride as u32,
                width as u32,
                long.piece_count as u32,
                crowded,
            ],
        )?;
        lane.launch(
            &format!("add_pieces_{}", T::NAME),
            (long.count, vectors.div_ceil(64)),
            64,
            arguments![
                &long.rows,
                &long.first,
                long.count as u32,
                &partial,
                &self.scale,
                a,
                c,
                z,
                y,
                stride as u32,
                crowded,
            ],
        )
    }

    pub(crate) fn nodes(&self) -> usize {
        self.nodes
    }
}

impl Edges {
    fn new(
        lane: &Held,
        sums: &Sums<'_>,
        edges: Range<usize>,
        offsets: &CudaSlice<u64>,
    ) -> Result<Self> {
        let weights = sums.weights.map(|weights| lane.upload(&weights[edges.clone()]));
        let (neighbours, count) = (lane.upload(&sums.neighbours[edges.clone()])?, edges.len());
        lane.launch_each("mark_hot", count, arguments![&neighbours, offsets, LONG_ROW, count])?;
        Ok(Edges { neighbours, weights: weights.transpose()? })
    }
}

impl LongRows {
    fn new(lane: &Held, offsets: &[u64], rows: Range<usize>) -> Result<Option<Self>> {
        let long: Vec<usize> =
            rows.filter(|&row| offsets[row + 1] - offsets[row] > LONG_ROW).collect();
        if long.is_empty() {
            return Ok(None);
        }
        /// As the kernel has it.
        const NONE: u32 = u32::MAX;
        let (mut first, mut pieces, mut owners) = (vec![0u32], Vec::new(), Vec::new());
        for &row in &long {
            let mut begin = offsets[row];
            while begin < offsets[row + 1] {
                let end = offsets[row + 1].min(begin + PIECE);
                pieces.extend([begin, end]);
                owners.push(if begin == offsets[row] { row as u32 } else { NONE });
                begin = end;
            }
            first.push((pieces.len() / 2) as u32);
        }
        let numbers: Vec<u32> = long.iter().map(|&row| row as u32).collect();
        Ok(Some(LongRows {
            rows: lane.upload(&numbers)?,
            count: long.len(),
            first: lane.upload(&first)?,
            piece_count: pieces.len() / 2,
            pieces: lane.upload(&pieces)?,
            owners: lane.upload(&owners)?,
        }))
    }
}

/// All rows in ranges of at most so many edges, but of one row at least.
fn divide(offsets: &[u64], edges: u64) -> Vec<Range<usize>> {
    let nodes = offsets.len() - 1;
    let (mut parts, mut start) = (Vec::new(), 0);
    while start < nodes {
        let most = offsets[start].saturating_add(edges);
        let end = offsets.partition_point(|&offset| offset <= most) - 1;
        let end = end.clamp(start + 1, nodes);
        parts.push(start..end);
        start = end;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_all_rows_and_none_has_too_many_edges() {
        let offsets = [0, 3, 3, 10, 11, 12, 30];
        assert_eq!(divide(&offsets, 10), [0..3, 3..5, 5..6]);
        assert_eq!(divide(&offsets, u64::MAX), vec![Range { start: 0, end: 6 }]);
        assert_eq!(divide(&offsets, 1), [0..1, 1..2, 2..3, 3..4, 4..5, 5..6]);
        assert!(divide(&[0], 5).is_empty());
    }
}
