//! Which model is meant: one that is described, or the one that a search finds.

use crate::settings::{Settings, depth};
use clap::Args;
use clap::builder::PossibleValuesParser;
use gfgcn::data::Dataset;
use gfgcn::filter::DEFAULT_DEPTH;
use gfgcn::training::Recipe;
use gfgcn::{Classifier, Design, Error, Input, Result};
use gfgcn_baselines::Method;

/// The options that describe a model.
#[derive(Args)]
pub(crate) struct Wanted {
    /// The model [default: searched for, or gfssgc]
    #[arg(long, value_parser = closed_forms())]
    model: Option<String>,
    /// Depth K of the filter [default: searched for, or 8]
    #[arg(long, value_name = "K", allow_negative_numbers = true, value_parser = depth)]
    depth: Option<usize>,
    /// What is computed from graph and features, as JSON reports write it: channels joined by ' + ', each
    /// [WEIGHT*]FILTER[@OPERATOR][ of INPUT][/ROWS]. Filters are sgc, ssgc, dgc, ppr, heat, highpass and identity; operators those
    /// of --normalization; inputs structure and degrees; rows unit (length) and sum (divided by it)
    #[arg(
        long,
        value_name = "DESIGN",
        conflicts_with_all = ["model", "depth", "tau", "time", "row_normalize", "normalization"]
    )]
    design: Option<Design>,
    #[command(flatten)]
    pub(crate) settings: Settings,
}

impl Wanted {
    /// What is to be trained, as far as the options say.
    ///
    /// # Errors
    /// Numbers out of range.
    pub(crate) fn recipe(&self) -> Result<Recipe> {
        let described = self.classifier()?;
        let chosen = self.model.is_some()
            || self.design.is_some()
            || self.depth.is_some()
            || self.settings.choose();
        Ok(match chosen {
            true => Recipe::Described(described),
            false => Recipe::Searched(self.settings.common().search()),
        })
    }

    /// What was asked for, or else the default.
    fn classifier(&self) -> Result<Classifier> {
        let model = self.model.as_deref().unwrap_or("gfssgc");
        let depth = self.depth.unwrap_or(DEFAULT_DEPTH);
        let Method::ClosedForm(filter) = self.settings.method(model, depth, |_| None)? else {
            unreachable!("the parser takes closed forms only");
        };
        let design = match &self.design {
            Some(design) => design.clone().with_tolerance(self.settings.tolerance()),
            None => self.settings.design(filter),
        };
        let (ridge, objective) = (self.settings.ridge(), self.settings.objective());
        Ok(Classifier { design, ridge, objective })
    }
}

/// Refuses to filter features where there are none.
///
/// # Errors
/// As it says.
pub(crate) fn check(recipe: &Recipe, dataset: &Dataset) -> Result<()> {
    match recipe {
        Recipe::Described(classifier)
            if classifier.design.filters(Input::Features) && dataset.features().is_empty() =>
        {
            Err(Error::Data(
                "the nodes have no features, which this model filters; leave out --model, --depth and whatever else \
                 describes a model, so that one is searched for (in gfgcn evaluate: --models auto)"
                    .into(),
            )
            .in_file(dataset.name()))
        }
        _ => Ok(()),
    }
}

/// The names of the models in closed form.
fn closed_forms() -> PossibleValuesParser {
    PossibleValuesParser::new(Method::NAMES.into_iter().filter(|name| name.starts_with("gf")))
}
