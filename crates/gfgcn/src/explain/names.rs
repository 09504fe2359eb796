//! What causes are called.

use super::Cause;
use crate::data::Dataset;
use crate::model::Model;

impl Cause {
    /// What a person calls it: the name of a feature, the id of a node, the text form of a channel.
    pub fn name(self, model: &Model, dataset: &Dataset) -> String {
        let member = |k: usize| &model.members()[k];
        match self {
            Cause::Channel { member: k, channel } => {
                member(k).design().channels()[channel].to_string()
            }
            Cause::Member(k) => {
                format!("{} ({} kernel)", member(k).design(), member(k).ridge().kernel)
            }
            Cause::Feature(k) => match model.feature_names() {
                Some(names) => names[k].clone(),
                None => format!("feature {k}"),
            },
            Cause::Link(node) => format!("links to {}", dataset.node_id(node)),
            Cause::Degree(1) => "how many edges end here".into(),
            Cause::Degree(_) if dataset.graph().is_directed() => "how many edges start here".into(),
            Cause::Degree(_) => "how many neighbours there are".into(),
            Cause::Node(node) => dataset.node_id(node).into_owned(),
            Cause::Labelled(node) => match model.training() {
                Some(training) => training.node_id(node).into_owned(),
                None => node.to_string(),
            },
        }
    }
}
