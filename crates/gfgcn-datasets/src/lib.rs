//! Built-in datasets.
