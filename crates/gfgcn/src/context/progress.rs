//! Whom work tells how far it is.

use std::fmt;
use std::sync::Arc;

/// Someone who is told how far work is, from whatever thread does it.
pub trait Observer: Send + Sync {
    /// Work of so many steps begins; what was announced before is over.
    fn begin(&self, what: &str, steps: u64);
    /// Some of the steps are done.
    fn advance(&self, steps: u64);
}

/// An observer, or nobody.
#[derive(Clone, Default)]
pub struct Progress(Option<Arc<dyn Observer>>);

impl Progress {
    /// Tells an observer.
    pub fn told(observer: Arc<dyn Observer>) -> Self {
        Progress(Some(observer))
    }

    /// Announces work of so many steps.
    pub fn begin(&self, what: &str, steps: u64) {
        if let Some(observer) = &self.0 {
            observer.begin(what, steps);
        }
    }

    /// Reports one more step.
    pub fn advance(&self) {
        self.advance_by(1);
    }

    /// Reports several steps.
    pub fn advance_by(&self, steps: u64) {
        if let Some(observer) = &self.0 {
            observer.advance(steps);
        }
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Progress(observed)" } else { "Progress(silent)" })
    }
}
