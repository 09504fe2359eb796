//! The Rust half of the Python package: arrays in, arrays out. What they mean to a user of Python (estimators,
//! kinds of graphs, labels of any type) is in the Python half, `gfgcn/`.

mod arrays;
mod cluster;
mod columns;
mod command_line;
mod dataset;
mod devices;
mod dlpack;
mod errors;
mod evaluation;
mod explain;
mod graph;
mod model;
mod panics;
mod relearn;
mod search;
mod settings;
mod store;
mod targets;
mod work;

/// The module `gfgcn._gfgcn`.
#[pyo3::pymodule]
mod _gfgcn {
    #[pymodule_export]
    use crate::cluster::{Job, accept};
    #[pymodule_export]
    use crate::command_line::command_line;
    #[pymodule_export]
    use crate::dataset::{Dataset, edge_columns, is_id_name};
    #[pymodule_export]
    use crate::devices::{devices, look_for_libraries};
    #[pymodule_export]
    use crate::dlpack::{DeviceArray, trouble_with_gpu};
    #[pymodule_export]
    use crate::evaluation::evaluate;
    #[pymodule_export]
    use crate::explain::{audit, explain, influence};
    #[pymodule_export]
    use crate::graph::Graph;
    #[pymodule_export]
    use crate::model::{Model, filter, fit};
    #[pymodule_export]
    use crate::relearn::{forget, smoothed_sets, update};
    #[pymodule_export]
    use crate::search::search;
    #[pymodule_export]
    use crate::settings::check;
    #[pymodule_export]
    use crate::store::StoreWriter;
    #[pymodule_export]
    use crate::work::settled;

    #[pymodule_export]
    #[allow(non_upper_case_globals)] // Python's spelling
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
