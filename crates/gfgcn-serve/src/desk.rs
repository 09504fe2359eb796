//! The problem that was worked on last stays factorised: while only λ moves, nothing else is computed again.

use gfgcn::Classifier;
use gfgcn::data::Targets;
use gfgcn::training::Study;
use std::sync::{Arc, Mutex, PoisonError};

/// Larger problems are not kept.
const LARGEST: u64 = 1 << 30;

/// Room for one problem, which all worlds of an explorer share. What comes of a problem does not depend on whether it was found here.
#[derive(Clone, Debug, Default)]
pub(crate) struct Desk(Arc<Mutex<Option<Kept>>>);

#[derive(Debug)]
struct Kept {
    /// Every change of the data or of what is known makes other targets, so these stand for both.
    targets: Arc<Targets>,
    study: Arc<Study>,
}

impl Desk {
    /// The problem of a classifier on some targets, which is prepared if it is another one than the last.
    pub(crate) fn study(
        &self,
        targets: &Arc<Targets>,
        classifier: &Classifier,
        prepare: impl FnOnce() -> gfgcn::Result<Study>,
    ) -> gfgcn::Result<Arc<Study>> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_wanted =
            |kept: &Kept| Arc::ptr_eq(&kept.targets, targets) && kept.study.is_of(classifier);
        if let Some(kept) = kept.as_ref().filter(|kept| is_wanted(kept)) {
            return Ok(kept.study.clone());
        }
        // Its memory may be needed for the next.
        *kept = None;
        let study = Arc::new(prepare()?);
        if study.memory() <= LARGEST {
            *kept = Some(Kept { targets: targets.clone(), study: study.clone() });
        }
        Ok(study)
    }
}
