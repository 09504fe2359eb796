//! The conversation with the runner: one line of JSON when ready, then one per repetition.

use crate::limits::Floor;
use anyhow::{Result, bail};
use serde_json::{Value, json};
use std::io::{BufRead, Write};
use std::time::Instant;

/// Short work is repeated for this long, and the fastest call counts: a single call of a
/// millisecond would measure cold caches and sleeping threads. Peers do the same.
const ENOUGH: f64 = 0.2;

/// What one repetition found besides its time.
#[derive(Default)]
pub(crate) struct Findings {
    /// What must agree with the peers.
    pub(crate) check: Value,
    /// Further measurements of this repetition.
    pub(crate) figures: Value,
    /// The least time that the machine allows, where it was measured.
    pub(crate) floor: Option<Floor>,
}

impl Findings {
    /// Findings with nothing but a check.
    pub(crate) fn check(check: Value) -> Self {
        Findings { check, figures: json!({}), floor: None }
    }

    /// Beside what the machine allows.
    pub(crate) fn above(self, floor: &Floor) -> Self {
        Findings { floor: Some(floor.clone()), ..self }
    }
}

/// A time, and what the work gave.
pub(crate) struct Measured<T> {
    pub(crate) seconds: f64,
    /// How often the work was done.
    pub(crate) calls: usize,
    pub(crate) result: T,
}

/// Answers the runner until it ends the conversation: `work` is timed, `inspect` is not.
pub(crate) fn serve<T>(
    mut work: impl FnMut() -> Result<T>,
    inspect: impl FnMut(T) -> Result<Findings>,
) -> Result<()> {
    serve_measured(|| fastest(&mut work), inspect)
}

/// As [`serve`], for work that is to be timed in a way of its own.
pub(crate) fn serve_measured<T>(
    mut measure: impl FnMut() -> Result<Measured<T>>,
    mut inspect: impl FnMut(T) -> Result<Findings>,
) -> Result<()> {
    say(&json!({"ready": {
        "threads": rayon::current_num_threads(),
        "versions": {"gfgcn": env!("CARGO_PKG_VERSION")},
    }}))?;
    for line in std::io::stdin().lock().lines() {
        match line?.trim() {
            "run" => {
                let Measured { seconds, calls, result } = measure()?;
                let Findings { check, figures, floor } = inspect(result)?;
                say(&json!({
                    "seconds": seconds, "calls": calls, "check": check, "figures": figures, "floor": floor,
                }))?;
            }
            "quit" => break,
            other => bail!("the runner said {other:?}, which is neither run nor quit"),
        }
    }
    Ok(())
}

fn fastest<T>(work: &mut impl FnMut() -> Result<T>) -> Result<Measured<T>> {
    let (mut best, mut spent, mut calls) = (f64::INFINITY, 0.0, 0);
    loop {
        let start = Instant::now();
        let result = work()?;
        let seconds = start.elapsed().as_secs_f64();
        (best, spent, calls) = (best.min(seconds), spent + seconds, calls + 1);
        if spent >= ENOUGH {
            return Ok(Measured { seconds: best, calls, result });
        }
    }
}

fn say(message: &Value) -> Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{message}")?;
    Ok(out.flush()?)
}
