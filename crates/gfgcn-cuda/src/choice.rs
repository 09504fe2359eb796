//! Which device was asked for, and what follows from that.

use crate::Cuda;
use gfgcn::context::Placement;
use gfgcn::device::Device;
use gfgcn::{Error, Result};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// Says where to compute where nothing else does.
const VARIABLE: &str = "GFGCN_DEVICE";

/// Where to compute, as people say it: `auto`, `cpu`, `cuda` or `cuda:N`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// A GPU where one is there and pays.
    #[default]
    Auto,
    /// The processor.
    Cpu,
    /// The GPU of a number.
    Cuda(usize),
}

impl FromStr for Choice {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        let number = text.strip_prefix("cuda:").map(str::parse);
        match (text, number) {
            ("auto", _) => Ok(Choice::Auto),
            ("cpu", _) => Ok(Choice::Cpu),
            ("cuda", _) => Ok(Choice::Cuda(0)),
            (_, Some(Ok(number))) => Ok(Choice::Cuda(number)),
            _ => Err(Error::parameter("device", text, "auto, cpu, cuda or cuda:N")),
        }
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Choice::Auto => f.write_str("auto"),
            Choice::Cpu => f.write_str("cpu"),
            Choice::Cuda(number) => write!(f, "cuda:{number}"),
        }
    }
}

impl Choice {
    /// What was asked for; else what the variable `GFGCN_DEVICE` says; else `auto`.
    ///
    /// # Errors
    /// A variable that names no device.
    pub fn or_environment(asked: Option<Choice>) -> Result<Self> {
        match (asked, std::env::var(VARIABLE)) {
            (Some(choice), _) => Ok(choice),
            (None, Ok(text)) if !text.is_empty() => text.parse(),
            _ => Ok(Choice::default()),
        }
    }

    /// Where work runs, if the data may be on a GPU already. A GPU that was asked for is opened now, so that what is wrong with it
    /// is said before anything is read.
    ///
    /// # Errors
    /// A GPU that was asked for and cannot be used.
    pub fn placement(self, data_on: Option<usize>) -> Result<Placement> {
        let open =
            |number: usize| -> Result<Arc<dyn Device>> { Ok(Arc::new(Cuda::shared(number)?)) };
        Ok(match (self, data_on) {
            (Choice::Cpu, _) => Placement::default(),
            (Choice::Cuda(number), _) => Placement::on(open(number)?),
            (Choice::Auto, Some(there)) => {
                Placement::where_the_data_are(Box::new(move || open(there)))
            }
            (Choice::Auto, None) => Placement::where_it_pays(Box::new(move || open(0))),
        })
    }

    /// Refuses a GPU for work that must not depend on one.
    ///
    /// # Errors
    /// A GPU that was asked for.
    pub fn only_processor(self, why: &str) -> Result<()> {
        match self {
            Choice::Auto | Choice::Cpu => Ok(()),
            Choice::Cuda(_) => {
                Err(Error::parameter("device", self, format!("cpu, or left out: {why}")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_written_and_read() {
        for text in ["auto", "cpu", "cuda:0", "cuda:7"] {
            assert_eq!(text.parse::<Choice>().unwrap().to_string(), text);
        }
        assert_eq!("cuda".parse::<Choice>().unwrap(), Choice::Cuda(0));
        for text in ["", "gpu", "cuda:", "cuda:-1", "cuda:x", "CUDA"] {
            assert!(text.parse::<Choice>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn only_a_gpu_that_was_asked_for_is_refused() {
        assert!(
            Choice::Auto.only_processor("why").is_ok() && Choice::Cpu.only_processor("").is_ok()
        );
        let error = Choice::Cuda(1).only_processor("bits").unwrap_err().to_string();
        assert!(error.contains("cuda:1") && error.contains("bits"), "{error}");
    }
}
