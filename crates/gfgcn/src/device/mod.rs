//! What an accelerator does for the library: the same arithmetic, somewhere else.
//!
//! A [`Device`] knows three pieces of work, all of them plain arrays in and plain arrays out: filtering features over a graph
//! ([`Session::filter`]), scoring every node ([`Session::scores`]), and ridge systems for any number of penalties at once
//! ([`System`]). What is learnt from whom, how λ is chosen and what a model is stays here, so a device has nothing to get
//! wrong but sums. Filtered rows stay where they were computed ([`ResidentRows`]) until somebody needs them.
//!
//! Where work runs is said by the [context](crate::context::Placement). Results of a device agree with those of the processor
//! up to rounding, and are the same bits whenever the same device computes them.

use crate::context::Context;
use crate::driver::Side;
use crate::error::Result;
use crate::features::Features;
use crate::filter::Basis;
use crate::matrix::Matrix;
use std::any::Any;
use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

/// An accelerator.
pub trait Device: Debug + Send + Sync {
    /// What a person calls it, with the number it is chosen by.
    fn name(&self) -> String;

    /// A place for the graphs and features of one piece of work: what is there once is not sent again.
    ///
    /// # Errors
    /// As all work of a device, [`Error::Device`](crate::Error::Device) if it fails, and whatever the context says.
    fn session(&self) -> Result<Arc<dyn Session>>;

    /// The ridge system of some training nodes and their targets Y, nodes × columns.
    ///
    /// # Errors
    /// As [`Device::session`].
    fn system(
        &self,
        inputs: SystemInputs<'_>,
        targets: &Matrix<f64>,
        context: &Context,
    ) -> Result<Arc<dyn System>>;
}

/// y = scale ∘ (loops · x + A x): one sum over neighbours for every node.
#[derive(Clone, Copy, Debug)]
pub struct Sums<'a> {
    /// Where each node's neighbours begin, and where the last one's end.
    pub offsets: &'a [u64],
    /// The neighbours of all nodes, one after the other.
    pub neighbours: &'a [u32],
    /// One per neighbour; absent when every weight is 1.
    pub weights: Option<&'a [f32]>,
    /// What a node's own row counts.
    pub loops: f32,
    /// What each node's sum is multiplied by.
    pub scale: &'a [f64],
}

/// outer ∘ p(W) (outer⁻¹ ∘ B) for several polynomials p, where a product with W is one sum over neighbours, or two.
#[derive(Clone, Debug)]
pub struct Operation<'a> {
    /// Tells the sums and scales of this operation from those of others in the same session.
    pub key: usize,
    /// The way there, where a step is there and back.
    pub there: Option<Sums<'a>>,
    /// The sums of a product.
    pub sums: Sums<'a>,
    /// What each node's row is multiplied by in the end, and its reciprocal by first.
    pub outer: &'a [f64],
    /// The vectors that the polynomials are written in.
    pub basis: Basis,
    /// The coefficients of each polynomial.
    pub polynomials: Vec<&'a [f64]>,
}

/// Features that are filtered.
#[derive(Clone, Copy, Debug)]
pub struct DeviceInput<'a> {
    /// Tells these features from others in the same session.
    pub key: usize,
    /// The features.
    pub features: &'a Features,
}

/// Graphs and features on a device, and what is computed from them.
pub trait Session: Debug + Send + Sync {
    /// The rows of some nodes of p(Â) X for each polynomial, in single precision, in the order of `nodes`; of all nodes, if
    /// none are named. From the side of the selectors, the operation is that of the transposed operator.
    ///
    /// # Errors
    /// As [`Device::session`].
    fn filter(
        &self,
        operation: &Operation<'_>,
        input: DeviceInput<'_>,
        side: Side,
        nodes: Option<&[usize]>,
        context: &Context,
    ) -> Result<Vec<Arc<dyn ResidentRows>>>;

    /// p(Â)(X W) of all nodes for the one polynomial of an operation, in double precision; W is features × columns.
    ///
    /// # Errors
    /// As [`Device::session`].
    fn scores(
        &self,
        operation: &Operation<'_>,
        input: DeviceInput<'_>,
        weights: &Matrix<f64>,
        context: &Context,
    ) -> Result<Matrix<f64>>;
}

/// Filtered rows that are on a device.
pub trait ResidentRows: Debug + Send + Sync {
    /// The number of rows.
    fn rows(&self) -> usize;
    /// The number of columns.
    fn cols(&self) -> usize;
    /// A copy in the machine's memory.
    ///
    /// # Errors
    /// As [`Device::session`].
    fn fetch(&self) -> Result<Matrix<f32>>;
    /// For the device, which knows what is behind it.
    fn as_any(&self) -> &dyn Any;
}

/// Numbers of somebody else's that are on a device: used there by a session of the same device, and fetched by whoever
/// reads them here.
pub trait ResidentArray<T>: Debug + Send + Sync {
    /// The number of entries.
    fn len(&self) -> usize;
    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// What has to be known about them wherever they are.
    fn survey(&self) -> Survey<T>;
    /// A copy in the machine's memory. Made without the threads that other work shares: they may be waiting for it.
    ///
    /// # Errors
    /// As [`Device::session`].
    fn fetch(&self) -> Result<Vec<T>>;
    /// For the device, which knows what is behind it.
    fn as_any(&self) -> &dyn Any;
}

/// What has to be known about features, without reading them here.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Survey<T> {
    /// Entries that are not zero.
    pub nonzeros: usize,
    /// The position of the first entry that is NaN or infinite, and what it is.
    pub not_finite: Option<(usize, T)>,
}

