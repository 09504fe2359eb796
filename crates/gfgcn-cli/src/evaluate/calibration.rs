//! What `evaluate --calibration` says of probabilities and prediction sets.

use crate::output::table;
use gfgcn::calibration::{Calibrated, Covered};
use gfgcn::data::TargetKind;
use gfgcn::metrics::{Bin, Summary};

/// How wide the bar of a bin is at most.
const BAR: usize = 30;

/// A table of all models, and the reliability diagram of the one with the smallest calibration error.
pub(super) fn text(judged: &[(String, &Calibrated)], kind: TargetKind) -> String {
    let (what, size) = match kind {
        TargetKind::Classes => ("sets", "classes"),
        TargetKind::Sets => ("sets", "labels"),
        TargetKind::Values => ("intervals", "width"),
    };
    let mut header = vec!["model".to_owned()];
    if kind != TargetKind::Values {
        header.push("calibration error".into());
    }
    for covered in &judged[0].1.covered {
        let percent = 100.0 * covered.coverage;
        header.push(format!("{percent} % {what} cover"));
        header.push(format!("{size} in {percent} % {what}"));
    }
    let row = |(name, calibrated): &(String, &Calibrated)| {
        let mut cells = vec![name.clone()];
        cells.extend(calibrated.expected_error().map(|error| shown(error, 3)));
        for covered in &calibrated.covered {
            cells.extend([shown(covered.share(), 1), size_of(covered, kind)]);
        }
        cells
    };
    let rows = table(header, judged.iter().map(row).collect()).trim_fmt();
    let error = |calibrated: &Calibrated| calibrated.expected_error().map(|error| error.mean);
    let best = judged
        .iter()
        .filter_map(|(name, calibrated)| Some((error(calibrated)?, name, calibrated)))
        .min_by(|(a, ..), (b, ..)| a.total_cmp(b));
    let diagram = best.map_or_else(String::new, |(_, name, calibrated)| diagram(name, calibrated));
    format!(
        "\n\nProbabilities and {what} from left-out scores of the training nodes, on the test nodes\n\n{rows}{diagram}"
    )
}

fn shown(summary: Summary, digits: usize) -> String {
    match summary.std_error {
        Some(error) => format!("{:.digits$}±{error:.digits$}", summary.mean),
        None => format!("{:.digits$}", summary.mean),
    }
}

fn size_of(covered: &Covered, kind: TargetKind) -> String {
    match kind {
        TargetKind::Values => format!("{:.3}", covered.size().mean),
        TargetKind::Classes | TargetKind::Sets => format!("{:.2}", covered.size().mean),
    }
}

/// One line per bin that has anything: its confidence, how much of it is right, and that as a bar.
fn diagram(name: &str, calibrated: &Calibrated) -> String {
    let bins = calibrated.reliability.bins().iter().filter(|bin| bin.count > 0);
    let row = |bin: &Bin| {
        vec![
            format!("{:.1} %", 100.0 * bin.confidence),
            format!("{:.1} %", 100.0 * bin.accuracy()),
            bin.count.to_string(),
            bar(bin),
        ]
    };
    let header = ["confidence", "right", "predictions", "right (█) and confidence (│)"];
    let rows = table(header.map(str::to_owned).to_vec(), bins.map(row).collect()).trim_fmt();
    let error = calibrated.reliability.expected_error();
    format!(
        "\n\nReliability of {name}, all splits together: calibration error {error:.3}\n\n{rows}"
    )
}

fn bar(bin: &Bin) -> String {
    let width = |share: f64| (share * BAR as f64).round() as usize;
    let (right, confident) = (width(bin.accuracy()), width(bin.confidence));
    let cell = |k: usize| match (k == confident, k < right) {
        (true, _) => '│',
        (_, true) => '█',
        _ => '·',
    };
    (0..=BAR).map(cell).collect()
}
