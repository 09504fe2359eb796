//! Accuracy by depth: the paper's depth tables, its overall table, and the figure.

use crate::lab::Lab;
use crate::published::Published;
use crate::report::{Axis, Cell, Figure, Panel, Point, Row, Scale, Series, Style, Table, Unit};
use crate::subject::{
    DEPTHS, LARGE_ROWS, LARGE_RUNS, Model, QUICK_RUNS, SPLITS, Scope, Subject, Which, ridge,
};
use gfgcn::Result;
use gfgcn::metrics::Summary;
use gfgcn_baselines::{Method, Training};
use std::collections::BTreeMap;

/// Accuracies in percent of every model at every depth on one graph, one per run.
#[derive(Clone, Debug)]
pub struct Accuracies {
    which: Which,
    cells: BTreeMap<(Model, usize), Vec<f64>>,
    /// How many runs of a cell diverged, where any did.
    diverged: BTreeMap<(Model, usize), usize>,
}

impl Accuracies {
    /// Measures those of some models on some graphs: what is quick first, so that a run that is stopped has
    /// most to show.
    ///
    /// # Errors
    /// As [`gfgcn::evaluation::Evaluation::run`] and [`gfgcn_baselines::Comparison::run`].
    pub fn measure(lab: &Lab<'_>, subjects: &[Subject], models: &[Model]) -> Result<Vec<Self>> {
        let solve = |subject| Self::solve(lab, subject, models);
        let mut all = subjects.iter().map(solve).collect::<Result<Vec<Accuracies>>>()?;
        let (networks, linear): (Vec<Model>, Vec<Model>) =
            models.iter().partition(|model| model.is_network());
        for models in [linear, networks] {
            for depth in DEPTHS {
                for (subject, of_subject) in subjects.iter().zip(&mut all) {
                    for &model in &models {
                        of_subject.train(lab, subject, model, depth)?;
                    }
                }
            }
        }
        Ok(all)
    }

    /// Those of the closed forms, which share their products.
    fn solve(lab: &Lab<'_>, subject: &Subject, models: &[Model]) -> Result<Self> {
        let mut places = Vec::new();
        let mut filters = Vec::new();
        for (model, depth) in models.iter().flat_map(|&model| DEPTHS.map(|depth| (model, depth))) {
            if let Method::ClosedForm(filter) = model.at(depth) {
                places.push((model, depth));
                filters.push(filter);
            }
        }
        let what = "closed forms at all depths";
        let fits = lab.fit(what, subject, &subject.splits, &filters, ridge())?;
        let finished = places.into_iter().zip(fits);
        let cells = finished.filter_map(|(place, fits)| Some((place, fits?.accuracies)));
        Ok(Accuracies { which: subject.which, cells: cells.collect(), diverged: BTreeMap::new() })
    }

    /// Adds those of a model at a depth, if it is trained and to be run there.
    fn train(
        &mut self,
        lab: &Lab<'_>,
        subject: &Subject,
        model: Model,
        depth: usize,
    ) -> Result<()> {
        let Method::Trained(baseline) = model.at(depth) else { return Ok(()) };
        if !lab.scope.depths(model).contains(&depth) {
            return Ok(());
        }
        let splits = subject.splits_of(lab.scope, model, depth);
        let what = format!("{}, K = {depth}", model.name());
        let runs = lab.train(&what, subject, splits, baseline, Training::default())?;
        let diverged = runs.iter().filter(|run| run.diverged.is_some()).count();
        if diverged > 0 {
            self.diverged.insert((model, depth), diverged);
        }
        if !runs.is_empty() {
            self.cells.insert((model, depth), runs.iter().map(|run| run.accuracy).collect());
        }
        Ok(())
    }

    /// The graph.
    pub fn which(&self) -> Which {
        self.which
    }

    /// Mean and spread of a model at a depth, and the number of runs.
    pub fn at(&self, model: Model, depth: usize) -> Option<(Summary, usize)> {
        self.cells.get(&(model, depth)).map(|runs| (Summary::of(runs), runs.len()))
    }

    /// The accuracy of the run of a model at a depth that is nearest to a number, in percent.
    pub(crate) fn nearest_run(&self, model: Model, depth: usize, number: f64) -> Option<f64> {
        let runs = self.cells.get(&(model, depth))?.iter().copied();
        runs.min_by(|a, b| (a - number).abs().total_cmp(&(b - number).abs()))
    }

    /// The best depth of a model.
    pub(crate) fn best_depth(&self, model: Model) -> Option<usize> {
        let mean = |depth: usize| Some((depth, self.at(model, depth)?.0.mean));
        let depths = DEPTHS.iter().filter_map(|&depth| mean(depth));
        depths.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(depth, _)| depth)
    }

    /// Mean and spread of a model at its best depth, and the number of runs.
    fn best(&self, model: Model) -> Option<(Summary, usize)> {
        self.at(model, self.best_depth(model)?)
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
            id: format!("depth-{}", self.which.name()),
            title: format!("{title}: accuracy by depth"),
            text: format!(
                "Mean test accuracy on {title}. {}{}",
                protocol(scope),
                self.divergences()
            ),
            rows_are: "model".into(),
            columns: DEPTHS.iter().map(|depth| format!("K = {depth}")).collect(),
            unit: Unit::Percent,
            rows: rows.collect(),
        })
    }

    /// Which runs diverged, and what that means for their cells.
    fn divergences(&self) -> String {
        if self.diverged.is_empty() {
            return String::new();
        }
        let cells = self.diverged.iter().map(|(place @ (model, depth), diverged)| {
            let runs = self.cells[place].len();
            format!("{} at K = {depth} ({diverged} of {runs})", model.name())
        });
        format!(
            " Runs that diverged to a loss that is not finite count with what they then predict, the first class for every \
             node: {}.",
            cells.collect::<Vec<_>>().join(", ")
        )
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
        text: "The numbers of the depth tables; bars are standard errors. Deep convolutional networks over-smooth; the \
               closed forms lose little."
            .into(),
        panels: accuracies.iter().map(Accuracies::panel).collect(),
    }
}

fn protocol(scope: Scope) -> String {
    let networks = match scope {
        Scope::Quick => format!(
            " Networks were run {QUICK_RUNS} times, at the first {} depths.",
            scope.depths(Model::GCN).len()
        ),
        Scope::Full => format!(
            " Networks with more than {LARGE_ROWS} nodes × layers were run on the first {LARGE_RUNS} splits only."
        ),
    };
    format!(
        "Largest component, {SPLITS} stratified random splits 1:1:8, raw features. λ of the closed forms is chosen on the \
         validation part; all other models are trained by Adam for 200 epochs, with a learning rate of 0.01 for networks and \
         0.2 for SGC, SSGC and DGC.{networks} The published numbers come from a single split."
    )
}

/// Mean and spread over some runs beside the published number.
pub(crate) fn cell(ours: Option<(Summary, usize)>, published: Option<f64>) -> Cell {
    let (ours, runs) = ours.map_or((None, 0), |(summary, runs)| (Some(summary), runs));
    Cell { ours, runs, published, rank: None }
}

/// As percentages are shown: with one decimal.
pub(crate) fn tenths(percent: f64) -> f64 {
    (10.0 * percent).round() / 10.0
}

/// Marks the best and the second best of every column, by what is shown: one decimal.
pub(crate) fn ranked(mut table: Table) -> Table {
    let better = |a: f64, b: f64| match table.unit {
        Unit::Percent => a > b,
        Unit::Seconds | Unit::Points => a < b,
    };
    let shown = |summary: Summary| match table.unit {
        Unit::Percent | Unit::Points => tenths(summary.mean),
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
