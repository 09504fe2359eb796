//! Data and the model of them, and how both change together.
//!
//! A world is never changed: a change gives another one, which shares with the old one what has stayed the same. Its model is the one that
//! training from scratch on its data gives, to the last bit, whatever way led to it; so a world can be made again from what is written down
//! about it.

use crate::change::{Change, Edge, Forget, Id, Label, Settings, Update};
use crate::desk::Desk;
use crate::nodes::{Names, quoted, targets};
use crate::problem::Problem;
use gfgcn::context::Context;
use gfgcn::data::{Dataset, Rest, Targets};
use gfgcn::graph::EdgeSet;
use gfgcn::ridge::Selection;
use gfgcn::split::Split;
use gfgcn::training::{LeftOut, Recipe, Removal};
use gfgcn::{Classifier, Design, Model, Ridge};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// A graph with its model.
#[derive(Clone, Debug)]
pub(crate) struct World {
    /// With all that is known of the nodes, trained on or not.
    pub(crate) dataset: Dataset,
    pub(crate) names: Arc<Names>,
    /// None where nothing is labelled yet.
    pub(crate) model: Option<Model>,
    /// How models are trained; None where the model does not say.
    recipe: Option<Recipe>,
    /// Only where data are explored.
    lessons: Option<Lessons>,
}

/// What a model of the explorer is trained on. It keeps no filtered features, because other designs would need others: every change
/// but that of λ trains it anew, from the side that is cheaper.
#[derive(Clone, Debug)]
struct Lessons {
    /// Others for other data.
    targets: Arc<Targets>,
    left_out: Option<Arc<LeftOut>>,
    desk: Desk,
}

impl World {
    /// A model as it is, which must not lose its last label.
    pub(crate) fn served(dataset: Dataset, model: Model) -> gfgcn::Result<Self> {
        let recipe = model.training().map(|training| training.recipe().clone());
        // Data may come without labels, or with others than are predicted.
        let dataset = match model.training() {
            Some(training)
                if dataset.targets().kind() != model.head().kind()
                    && training.targets().len() == dataset.nodes() =>
            {
                let targets = training.targets_of(&dataset);
                dataset.with_targets(targets)?
            }
            _ => dataset,
        };
        let names = Names::of(&dataset);
        Ok(World { dataset, names, model: Some(model), recipe, lessons: None })
    }

    /// Data that are to be explored, by a model that is trained on some nodes, or on none.
    pub(crate) fn explored(
        dataset: Dataset,
        classifier: Classifier,
        split: Option<&Split>,
        context: &Context,
    ) -> gfgcn::Result<Self> {
        let targets = dataset.targets().only(split.map_or(&[], |split| split.train()));
        let names = Names::of(&dataset);
        let (targets, desk) = (Arc::new(targets), Desk::default());
        let lessons = Some(Lessons { targets, left_out: None, desk });
        let world = World { dataset, names, model: None, recipe: Some(classifier.into()), lessons };
        world.trained(context)
    }

    pub(crate) fn recipe(&self) -> Option<&Recipe> {
        self.recipe.as_ref()
    }

    /// What is trained on, if it is known.
    pub(crate) fn taught(&self) -> Option<Targets> {
        match (&self.lessons, &self.model) {
            (Some(lessons), _) => Some(Targets::clone(&lessons.targets)),
            (None, model) => Some(model.as_ref()?.training()?.targets_of(&self.dataset)),
        }
    }

    /// What is predicted of nodes that are trained on, without them.
    pub(crate) fn left_out(&self) -> Option<&LeftOut> {
        self.lessons.as_ref()?.left_out.as_deref()
    }

    /// The model, or why there is none.
    pub(crate) fn model(&self) -> Result<&Model, Problem> {
        self.model.as_ref().ok_or_else(|| {
            Problem::conflict("nothing is labelled yet, so there is nothing to predict by")
        })
    }

