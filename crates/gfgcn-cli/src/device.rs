//! `--device` and `gfgcn devices`: where work runs.

use crate::output::{Output, table};
use clap::Args;
use gfgcn::context::{Placement, Work};
use gfgcn::driver::Explanation;
use gfgcn::{Error, Result};
use gfgcn_cuda::{Choice, Found, devices};
use serde::Serialize;
use std::sync::OnceLock;

/// What all work of the program shares.
static PLACEMENT: OnceLock<Placement> = OnceLock::new();

/// Where a command computes.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct DeviceOption {
    /// Where to compute: auto (a GPU if there is one and the work is large enough), cpu, cuda or cuda:N [default: $GFGCN_DEVICE, else auto]
    #[arg(long, value_name = "DEVICE")]
    device: Option<Choice>,
}

impl DeviceOption {
    /// Decides where the work of this program runs.
    ///
    /// # Errors
    /// What is not a device, or one that was asked for and cannot be used.
    pub(crate) fn settle(self) -> Result<()> {
        let placement = Choice::or_environment(self.device)?.placement(None)?;
        PLACEMENT.get_or_init(|| placement);
        Ok(())
    }

    /// Refuses a GPU for work that must not depend on one.
    ///
    /// # Errors
    /// A GPU that was asked for.
    pub(crate) fn only_processor(self, why: &str) -> Result<()> {
        Choice::or_environment(self.device)?.only_processor(why)
    }
}

/// Where the work of this program runs.
pub(crate) fn placement() -> Placement {
    PLACEMENT.get().cloned().unwrap_or_default()
}

/// Says why work that was worth a GPU did not run there; not that there is none, which most machines have not.
pub(crate) fn note_trouble(output: &Output) {
    if let Some(trouble) = placement().trouble()
        && devices().is_ok_and(|found| !found.is_empty())
    {
        output.note(format!("computed on the processor: {trouble}"));
    }
}

/// A plan that says where it runs.
pub(crate) fn placed(plan: Explanation) -> Explanation {
    let work = plan.work();
    let place = match placement().device_for(work) {
        Some(device) => format!("filters, systems and scores on {}", device.name()),
        None => format!("everything on the processor{}", why_not(work)),
    };
    Explanation { place: Some(place), ..plan }
}

/// A plan for the processor, whatever it is worth.
pub(crate) fn on_processor(plan: Explanation) -> Explanation {
    Explanation { place: Some("everything on the processor".to_owned()), ..plan }
}

fn why_not(work: Work) -> String {
    match placement().trouble() {
        Some(trouble) => format!(" ({trouble})"),
        None if work.is_worth_a_device() => String::new(),
        None => " (too little work to justify a GPU)".to_owned(),
    }
}

/// `gfgcn devices`
pub(crate) fn list(output: &Output) -> anyhow::Result<()> {
    let report = match devices() {
        Ok(found) => Report { devices: found.into_iter().map(Line::from).collect(), problem: None },
        Err(Error::Device { problem, .. }) => {
            Report { devices: Vec::new(), problem: Some(problem) }
        }
        Err(error) => return Err(error.into()),
    };
    output.report(&report, Report::text)
}

#[derive(Serialize)]
struct Report {
    devices: Vec<Line>,
    /// Why there are none.
    problem: Option<String>,
}

#[derive(Serialize)]
struct Line {
    device: String,
    name: String,
    free_bytes: u64,
    total_bytes: u64,
    architecture: String,
    problem: Option<String>,
}

impl From<Found> for Line {
    fn from(found: Found) -> Self {
        Line {
            device: format!("cuda:{}", found.number),
            name: found.name,
            free_bytes: found.memory.0,
            total_bytes: found.memory.1,
            architecture: format!("{}.{}", found.architecture.0, found.architecture.1),
            problem: found.unusable,
        }
    }
}

impl Report {
    fn text(&self) -> String {
        let threads = rayon::current_num_threads();
        let mut rows = vec![vec!["cpu".to_owned(), format!("{threads} threads"), String::new()]];
        let gigabytes = |bytes: u64| format!("{:.1}", bytes as f64 / f64::from(1 << 30));
        rows.extend(self.devices.iter().map(|line| {
            let memory = format!(
                "{} of {} GiB free",
                gigabytes(line.free_bytes),
                gigabytes(line.total_bytes)
            );
            let memory = line.problem.clone().unwrap_or(memory);
            vec![line.device.clone(), line.name.clone(), memory]
        }));
        let header = ["device", "name", ""].map(str::to_owned).to_vec();
        let mut text = table(header, rows).to_string();
        if let Some(problem) = &self.problem {
            text.push_str(&format!("\n\nNo GPU: {problem}"));
        }
        text
    }
}
