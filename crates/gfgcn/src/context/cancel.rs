//! Whether work is still wanted.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that is raised once, from any thread; clones are the same flag.
#[derive(Clone, Debug, Default)]
pub struct Cancel {
    flag: Arc<AtomicBool>,
    parent: Option<Arc<Cancel>>,
}

impl Cancel {
    /// A flag for a part of the work: raised with this one, or by itself.
    #[must_use]
    pub fn child(&self) -> Self {
        Cancel { flag: Arc::default(), parent: Some(Arc::new(self.clone())) }
    }

    /// Asks the work to give up. It ends with [`Error::Cancelled`](crate::Error::Cancelled) at its next step.
    pub fn cancel(&self) {
        self.flag.store(true, Ordering::Release);
    }

    /// Whether the work was asked to give up.
    pub fn is_cancelled(&self) -> bool {
        self.flag.load(Ordering::Acquire)
            || self.parent.as_ref().is_some_and(|parent| parent.is_cancelled())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_cancelled_with_the_whole_but_not_the_whole_with_a_part() {
        let whole = Cancel::default();
        let (first, second) = (whole.child(), whole.child());
        first.cancel();
        assert_eq!([&whole, &first, &second].map(Cancel::is_cancelled), [false, true, false]);
        whole.cancel();
        assert!(second.is_cancelled());
    }
}
