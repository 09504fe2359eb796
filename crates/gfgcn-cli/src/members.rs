//! The members of a model, for reports.

use crate::output::lambda;
use gfgcn::model::Member;
use gfgcn::{Channel, Design, Input, Ridge, RowScaling};
use serde::Serialize;

/// One of the solutions whose scores a model adds up.
#[derive(Serialize)]
pub(crate) struct MemberLine {
    /// How much it has to do with the scores, in percent.
    share: f64,
    pub(crate) design: Design,
    pub(crate) ridge: Ridge,
    pub(crate) lambda: f64,
}

impl From<&Member> for MemberLine {
    fn from(member: &Member) -> Self {
        MemberLine {
            share: 100.0 * member.share(),
            design: member.design().clone(),
            ridge: member.ridge(),
            lambda: member.lambda(),
        }
    }
}

impl MemberLine {
    /// Every member in a report: a line for each channel, and one for its kernel.
    pub(crate) fn lines(members: &[MemberLine]) -> Vec<(&'static str, String)> {
        let alone = members.len() == 1;
        let mut lines = Vec::new();
        for member in members {
            if !alone {
                let MemberLine { share, ridge, .. } = member;
                let how =
                    format!("{share:.1} %, {} kernel, λ {}", ridge.kernel, lambda(member.lambda));
                lines.push(("member", how));
            }
            let name = if alone { "filter" } else { "  filter" };
            lines.extend(member.design.channels().iter().map(|c| (name, channel(c))));
            if alone {
                lines.push(("kernel", member.ridge.kernel.to_string()));
            }
        }
        lines
    }
}

/// `SSGC, K = 8, τ = 0.05 (sym normalisation, features as they are)`.
fn channel(channel: &Channel) -> String {
    let (filter, operator) = (channel.filter.formula(), &channel.operator);
    format!("{filter} ({operator} normalisation, {})", inputs(channel))
}

fn inputs(channel: &Channel) -> &'static str {
    match (channel.input, channel.rows) {
        (Input::Structure, _) => "structure",
        (Input::Degrees, _) => "degrees",
        (Input::Features, RowScaling::Plain) => "features as they are",
        (Input::Features, RowScaling::Sum) => "features divided by their sum",
        (Input::Features, RowScaling::Unit) => "features divided by their length",
    }
}
