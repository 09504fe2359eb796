//! The parts of the command line; the binary is in main.rs.

pub mod data_folder;
pub mod download;
