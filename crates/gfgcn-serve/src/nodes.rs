//! From ids in requests to the nodes, features and targets of a dataset.

use crate::change::{Edge, Id, Label, Link, NewFeatures, Newcomer};
use crate::problem::Problem;
use gfgcn::data::{Dataset, LabelSets, Labels, NewNode, TargetKind, Targets, Values};
use gfgcn::graph::NewEdge;
use gfgcn::matrix::Matrix;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Text of a request as a message repeats it.
pub(crate) fn quoted(text: &str) -> String {
    const LONG: usize = 60;
    let short: String = text.chars().take(LONG).collect();
    let dots = if short.len() < text.len() { "…" } else { "" };
    format!("{short:?}{dots}")
}

/// The nodes of a graph by their ids, and its features by their names.
#[derive(Debug)]
pub(crate) struct Names {
    /// None where nodes are known by their numbers.
    nodes: Option<HashMap<String, usize>>,
    count: usize,
    features: Option<HashMap<String, usize>>,
    columns: usize,
}

impl Names {
    pub(crate) fn of(dataset: &Dataset) -> Arc<Names> {
        let place = |names: &[String]| names.iter().cloned().zip(0..).collect();
        Arc::new(Names {
            nodes: dataset.node_ids().map(place),
            count: dataset.nodes(),
            features: dataset.feature_names().map(place),
            columns: dataset.features().cols(),
        })
    }

    /// The number of a node.
    pub(crate) fn node(&self, id: &str) -> Result<usize, Problem> {
        let found = match &self.nodes {
            Some(nodes) => nodes.get(id).copied(),
            // As numbers are written: no plus sign, no leading zeros.
            None => id.parse().ok().filter(|k: &usize| *k < self.count && k.to_string() == id),
        };
        found.ok_or_else(|| Problem::not_found(format!("there is no node {}", quoted(id))))
    }

    fn column(&self, name: &str) -> Result<usize, Problem> {
        let found = match &self.features {
            Some(features) => features.get(name).copied(),
            None => name.parse().ok().filter(|&column: &usize| column < self.columns),
        };
        found.ok_or_else(|| {
            Problem::new(
                axum::http::StatusCode::UNPROCESSABLE_ENTITY,
                format!("the model knows no feature {}", quoted(name)),
            )
        })
    }

    /// Nodes that are new, and edges of theirs and between others.
    pub(crate) fn growth(&self, newcomers: &[Newcomer], edges: &[Edge]) -> Result<Growth, Problem> {
        let mut numbers = HashMap::with_capacity(newcomers.len());
        for (k, newcomer) in newcomers.iter().enumerate() {
            let id = newcomer.id.to_string();
            let twice = numbers.insert(id.clone(), self.count + k).is_some();
            if twice || self.node(&id).is_ok() {
                return Err(Problem::conflict(format!(
                    "the new node {} is there already",
                    quoted(&id)
                )));
            }
        }
        let place = |id: &Id| -> Result<usize, Problem> {
            let id = id.to_string();
            numbers.get(&id).copied().map_or_else(|| self.node(&id), Ok)
        };
        let (mut nodes, mut all) = (Vec::with_capacity(newcomers.len()), Vec::new());
        for (k, newcomer) in newcomers.iter().enumerate() {
            let own = self.count + k;
            for link in &newcomer.edges {
                all.push(self.link(own, link, &place)?);
            }
            let features = self.features(&newcomer.features)?;
            let id = self.nodes.is_some().then(|| newcomer.id.to_string());
            nodes.push(NewNode { id, features });
        }
        for edge in edges {
            let (from, to) = edge.ends();
            all.push(NewEdge {
                from: place(from)?,
                to: place(to)?,
                weight: edge.weight(),
                relation: edge.relation().map(str::to_owned),
            });
        }
        Ok(Growth { nodes, edges: all })
    }

