//! Accuracy by depth: the paper's depth tables, its overall table, and the figure.

use crate::lab::Lab;
use crate::published::Published;
use crate::report::{Axis, Cell, Figure, Panel, Point, Row, Scale, Series, Style, Table, Unit};
use crate::subject::{DEPTHS, Model, SPLITS, Scope, Subject, Way, Which, options};
use gfgcn::Result;
use gfgcn::filter::Filter;
use gfgcn::metrics::Summary;
use gfgcn_baselines::{Baseline, Training};
use std::collections::BTreeMap;
use std::time::Duration;

/// Accuracies in percent of every model at every depth on one graph, one per run.
#[derive(Clone, Debug)]
pub struct Accuracies {
    which: Which,
    cells: BTreeMap<(Model, usize), Vec<f64>>,
}

impl Accuracies {
    /// Measures those of some models.
    ///
    /// # Errors
    /// As [`gfgcn::evaluation::Evaluation::run`] and [`gfgcn_baselines::Comparison::run`].
    pub fn measure(lab: &Lab<'_>, subject: &Subject, models: &[Model]) -> Result<Self> {
        let title = subject.which.title();
        let mut cells = BTreeMap::new();
        (lab.say)(&format!("{title}: closed forms at all depths"));
        let filters: Vec<(Model, usize, Filter)> = every(lab.scope, models)
            .filter_map(|(model, depth)| match model.at(depth) {
                Way::ClosedForm(filter) => Some((model, depth, filter)),
                Way::Trained(_) => None,
            })
            .collect();
        let plain: Vec<Filter> = filters.iter().map(|&(_, _, filter)| filter).collect();
        let fits = lab.fit(subject, &subject.splits, &plain, options())?;
        for ((model, depth, _), fits) in filters.into_iter().zip(fits) {
            cells.extend(fits.map(|fits| ((model, depth), fits.accuracies)));
        }
        for &model in models {
            let (depths, models) = trained(lab.scope, model);
            if models.is_empty() {
                continue;
            }
            (lab.say)(&format!("{title}: {} at {} depths", model.name(), depths.len()));
            let splits = &subject.splits[..lab.scope.runs(model)];
            let runs = lab.train(subject, splits, models, Training::default())?;
            for (depth, runs) in depths.into_iter().zip(runs) {
                let accuracies: Vec<f64> = runs.iter().map(|run| run.accuracy).collect();
                if !accuracies.is_empty() {
                    cells.insert((model, depth), accuracies);
                }
            }
        }
        Ok(Accuracies { which: subject.which, cells })
    }

    /// How long the trainings that are not known take, about. Each model is tried at one depth: networks
    /// take longer in proportion to theirs, linear models do not.
    pub fn estimate(lab: &Lab<'_>, subject: &Subject) -> Duration {
        const TRIED: usize = 8;
        let mut total = 0.0;
        for model in Model::ALL {
            let Way::Trained(tried) = model.at(TRIED) else { continue };
            let splits = &subject.splits[..lab.scope.runs(model)];
            let comparison = |models| lab.comparison(subject, splits, models, Training::default());
            let (depths, models) = trained(lab.scope, model);
            let all = comparison(models);
            let known = all.known(lab.cache);
            let missing = depths.iter().zip(known.missing_by_model());
            let runs: f64 = missing
                .map(|(&depth, runs)| {
                    let longer = if model.is_network() { depth as f64 / TRIED as f64 } else { 1.0 };
                    runs as f64 * longer
                })
                .sum();
            if runs > 0.0 {
                let one = comparison(vec![tried]);
                let time = one.estimate(&one.known(None)).as_secs_f64();
                total += runs * time / splits.len() as f64;
            }
        }
        Duration::from_secs_f64(total)
    }

    /// The graph.
    pub fn which(&self) -> Which {
        self.which
    }

    /// Mean and spread of a model at a depth, and the number of runs.
    pub fn at(&self, model: Model, depth: usize) -> Option<(Summary, usize)> {
        self.cells.get(&(model, depth)).map(|runs| (Summary::of(runs), runs.len()))
    }

    /// The best depth of a model.
    fn best(&self, model: Model) -> Option<(Summary, usize)> {
        let depths = DEPTHS.iter().filter_map(|&depth| self.at(model, depth));
        depths.max_by(|a, b| a.0.mean.total_cmp(&b.0.mean))
    }

    /// Accuracy by depth beside the published one.
    pub fn table(&self, published: &Published, scope: Scope) -> Table {
        let rows = Model::ALL.into_iter().map(|model| {
            let cells = DEPTHS.iter().map(|&depth| {
                cell(self.at(model, depth), published.accuracy(self.which, model.name(), depth))
            });
            Row { name: model.name().to_owned(), cells: cells.collect() }
        });
        let title = self.which.title();
        ranked(Table {
            id: format!("depth-{}", self.which.key().replace('_', "-")),
            title: format!("{title}: accuracy by depth"),
            text: format!("Mean test accuracy on {title}. {}", protocol(scope)),
            rows_are: "model".into(),
            columns: DEPTHS.iter().map(|depth| format!("K = {depth}")).collect(),
            unit: Unit::Percent,
            rows: rows.collect(),
        })
    }