/// What a ridge system is made of.
#[derive(Clone, Copy, Debug)]
pub enum SystemInputs<'a> {
    /// Rows on the device, solved on the smaller side.
    Resident(Gathered<'a>),
    /// F, training nodes × features, centred and scaled as it should be: S = FᵀF.
    Primal(&'a Matrix<f64>),
    /// S = M, the kernel values of all pairs of training nodes, scaled as they should be.
    Dual(&'a Matrix<f64>),
}

/// Some rows of several channels side by side.
#[derive(Clone, Copy, Debug)]
pub struct Gathered<'a> {
    /// The channels, each with what its values are multiplied by.
    pub channels: &'a [(Arc<dyn ResidentRows>, f64)],
    /// The positions of the rows, one per training node.
    pub positions: &'a [usize],
    /// The share of each row in the mean that is subtracted from F on the primal side; none if no mean is.
    pub shares: Option<&'a [f64]>,
    /// What each row is multiplied by after that; none for 1.
    pub roots: Option<&'a [f64]>,
}

impl Gathered<'_> {
    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.channels.iter().map(|(channel, _)| channel.cols()).sum()
    }

    /// Whether the system is that of the features: where they are fewer than training nodes.
    pub fn is_primal(&self) -> bool {
        self.columns() < self.positions.len()
    }
}

/// A symmetric system S, as large as the features (primal) or the training nodes (dual), that is solved for any number
/// of penalties ξ at once.
pub trait System: Debug + Send + Sync {
    /// The diagonal of S.
    ///
    /// # Errors
    /// As [`Device::session`].
    fn diagonal(&self) -> Result<Vec<f64>>;

    /// The means that were subtracted from the columns of F, where they were.
    fn means(&self) -> Option<&[f64]>;

    /// For each penalty (S + ξI)⁻¹ FᵀY on the primal side, (S + ξI)⁻¹ Y on the dual one; `None` where ξ is too small for
    /// double precision.
    ///
    /// # Errors
    /// As [`Device::session`].
    fn solve(&self, penalties: &[f64], context: &Context) -> Result<Vec<Option<Matrix<f64>>>>;

    /// Penalties whose factors fit into the memory of the device at a time; at least one.
    ///
    /// # Errors
    /// As [`Device::session`].
    fn penalties_at_once(&self) -> Result<usize>;

    /// What left-out predictions follow from, for each penalty.
    ///
    /// # Errors
    /// As [`Device::session`].
    fn left_out(&self, penalties: &[f64], context: &Context) -> Result<Box<dyn LeftOutFits + '_>>;

    /// FᵀV of a system that was [gathered](SystemInputs::Resident), for V of training nodes × columns.
    ///
    /// # Errors
    /// As [`Device::session`].
    fn transposed_times(&self, v: &Matrix<f64>, context: &Context) -> Result<Matrix<f64>>;
}

/// The fit and the leverage of every training node at several penalties. For all nodes these are many times what the system
/// itself takes, so they are fetched for a range of nodes at a time.
pub trait LeftOutFits: Debug + Send + Sync {
    /// Which penalties are large enough for double precision; what is fetched for the others is meaningless.
    fn usable(&self) -> &[bool];

    /// Replaces the contents of `out` by the fits and leverages of a range of nodes.
    ///
    /// # Errors
    /// As [`Device::session`].
    fn fetch(&self, nodes: Range<usize>, out: &mut LeftOutParts, context: &Context) -> Result<()>;

    /// How well the left-out predictions of all nodes fit their targets, for each penalty: a few sums, instead of what they follow
    /// from. Asked on the primal side only; on the dual one there are fewer nodes than features.
    ///
    /// # Errors
    /// As [`Device::session`].
    fn judge(&self, judging: &Judging<'_>, context: &Context) -> Result<Vec<Judged>>;
}

/// The fit and the leverage of some training nodes at several penalties.
#[derive(Clone, Debug, Default)]
pub struct LeftOutParts {
    /// F (S + ξI)⁻¹ FᵀY on the primal side, (S + ξI)⁻¹ Y on the dual one; penalties × nodes × columns.
    pub fitted: Vec<f64>,
    /// F_i (S + ξI)⁻¹ F_iᵀ on the primal side, entry (i, i) of (S + ξI)⁻¹ on the dual one; penalties × nodes.
    pub forms: Vec<f64>,
}

/// What left-out predictions follow from beside fits and leverages, and what they are compared with beside the targets.
///
/// With the target y of a node, the mean m of its column and s = √w, the prediction is y − (s (y − m) − v) / (1 − q) / s for the
/// fit v and the leverage q; with means, s² / Σ w is added to that. It is 0 where it is smaller than `zeros` says, or than that
/// times `growth` / (1 − q) / s.
#[derive(Clone, Copy, Debug)]
pub struct Judging<'a> {
    /// The class of each node, as a column of Y, or as 0 and 1 where two classes share one by its sign; no column's where it is
    /// none of them. A node is of the column with the largest prediction, the first of equals. None of nodes with values.
    pub classes: Option<&'a [u32]>,
    /// What was subtracted from the columns of Y, with an intercept.
    pub means: Option<&'a [f64]>,
    /// √w, which the targets of the system are multiplied by already; none for 1.
    pub roots: Option<&'a [f64]>,
    /// Σ w: the number of nodes where all count alike.
    pub total: f64,
    /// Predictions of each column that are smaller are zeros before rounding.
    pub zeros: &'a [f64],
    /// How fast rounding grows as q comes near 1.
    pub growth: f64,
}

/// How well the left-out predictions of all nodes fit at one penalty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Judged {
    /// Nodes whose class was predicted.
    pub correct: usize,
    /// For each column Σ w d², Σ d² and Σ |d| of the differences d between prediction and target.
    pub errors: Vec<[f64; 3]>,
}
