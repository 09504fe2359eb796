//! Filtering: designs of a pass to the filtered rows of each, channels that share a way through the graph together.

use super::{Driver, Filtered, LoweredChannel};
use crate::context::Context;
use crate::error::Result;
use crate::filter::Series;
use std::ops::Range;
use std::sync::Arc;

impl Driver<'_> {
    /// The filtered features of the planned rows, for each design of a pass.
    ///
    /// # Errors
    /// If the work is cancelled, or a device fails.
    pub fn run(&self, pass: Range<usize>, context: &Context) -> Result<Vec<Filtered>> {
        self.run_where_it_is(pass, context)?.into_iter().map(Filtered::fetched).collect()
    }

    /// As [`Driver::run`], with rows left on the device of the context, if it has one: [`Filtered::resident`] has them, and
    /// nothing else can be asked of them.
    ///
    /// # Errors
    /// As [`Driver::run`].
    pub fn run_where_it_is(&self, pass: Range<usize>, context: &Context) -> Result<Vec<Filtered>> {
        let designs = &self.designs[pass.clone()];
        if let Some(session) = self.session(context)? {
            let rows = self.by_channel(pass, |group, filters| {
                self.filter_on(session.as_ref(), group, filters, context)
            })?;
            let filtered = |channels| Filtered::on_device(channels, self.rows.clone());
            return Ok(designs.iter().map(|design| filtered(of_design(&rows, design))).collect());
        }
        let rows = self.by_channel(pass, |group, filters| {
            let filtered = self.filter(group, filters, context)?;
            Ok(filtered.into_iter().map(Arc::new).collect())
        })?;
        let filtered = |channels| Filtered::here(channels, self.rows.clone());
        Ok(designs.iter().map(|design| filtered(of_design(&rows, design))).collect())
    }

    /// What filtering makes of each channel of a pass, channels that share a group at once.
    fn by_channel<T>(
        &self,
        pass: Range<usize>,
        filter: impl Fn(&LoweredChannel, &[Series]) -> Result<Vec<T>>,
    ) -> Result<Vec<(&LoweredChannel, T)>> {
        let mut done = Vec::new();
        for group in self.groups(pass) {
            let filters: Vec<Series> = group.iter().map(|channel| channel.series.clone()).collect();
            let filtered = filter(group[0], &filters)?;
            done.extend(group.into_iter().zip(filtered));
        }
        Ok(done)
    }

    /// The channels of some designs, once each, by what they share.
    pub(super) fn groups(&self, pass: Range<usize>) -> Vec<Vec<&LoweredChannel>> {
        let mut groups: Vec<Vec<&LoweredChannel>> = Vec::new();
        for (channel, _) in self.designs[pass].iter().flatten() {
            match groups.iter_mut().find(|group| group[0].group() == channel.group()) {
                Some(group) if group.contains(&channel) => {}
                Some(group) => group.push(channel),
                None => groups.push(vec![channel]),
            }
        }
        groups
    }
}

/// What was made of the channels of a design, each with the root of its weight.
fn of_design<T: Clone>(
    done: &[(&LoweredChannel, T)],
    design: &[(LoweredChannel, f64)],
) -> Vec<(T, f64)> {
    let find = |(channel, scale): &(LoweredChannel, f64)| {
        let found = done.iter().find(|(other, _)| *other == channel);
        (found.expect("every channel is in a group").1.clone(), *scale)
    };
    design.iter().map(find).collect()
}