    fn panel(&self) -> Panel {
        let series = Model::ALL.into_iter().filter_map(|model| {
            let points: Vec<Point> = DEPTHS
                .iter()
                .filter_map(|&depth| {
                    let (summary, _) = self.at(model, depth)?;
                    Some(Point { x: depth as f64, y: summary.mean, error: summary.std_error })
                })
                .collect();
            let name = model.name().to_owned();
            (!points.is_empty()).then_some(Series { name, style: Style::Dots, points })
        });
        Panel {
            title: self.which.title().to_owned(),
            x: Axis { label: "depth K".into(), scale: Scale::Powers },
            y: Axis { label: "test accuracy in %".into(), scale: Scale::Linear },
            series: series.collect(),
        }
    }
}

/// The best accuracy of every model on every graph.
pub(crate) fn overall(accuracies: &[Accuracies], published: &Published, scope: Scope) -> Table {
    let rows = Model::ALL.into_iter().map(|model| {
        let cells = accuracies.iter().map(|of_graph| {
            cell(of_graph.best(model), published.overall(model.name(), of_graph.which))
        });
        Row { name: model.name().to_owned(), cells: cells.collect() }
    });
    ranked(Table {
        id: "overall".into(),
        title: "The best of each model".into(),
        text: format!(
            "Mean test accuracy at each model's best depth, as in the paper's overall table. {}",
            protocol(scope)
        ),
        rows_are: "model".into(),
        columns: accuracies.iter().map(|a| a.which.title().to_owned()).collect(),
        unit: Unit::Percent,
        rows: rows.collect(),
    })
}

/// Accuracy by depth, one panel per graph.
pub(crate) fn figure(accuracies: &[Accuracies]) -> Figure {
    Figure {
        id: "accuracy".into(),
        title: "Accuracy by depth".into(),
        text: "The numbers of the depth tables; bars are standard errors. Networks of convolutions smooth \
               everything away, closed forms lose little."
            .into(),
        panels: accuracies.iter().map(Accuracies::panel).collect(),
    }
}

/// Every model at every depth that is run.
fn every(scope: Scope, models: &[Model]) -> impl Iterator<Item = (Model, usize)> {
    let depths = move |&model| scope.depths(model).iter().map(move |&depth| (model, depth));
    models.iter().flat_map(depths)
}

/// The depths of a model that is trained, with what is trained at each.
pub(crate) fn trained(scope: Scope, model: Model) -> (Vec<usize>, Vec<Baseline>) {
    let depths = scope.depths(model).iter();
    depths
        .filter_map(|&depth| match model.at(depth) {
            Way::Trained(baseline) => Some((depth, baseline)),
            Way::ClosedForm(_) => None,
        })
        .unzip()
}

fn protocol(scope: Scope) -> String {
    let networks = match scope {
        Scope::Quick => format!(
            "networks were run {} times at the first {} depths",
            scope.runs(Model::Gcn),
            scope.depths(Model::Gcn).len()
        ),
        Scope::Full => "networks too".into(),
    };
    format!(
        "Largest component, {SPLITS} random splits 1:1:8 of each class, raw features; λ of the closed forms by \
         the validation part; the others by Adam, learning rate 0.01, 200 epochs; {networks}. The published \
         numbers come from a single split."
    )
}

fn cell(ours: Option<(Summary, usize)>, published: Option<f64>) -> Cell {
    let (ours, runs) = ours.map_or((None, 0), |(summary, runs)| (Some(summary), runs));
    Cell { ours, runs, published, rank: None }
}

/// Marks the best and the second best of every column, by what is shown: one decimal.
pub(crate) fn ranked(mut table: Table) -> Table {
    let better = |a: f64, b: f64| match table.unit {
        Unit::Percent => a > b,
        Unit::Seconds => a < b,
    };
    let shown = |summary: Summary| match table.unit {
        Unit::Percent => (10.0 * summary.mean).round() / 10.0,
        Unit::Seconds => summary.mean,
    };
    for column in 0..table.columns.len() {
        let values: Vec<f64> =
            table.rows.iter().filter_map(|row| row.cells[column].ours.map(shown)).collect();
        for row in &mut table.rows {
            let cell = &mut row.cells[column];
            let Some(own) = cell.ours.map(shown) else { continue };
            let above = values.iter().filter(|&&other| better(other, own)).count();
            cell.rank = u8::try_from(above + 1).ok().filter(|&rank| rank <= 2);
        }
    }
    table
}