    fn link(
        &self,
        own: usize,
        link: &Link,
        place: &impl Fn(&Id) -> Result<usize, Problem>,
    ) -> Result<NewEdge, Problem> {
        let (from, to, weight, relation) = match link {
            Link::Plain(to) => (own, place(to)?, None, None),
            Link::Full(link) => {
                let (from, to) = match (&link.from, &link.to) {
                    (None, Some(to)) => (own, place(to)?),
                    (Some(from), None) => (place(from)?, own),
                    _ => {
                        return Err(Problem::bad_request(
                            "an edge of a new node has either \"to\" or \"from\"",
                        ));
                    }
                };
                (from, to, link.weight, link.relation.clone())
            }
        };
        Ok(NewEdge { from, to, weight: weight.unwrap_or(1.0), relation })
    }

    fn features(&self, features: &NewFeatures) -> Result<Vec<(usize, f32)>, Problem> {
        match features {
            NewFeatures::Named(named) => {
                named.iter().map(|(name, &value)| Ok((self.column(name)?, value))).collect()
            }
            NewFeatures::Dense(values) if values.len() == self.columns => {
                Ok(values.iter().copied().enumerate().collect())
            }
            NewFeatures::Dense(values) => Err(Problem::new(
                axum::http::StatusCode::UNPROCESSABLE_ENTITY,
                format!(
                    "a new node has {} features, the others have {}",
                    values.len(),
                    self.columns
                ),
            )),
        }
    }
}

/// What a graph grows by.
#[derive(Debug)]
pub(crate) struct Growth {
    pub(crate) nodes: Vec<NewNode>,
    pub(crate) edges: Vec<NewEdge>,
}

/// What labels say of the nodes of a dataset.
pub(crate) fn targets(
    dataset: &Dataset,
    names: &Names,
    labels: &BTreeMap<String, Label>,
) -> Result<Targets, Problem> {
    let kind = dataset.targets().kind();
    let wrong = |id: &str| {
        let expected = match kind {
            TargetKind::Classes => "the name of a class",
            TargetKind::Sets => "a list of labels",
            TargetKind::Values => "a number, or one for each column",
        };
        Problem::new(
            axum::http::StatusCode::UNPROCESSABLE_ENTITY,
            format!("what is said of node {} is not {expected}", quoted(id)),
        )
    };
    let total = dataset.nodes();
    match kind {
        TargetKind::Classes => {
            let mut all: Vec<Option<&str>> = vec![None; total];
            for (id, label) in labels {
                let Label::Class(class) = label else { return Err(wrong(id)) };
                check_name(class)?;
                all[names.node(id)?] = Some(class);
            }
            Ok(Labels::from_names(&all).into())
        }
        TargetKind::Sets => {
            let mut all: Vec<Option<Vec<&str>>> = vec![None; total];
            for (id, label) in labels {
                let set: Vec<&str> = match label {
                    Label::Class(only) => vec![only],
                    Label::Set(several) => several.iter().map(String::as_str).collect(),
                    _ => return Err(wrong(id)),
                };
                set.iter().try_for_each(|name| check_name(name))?;
                all[names.node(id)?] = Some(set);
            }
            Ok(LabelSets::from_names(&all).into())
        }
        TargetKind::Values => {
            let columns = dataset.targets().names().to_vec();
            let mut all = Matrix::from_fn(total, columns.len(), |_, _| f64::NAN);
            for (id, label) in labels {
                let row = all.row_mut(names.node(id)?);
                match label {
                    Label::Value(value) if row.len() == 1 => row[0] = *value,
                    Label::Values(values) if values.len() == row.len() => {
                        row.copy_from_slice(values)
                    }
                    _ => return Err(wrong(id)),
                }
            }
            Ok(Values::new(columns, all)?.into())
        }
    }
}

/// An empty name would be read as no label at all.
fn check_name(name: &str) -> Result<(), Problem> {
    const LONG: usize = 1000;
    if name.is_empty() || name.len() > LONG {
        let message = format!("the name of a class has 1 to {LONG} bytes");
        return Err(Problem::new(axum::http::StatusCode::UNPROCESSABLE_ENTITY, message));
    }
    Ok(())
}
