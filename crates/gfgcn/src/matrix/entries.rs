//! The entries of a matrix: its own, or lent by whoever made them.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// Entries that belong to someone else, such as an array of Python's; they stay as they are for as long as
/// this is held.
pub type SharedEntries<T> = Arc<dyn AsRef<[T]> + Send + Sync>;

/// Read as a slice; written only through [`Entries::to_mut`], which copies what is shared.
pub(super) enum Entries<T> {
    Own(Vec<T>),
    Shared(SharedEntries<T>),
}

impl<T: Clone> Entries<T> {
    pub(super) fn to_mut(&mut self) -> &mut [T] {
        if let Entries::Shared(shared) = self {
            *self = Entries::Own((**shared).as_ref().to_vec());
        }
        match self {
            Entries::Own(own) => own,
            Entries::Shared(_) => unreachable!("copied above"),
        }
    }

    pub(super) fn into_vec(self) -> Vec<T> {
        match self {
            Entries::Own(own) => own,
            Entries::Shared(shared) => (*shared).as_ref().to_vec(),
        }
    }
}

impl<T> Deref for Entries<T> {
    type Target = [T];
    #[inline]
    fn deref(&self) -> &[T] {
        match self {
            Entries::Own(own) => own,
            Entries::Shared(shared) => (**shared).as_ref(),
        }
    }
}

impl<T: Clone> Clone for Entries<T> {
    fn clone(&self) -> Self {
        match self {
            Entries::Own(own) => Entries::Own(own.clone()),
            Entries::Shared(shared) => Entries::Shared(shared.clone()),
        }
    }
}

impl<T: PartialEq> PartialEq for Entries<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: fmt::Debug> fmt::Debug for Entries<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T> Default for Entries<T> {
    fn default() -> Self {
        Entries::Own(Vec::new())
    }
}

impl<T> From<Vec<T>> for Entries<T> {
    fn from(own: Vec<T>) -> Self {
        Entries::Own(own)
    }
}

impl<T> FromIterator<T> for Entries<T> {
    fn from_iter<I: IntoIterator<Item = T>>(entries: I) -> Self {
        Entries::Own(entries.into_iter().collect())
    }
}
