//! How much memory a command may take, and the folder that takes the rest.

use crate::interrupt;
use crate::settings::Refusal;
use clap::Args;
use gfgcn::context::{Context, Scratch};
use gfgcn::data::Dataset;
use gfgcn::{Error, Result};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A limit of memory.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(crate) struct MemoryLimit {
    /// Take no more memory than this, such as 4GB: work is cut into pieces that fit, and where it still does not fit it is
    /// refused with what it would need. Graphs and features of a store are mapped and do not count
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    memory: Option<u64>,
}

impl MemoryLimit {
    pub(crate) fn bytes(self) -> Option<u64> {
        self.memory
    }

    /// Counts what a dataset holds, to the end of the program.
    pub(crate) fn count(self, dataset: &Dataset) -> Result<()> {
        if self.memory.is_some() {
            let memory = interrupt::context().memory().clone();
            let remedy =
                "use a store (gfgcn data convert), which is not read into memory, or allow more";
            std::mem::forget(memory.reserve("holding the data", dataset.held_memory(), remedy)?);
        }
        Ok(())
    }
}

/// Where what is finished goes.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct WorkFolder {
    /// Keep what is finished in this folder until all is done, and take up what is there [default: with --memory, OUTPUT.work]
    #[arg(long, value_name = "DIR")]
    work: Option<PathBuf>,
}

impl WorkFolder {
    const OPTION: &str = "--work";

    /// The folder that was named.
    pub(crate) fn path(&self) -> Option<PathBuf> {
        self.work.clone()
    }

    /// The option, where it is given.
    pub(crate) fn given(&self) -> Option<&'static str> {
        self.work.as_ref().map(|_| Self::OPTION)
    }

    /// Refuses the option where there is nothing to keep.
    pub(crate) fn idle(&self, unless: &str) -> Result<()> {
        match &self.work {
            Some(_) => {
                Err(Error::parameter(Self::OPTION, "given", format!("left out unless {unless}")))
            }
            None => Ok(()),
        }
    }

    /// The folder that was named, or the one beside an output where memory is limited: what is finished goes there, and is not
    /// computed again after an interruption.
    pub(crate) fn scratch(
        &self,
        output: Option<&Path>,
        memory: MemoryLimit,
        purpose: impl FnOnce() -> String,
    ) -> Option<Scratch> {
        let beside = |output: &Path| {
            let mut name = OsString::from(output.file_name().unwrap_or_default());
            name.push(".work");
            output.with_file_name(name)
        };
        let limited = output.filter(|_| memory.bytes().is_some());
        let folder = self.work.clone().or_else(|| limited.map(beside))?;
        Some(Scratch::at(&folder, purpose()))
    }
}

/// A context with a work folder, if there is one.
pub(crate) fn with_scratch(context: &Context, scratch: Option<&Scratch>) -> Context {
    match scratch {
        Some(scratch) => context.clone().with_scratch(scratch.clone()),
        None => context.clone(),
    }
}

/// `4GB`, `4GiB`, `512MB`, `2.5 GB` or a number of bytes. A thousand bytes are a kilobyte, 1024 a kibibyte.
fn bytes(text: &str) -> Result<u64, Refusal> {
    const UNITS: [(&str, f64); 11] = [
        ("kib", 1024.0),
        ("mib", 1048576.0),
        ("gib", 1073741824.0),
        ("tib", 1099511627776.0),
        ("kb", 1e3),
        ("mb", 1e6),
        ("gb", 1e9),
        ("tb", 1e12),
        ("m", 1e6),
        ("g", 1e9),
        ("b", 1.0),
    ];
    let lower = text.trim().to_lowercase();
    let unit = UNITS.iter().find_map(|(unit, size)| Some((lower.strip_suffix(unit)?, *size)));
    let (number, size) = unit.unwrap_or((&lower, 1.0));
    match number.trim().parse::<f64>() {
        Ok(number) if number > 0.0 && number * size < 1e18 => Ok((number * size) as u64),
        _ => Err("not a size, such as 4GB, 512MB or 2.5GiB".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_people_write_them() {
        for (text, expected) in [
            ("4GB", 4_000_000_000),
            ("4 gib", 4 << 30),
            ("2.5GB", 2_500_000_000),
            ("512M", 512_000_000),
            ("1000", 1000),
            ("7b", 7),
        ] {
            assert_eq!(bytes(text).ok(), Some(expected), "{text}");
        }
        for text in ["", "GB", "-1GB", "0", "four", "1e30GB", "nan", "4XB"] {
            assert!(bytes(text).is_err(), "{text}");
        }
    }
}
