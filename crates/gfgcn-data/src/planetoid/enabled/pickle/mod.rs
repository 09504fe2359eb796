//! Python pickles, read as data.
//!
//! A pickle is a program for a small stack machine that can call any Python function. This reader
//! runs the stack machine but calls nothing: a name becomes one of the few [`Global`]s that plain
//! arrays and sparse matrices need, or an error; a "call" becomes an inert [`Object`] record, which
//! the accessors here and in [`numpy`] interpret on demand.
//!
//! All values live side by side in one arena and refer to each other by index. So a value that is
//! shared a thousand times is stored once, a list that contains itself is just an index, dropping
//! nested values cannot recurse, and memory stays within a constant factor of the file's length.
//! The accessors never follow references to an unknown depth, so nesting needs no limit either.

mod calls;
mod input;
mod machine;
mod numpy;
mod text;

use crate::reading::Reading;
use gfgcn::{Error, Result};
use std::borrow::Cow;

/// The position of a value in the arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Id(u32);

/// One value of the pickle.
#[derive(Debug)]
enum Value<'a> {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    /// Python 3 `bytes` and `bytearray`, Python 2 `str`.
    Bytes(Cow<'a, [u8]>),
    Text(Cow<'a, str>),
    Tuple(Vec<Id>),
    List(Vec<Id>),
    Dict(Vec<(Id, Id)>),
    Global(Global),
    Object(Box<Object>),
}

/// A call that was recorded instead of made.
#[derive(Debug)]
struct Object {
    maker: Global,
    arguments: Vec<Id>,
    /// What Python would hand to `__setstate__`.
    state: Option<Id>,
}

/// The names a pickle may mention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Global {
    Bytes,
    Csr,
    DefaultDict,
    Dtype,
    Encode,
    FromBuffer,
    List,
    NdArray,
    NewObject,
    PlainObject,
    Reconstruct,
    Reconstructor,
    Scalar,
}

impl Global {
    /// The names under which Python 2 and 3 and the releases of NumPy and SciPy wrote them.
    fn named(module: &str, name: &str) -> Option<Global> {
        Some(match (module, name) {
            ("__builtin__" | "builtins", "bytes") => Global::Bytes,
            ("__builtin__" | "builtins", "list") => Global::List,
            ("__builtin__" | "builtins", "object") => Global::PlainObject,
            ("_codecs", "encode") => Global::Encode,
            ("collections", "defaultdict") => Global::DefaultDict,
            ("copy_reg" | "copyreg", "_reconstructor") => Global::Reconstructor,
            ("copy_reg" | "copyreg", "__newobj__") => Global::NewObject,
            ("numpy", "ndarray") => Global::NdArray,
            ("numpy", "dtype") => Global::Dtype,
            ("numpy.core.multiarray" | "numpy._core.multiarray", "_reconstruct") => {
                Global::Reconstruct
            }
            ("numpy.core.multiarray" | "numpy._core.multiarray", "scalar") => Global::Scalar,
            ("numpy.core.numeric" | "numpy._core.numeric", "_frombuffer") => Global::FromBuffer,
            ("scipy.sparse.csr" | "scipy.sparse._csr", "csr_matrix" | "csr_array") => Global::Csr,
            _ => return None,
        })
    }
}

impl std::fmt::Display for Global {
    /// As Python calls it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Global::Bytes => "bytes",
            Global::Csr => "scipy.sparse.csr_matrix",
            Global::DefaultDict => "collections.defaultdict",
            Global::Dtype => "numpy.dtype",
            Global::Encode => "codecs.encode",
            Global::FromBuffer => "numpy's _frombuffer",
            Global::List => "list",
            Global::NdArray => "numpy.ndarray",
            Global::NewObject => "copyreg.__newobj__",
            Global::PlainObject => "object",
            Global::Reconstruct => "numpy's _reconstruct",
            Global::Reconstructor => "copyreg._reconstructor",
            Global::Scalar => "numpy's scalar",
        })
    }
}

/// A pickle that was read to its end.
#[derive(Debug)]
pub(crate) struct Pickle<'a> {
    values: Vec<Value<'a>>,
    root: Id,
}

