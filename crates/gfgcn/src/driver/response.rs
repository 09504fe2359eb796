//! What a design sees of the graph at a node: how much each other node has to do with it.

use super::Driver;
use crate::context::Context;
use crate::design::Input;
use crate::error::Result;
use crate::features::Features;
use crate::filter::{Slabs, propagate};
use crate::matrix::Matrix;

/// One channel of a design at a node, or at several on average: its filtered row is `rows`ᵀ times X.
pub(crate) struct Response<'d> {
    /// c · Σ_i v_i p(Â)_iu for every node u, with the weight of the channel in c.
    pub(crate) nodes: Vec<f64>,
    /// What is filtered.
    pub(crate) input: Input,
    /// X.
    pub(crate) rows: &'d Features,
}

impl Driver<'_> {
    /// Every channel of a design at some nodes, each with its share v of a mean: one column, propagated in double precision.
    ///
    /// # Errors
    /// If the work is cancelled.
    pub(crate) fn responses(
        &self,
        design: usize,
        shares: &[(usize, f64)],
        context: &Context,
    ) -> Result<Vec<Response<'_>>> {
        let everywhere: Vec<usize> = (0..self.nodes).collect();
        let mut column = Matrix::<f64>::zeros(self.nodes, 1);
        shares.iter().for_each(|&(node, share)| column[(node, 0)] += share);
        let response = |(channel, scale): &(super::LoweredChannel, f64)| {
            let sink = Slabs::<f64>::new(self.nodes, self.nodes, 1);
            let propagator = &self.operators[channel.operator].1;
            let filters = std::slice::from_ref(&channel.series);
            propagate(context, propagator, true, filters, &column, &everywhere, &sink)?;
            let mut nodes = sink.finish(1).remove(0).to_native().into_vec();
            nodes.iter_mut().for_each(|value| *value *= scale);
            let input = &self.inputs[channel.input];
            Ok(Response { nodes, input: input.input, rows: &input.rows })
        };
        self.designs[design].iter().map(response).collect()
    }
}
