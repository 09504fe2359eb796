//! The one text form of small values: `name`, or `name:option=value,option=value`.
//!
//! Filters, kernels and operators are written and read through this, on the command line, in Python, in files
//! and in reports alike. Numbers are written so that they read back as the same bits.

use crate::error::{Error, Result};
use std::fmt;

/// The options after a name that have not been used yet.
pub(crate) struct Options<'a> {
    /// What the value is, for messages: `kernel`, `filter`.
    what: &'static str,
    name: &'a str,
    pairs: Vec<(&'a str, &'a str)>,
}

/// The name, and the options after it.
pub(crate) fn parse<'a>(what: &'static str, text: &'a str) -> Result<(&'a str, Options<'a>)> {
    let (name, options) = text.split_once(':').unwrap_or((text, ""));
    let pairs = options
        .split(',')
        .filter(|pair| !pair.is_empty())
        .map(|pair| {
            pair.split_once('=').ok_or_else(|| {
                Error::parameter(
                    what,
                    text,
                    format!("NAME:OPTION=VALUE,…; {pair:?} is not an option"),
                )
            })
        })
        .collect::<Result<_>>()?;
    Ok((name, Options { what, name, pairs }))
}

impl<'a> Options<'a> {
    fn take(&mut self, name: &str) -> Option<&'a str> {
        let position = self.pairs.iter().position(|(key, _)| *key == name)?;
        Some(self.pairs.remove(position).1)
    }

    /// A finite number that is accepted.
    pub(crate) fn number(
        &mut self,
        name: &'static str,
        expected: &str,
        accept: impl Fn(f64) -> bool,
    ) -> Result<Option<f64>> {
        let Some(text) = self.take(name) else { return Ok(None) };
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() && accept(value) => Ok(Some(value)),
            _ => Err(Error::parameter(name, text, expected)),
        }
    }

    /// A whole number within bounds.
    pub(crate) fn whole(
        &mut self,
        name: &'static str,
        least: u32,
        most: u32,
    ) -> Result<Option<u32>> {
        let Some(text) = self.take(name) else { return Ok(None) };
        match text.parse::<u32>() {
            Ok(value) if (least..=most).contains(&value) => Ok(Some(value)),
            _ => {
                Err(Error::parameter(name, text, format!("a whole number from {least} to {most}")))
            }
        }
    }

    /// Refuses options that were not used.
    pub(crate) fn finish(self) -> Result<()> {
        match self.pairs.first() {
            None => Ok(()),
            Some((name, _)) => {
                let expected = format!("one that {} has", self.name);
                Err(Error::Parameter { name: self.what, value: format!("option {name}"), expected })
            }
        }
    }
}

/// Writes a name and its options.
pub(crate) fn write(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    options: &[(&'static str, f64)],
) -> fmt::Result {
    f.write_str(name)?;
    for (k, (option, value)) in options.iter().enumerate() {
        write!(f, "{}{option}={value}", if k == 0 { ':' } else { ',' })?;
    }
    Ok(())
}

/// Serialises a type as its text, reading it back through `FromStr`.
macro_rules! serde_as_text {
    ($type:ty) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}
pub(crate) use serde_as_text;