impl<'a> Pickle<'a> {
    /// Reads a whole file that holds one pickle of protocol 0 to 5.
    ///
    /// # Errors
    /// Anything but plain data, NumPy arrays and SciPy CSR matrices; the message names the byte.
    pub(crate) fn parse(bytes: &'a [u8], reading: &Reading) -> Result<Self> {
        machine::run(bytes, reading)
    }

    /// The value that was pickled.
    pub(crate) fn root(&self) -> Id {
        self.root
    }

    fn value(&self, id: Id) -> &Value<'a> {
        &self.values[id.0 as usize]
    }

    /// The items of a list or tuple.
    pub(crate) fn items(&self, id: Id) -> Result<&[Id]> {
        match self.value(id) {
            Value::List(items) | Value::Tuple(items) => Ok(items),
            _ => Err(self.unexpected("a list", id)),
        }
    }

    /// The keys and values of a dict, in the order they were stored.
    pub(crate) fn pairs(&self, id: Id) -> Result<&[(Id, Id)]> {
        match self.value(id) {
            Value::Dict(pairs) => Ok(pairs),
            _ => Err(self.unexpected("a dict", id)),
        }
    }

    /// An integer, Python's own or a NumPy scalar.
    pub(crate) fn integer(&self, id: Id) -> Result<i64> {
        match self.value(id) {
            Value::Int(value) => Ok(*value),
            Value::Object(object) if object.maker == Global::Scalar => self.scalar(object),
            _ => Err(self.unexpected("an integer", id)),
        }
    }

    fn size(&self, id: Id) -> Result<usize> {
        let value = self.integer(id)?;
        usize::try_from(value)
            .map_err(|_| Error::Format(format!("{value} stands where a size is needed")))
    }

    fn flag(&self, id: Id) -> Result<bool> {
        match self.value(id) {
            Value::Bool(flag) => Ok(*flag),
            Value::Int(flag @ (0 | 1)) => Ok(*flag == 1),
            _ => Err(self.unexpected("true or false", id)),
        }
    }

    /// A short string; Python 2 wrote those as bytes.
    fn text(&self, id: Id) -> Result<&str> {
        match self.value(id) {
            Value::Text(text) => Some(text.as_ref()),
            Value::Bytes(bytes) => std::str::from_utf8(bytes).ok(),
            _ => None,
        }
        .ok_or_else(|| self.unexpected("a string", id))
    }

    /// The value of a key in a dict of attributes.
    fn attribute(&self, pairs: &[(Id, Id)], name: &str) -> Result<Id> {
        // Compared as bytes: a long key that is used again and again must not be decoded each time.
        let named = |&&(key, _): &&(Id, Id)| match self.value(key) {
            Value::Text(key) => key == name,
            Value::Bytes(key) => key.as_ref() == name.as_bytes(),
            _ => false,
        };
        match pairs.iter().rev().find(named) {
            Some(&(_, value)) => Ok(value),
            None => Err(Error::Format(format!("the attribute {name:?} is missing"))),
        }
    }

    /// The record of a call of `maker`, if the value is one.
    fn made_by(&self, maker: Global, id: Id) -> Option<&Object> {
        match self.value(id) {
            Value::Object(object) if object.maker == maker => Some(object),
            _ => None,
        }
    }

    fn unexpected(&self, expected: &str, id: Id) -> Error {
        let found = match self.value(id) {
            Value::None => "None".to_owned(),
            Value::Bool(value) => format!("the truth value {value}"),
            Value::Int(value) => format!("the integer {value}"),
            Value::Float(value) => format!("the number {value}"),
            Value::Bytes(bytes) => format!("{} bytes", bytes.len()),
            Value::Text(text) => format!("the string {}", text::clipped(text)),
            Value::Tuple(items) => format!("a tuple of {}", items.len()),
            Value::List(items) => format!("a list of {}", items.len()),
            Value::Dict(pairs) => format!("a dict of {}", pairs.len()),
            Value::Global(global) => format!("the bare name of {global}"),
            Value::Object(object) => match object.maker {
                Global::Reconstruct | Global::FromBuffer => "a NumPy array".to_owned(),
                Global::Scalar => "a NumPy scalar".to_owned(),
                Global::Csr => "a SciPy CSR matrix".to_owned(),
                other => format!("an object made by {other}"),
            },
        };
        Error::Format(format!("expected {expected}, found {found}"))
    }
}

#[cfg(test)]
mod tests;