    /// The model with all that it can keep of its training.
    pub(crate) fn keeping(&self, context: &Context) -> Result<Cow<'_, Model>, Problem> {
        let model = self.model()?;
        match (&self.lessons, &self.recipe) {
            (Some(Lessons { targets, .. }), Some(recipe)) => {
                let (taught, split) = self.lesson(targets)?;
                Ok(Cow::Owned(recipe.fit(&taught, &split, context)?))
            }
            _ => Ok(Cow::Borrowed(model)),
        }
    }

    fn lesson(&self, targets: &Targets) -> gfgcn::Result<(Dataset, Split)> {
        let split = Split::all_known(targets)?;
        Ok((self.dataset.clone().with_targets(targets.clone())?, split))
    }

    /// With the model of its lessons.
    fn trained(self, context: &Context) -> gfgcn::Result<World> {
        let (Some(lessons), Some(Recipe::Described(classifier))) = (&self.lessons, &self.recipe)
        else {
            return Ok(self);
        };
        let Lessons { targets, desk, .. } = lessons;
        if targets.known().is_empty() {
            let lessons = Lessons { left_out: None, ..lessons.clone() };
            return Ok(World { model: None, lessons: Some(lessons), ..self });
        }
        let study = desk.study(targets, classifier, || {
            let (taught, split) = self.lesson(targets)?;
            classifier.study(&taught, &split, context)
        })?;
        let (model, left_out) = study.fit(classifier.ridge.selection.given(), context)?;
        let lessons = Lessons { left_out: Some(Arc::new(left_out)), ..lessons.clone() };
        Ok(World { model: Some(model), lessons: Some(lessons), ..self })
    }

    /// With other lessons on other data, and the model of them.
    fn taught_anew(
        &self,
        dataset: Dataset,
        names: Arc<Names>,
        targets: Targets,
        context: &Context,
    ) -> Result<World, Problem> {
        let before = self.lessons.as_ref().map(|lessons| lessons.desk.clone());
        let (targets, desk) = (Arc::new(targets), before.unwrap_or_default());
        let lessons = Some(Lessons { targets, left_out: None, desk });
        Ok(World { dataset, names, lessons, ..self.clone() }.trained(context)?)
    }

    /// A model that can be changed by itself.
    fn changeable(&self) -> Result<&Model, Problem> {
        let model = self.model()?;
        model.kept_training().map_err(|_| {
            Problem::conflict(
                "the model does not keep its training, so it cannot be changed; train it with --keep-training",
            )
        })?;
        Ok(model)
    }

    /// The world after some changes, which none of them goes back from.
    pub(crate) fn after(&self, changes: &[Change], context: &Context) -> Result<World, Problem> {
        let mut world = self.clone();
        let mut rest = changes;
        while let Some(first) = rest.first() {
            let run = rest.iter().take_while(|change| change.only_labels().is_some()).count();
            if run > 1 {
                let (labels, later) = rest.split_at(run);
                let mut all = BTreeMap::new();
                labels.iter().filter_map(Change::only_labels).for_each(|l| all.extend(l.clone()));
                world = world.updated(&Update { labels: all, ..Update::default() }, context)?;
                rest = later;
                continue;
            }
            world = match first {
                Change::Update(update) => world.updated(update, context)?,
                Change::Forget(forget) => world.forgetting(forget, context)?,
                Change::Settings(settings) => world.with_settings(settings, context)?,
                Change::Rollback { .. } => return Err(Problem::internal()),
            };
            rest = &rest[1..];
        }
        Ok(world)
    }

    fn updated(&self, update: &Update, context: &Context) -> Result<World, Problem> {
        let growth = match update.nodes.is_empty() && update.edges.is_empty() {
            true => None,
            false => Some(self.names.growth(&update.nodes, &update.edges)?),
        };
        let grown = |dataset: &Dataset| match &growth {
            Some(growth) => dataset.grown(&growth.nodes, &growth.edges),
            None => Ok(dataset.clone()),
        };
        let dataset = grown(&self.dataset)?;
        let names = if growth.is_some() { Names::of(&dataset) } else { self.names.clone() };
        let labels = self.labels(update, &dataset);
        let new = targets(&dataset, &names, &labels)?;
        let known = dataset.targets().replaced(&new)?;
        let Some(lessons) = &self.lessons else {
            let new = Some(&new).filter(|_| !labels.is_empty());
            let model = Some(self.changeable()?.update(&dataset, new, context)?.model);
            return Ok(World {
                dataset: dataset.with_targets(known)?,
                names,
                model,
                ..self.clone()
            });
        };
        let before = self.dataset.clone().with_targets(Targets::clone(&lessons.targets))?;
        let targets = grown(&before)?.targets().replaced(&new)?;
        self.taught_anew(dataset.with_targets(known)?, names, targets, context)
    }

    /// Those of the update and of its nodes, by the ids that nodes will have.
    fn labels(&self, update: &Update, grown: &Dataset) -> BTreeMap<String, Label> {
        let new = update.nodes.iter().enumerate().filter_map(|(k, node)| {
            let number = self.dataset.nodes() + k;
            node.label.clone().map(|label| (grown.node_id(number).into_owned(), label))
        });
        update.labels.clone().into_iter().chain(new).collect()
    }

    fn forgetting(&self, forget: &Forget, context: &Context) -> Result<World, Problem> {
        let mut world = self.clone();
        if !forget.labels_of.is_empty() {
            world = world.without_labels(&forget.labels_of, context)?;
        }
        if !forget.edges.is_empty() {
            world = world.without_edges(&forget.edges, context)?;
        }
        if !forget.nodes.is_empty() {
            world = world.without_nodes(&forget.nodes, context)?;
        }
        Ok(world)
    }

    fn numbers(&self, ids: &[Id]) -> Result<Vec<usize>, Problem> {
        let mut all: Vec<usize> =
            ids.iter().map(|id| self.names.node(&id.to_string())).collect::<Result<_, _>>()?;
        all.sort_unstable();
        all.dedup();
        Ok(all)
    }

    fn without_labels(&self, ids: &[Id], context: &Context) -> Result<World, Problem> {
        let nodes = self.numbers(ids)?;
        let rest = |targets: &Targets| {
            let stays = |node: &usize| nodes.binary_search(node).is_err();
            targets.only(&targets.known().into_iter().filter(stays).collect::<Vec<_>>())
        };
        let dataset = self.dataset.clone().with_targets(rest(self.dataset.targets()))?;
        let Some(lessons) = &self.lessons else {
            let removal = Removal::Labels(nodes.clone());
            let model = self.changeable()?.forget(&self.dataset, &removal, context)?.model;
            return Ok(World { dataset, model: Some(model), ..self.clone() });
        };
        if let Some(node) = nodes.iter().find(|&&node| !lessons.targets.is_known(node)) {
            let id = quoted(&self.dataset.node_id(*node));
            return Err(Problem::conflict(format!(
                "the model was not trained on a label of node {id}"
            )));
        }
        self.taught_anew(dataset, self.names.clone(), rest(&lessons.targets), context)
    }

    fn without_edges(&self, edges: &[Edge], context: &Context) -> Result<World, Problem> {
        let mut kinds: HashMap<Option<String>, EdgeSet> = HashMap::new();
        for edge in edges {
            let (from, to) = edge.ends();
            let ends = [from, to].map(|id| self.names.node(&id.to_string()).map(|k| k as u32));
            let [from, to] = ends;
            let kind = edge.relation().map(str::to_owned);
            kinds.entry(kind).or_default().insert((from?, to?));
        }
        // In a fixed order: what is forgotten first must not depend on hashes.
        let mut kinds: Vec<(Option<String>, EdgeSet)> = kinds.into_iter().collect();
        kinds.sort_by(|(one, _), (other, _)| one.cmp(other));
        let rest = self.dataset.without_edges(&kinds)?;
        self.without(rest, Removal::Edges(kinds), context)
    }

    fn without_nodes(&self, ids: &[Id], context: &Context) -> Result<World, Problem> {
        let nodes = self.numbers(ids)?;
        let rest = self.dataset.without_nodes(&nodes)?;
        self.without(rest, Removal::Nodes(nodes), context)
    }

    /// What is left when something is removed from the graph.
    fn without(&self, rest: Rest, removal: Removal, context: &Context) -> Result<World, Problem> {
        let Rest { dataset, nodes } = rest;
        let names = Names::of(&dataset);
        let Some(lessons) = &self.lessons else {
            let model = self.changeable()?.forget(&self.dataset, &removal, context)?.model;
            return Ok(World { dataset, names, model: Some(model), ..self.clone() });
        };
        self.taught_anew(dataset, names, lessons.targets.select(&nodes), context)
    }

    fn with_settings(&self, settings: &Settings, context: &Context) -> Result<World, Problem> {
        let Some(Recipe::Described(before)) = &self.recipe else { return Err(Problem::internal()) };
        let design: Design = settings.design.parse()?;
        let selection = match settings.lambda {
            Some(lambda) => Selection::fixed(lambda)?,
            None => Selection::default(),
        };
        let ridge = Ridge { selection, ..before.ridge };
        let classifier = Classifier { design, ridge, ..before.clone() };
        Ok(World { recipe: Some(classifier.into()), ..self.clone() }.trained(context)?)
    }
}
