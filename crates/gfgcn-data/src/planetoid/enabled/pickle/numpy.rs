//! NumPy arrays and SciPy CSR matrices, from the records the machine left.
//!
//! What is interpreted is always compared with the length of its payload first, so that a small
//! record that is referred to from everywhere costs little each time.

use super::{Global, Id, Object, Pickle, Value};
use gfgcn::{Error, Result};
use std::borrow::Cow;

/// A numeric array of one or two dimensions.
#[derive(Debug)]
pub(crate) struct Array<'a> {
    dtype: Dtype,
    shape: Vec<usize>,
    /// Columns are contiguous instead of rows.
    fortran: bool,
    bytes: Cow<'a, [u8]>,
}

/// A sparse matrix in compressed rows as the file gives it; only the sizes were compared.
#[derive(Debug)]
pub(crate) struct Csr {
    /// Rows and columns.
    pub(crate) shape: (usize, usize),
    /// Row offsets.
    pub(crate) offsets: Vec<usize>,
    /// Column indices.
    pub(crate) indices: Vec<u32>,
    /// Values.
    pub(crate) values: Vec<f32>,
}

#[derive(Clone, Copy, Debug)]
struct Dtype {
    element: Element,
    big_endian: bool,
}

/// The element types, named as in NumPy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Element {
    B1,
    I1,
    I2,
    I4,
    I8,
    U1,
    U2,
    U4,
    U8,
    F4,
    F8,
}

/// One element before it becomes the type that is needed.
#[derive(Clone, Copy, Debug)]
enum Number {
    Int(i128),
    Float(f64),
}

impl Element {
    fn named(name: &str) -> Option<Element> {
        use Element::*;
        Some(match name {
            "b1" => B1,
            "i1" => I1,
            "i2" => I2,
            "i4" => I4,
            "i8" => I8,
            "u1" => U1,
            "u2" => U2,
            "u4" => U4,
            "u8" => U8,
            "f4" => F4,
            "f8" => F8,
            _ => return None,
        })
    }

    fn size(self) -> usize {
        match self {
            Element::B1 | Element::I1 | Element::U1 => 1,
            Element::I2 | Element::U2 => 2,
            Element::I4 | Element::U4 | Element::F4 => 4,
            Element::I8 | Element::U8 | Element::F8 => 8,
        }
    }
}

impl Dtype {
    /// Decodes one element of exactly [`Element::size`] bytes.
    fn decode(self, bytes: &[u8]) -> Number {
        let mut low = [0; 8];
        low[..bytes.len()].copy_from_slice(bytes);
        if self.big_endian {
            low[..bytes.len()].reverse();
        }
        let bits = u64::from_le_bytes(low);
        match self.element {
            Element::B1 | Element::U1 | Element::U2 | Element::U4 | Element::U8 => {
                Number::Int(bits.into())
            }
            Element::I1 => Number::Int((bits as i8).into()),
            Element::I2 => Number::Int((bits as i16).into()),
            Element::I4 => Number::Int((bits as i32).into()),
            Element::I8 => Number::Int((bits as i64).into()),
            Element::F4 => Number::Float(f32::from_bits(bits as u32).into()),
            Element::F8 => Number::Float(f64::from_bits(bits)),
        }
    }
}

impl Array<'_> {
    /// The elements in row-major order.
    fn numbers(&self) -> impl Iterator<Item = Number> + '_ {
        let size = self.dtype.element.size();
        let count = self.bytes.len() / size;
        let rows = self.shape[0].max(1);
        let cols = (count / rows).max(1);
        (0..count).map(move |k| {
            let place = if self.fortran { k % cols * rows + k / cols } else { k };
            self.dtype.decode(&self.bytes[place * size..(place + 1) * size])
        })
    }

    /// Rows and columns; there is at least one column.
    pub(crate) fn rows_and_columns(&self) -> Result<(usize, usize)> {
        match self.shape[..] {
            [rows, cols] if cols > 0 => Ok((rows, cols)),
            ref shape => Err(Error::Format(format!(
                "an array has the shape {shape:?}, but rows and at least one column are needed"
            ))),
        }
    }

    /// The elements as 32-bit floats, in row-major order.
    pub(crate) fn floats(&self) -> Vec<f32> {
        self.numbers()
            .map(|number| match number {
                Number::Int(value) => value as f32,
                Number::Float(value) => value as f32,
            })
            .collect()
    }

    /// The elements as sizes or positions.
    fn indices<T: TryFrom<i128>>(&self) -> Result<Vec<T>> {
        let index = |(k, number)| match number {
            Number::Int(value) => T::try_from(value).map_err(|_| {
                Error::Format(format!("element {k} is {value}, which is not a valid index"))
            }),
            Number::Float(value) => Err(Error::Format(format!(
                "element {k} is the float {value}, but an index must be an integer"
            ))),
        };
        self.numbers().enumerate().map(index).collect()
    }
}

impl<'a> Pickle<'a> {
    /// A NumPy array.
    ///
    /// # Errors
    /// Any other value, elements that are not plain numbers, more than two dimensions, or a shape
    /// that the payload does not fill exactly.
    pub(crate) fn array(&self, id: Id) -> Result<Array<'_>> {
        let (shape, dtype, fortran, payload) = if let Some(object) =
            self.made_by(Global::FromBuffer, id)
        {
            match object.arguments[..] {
                [payload, dtype, shape, order] => (shape, dtype, self.text(order)? == "F", payload),
                _ => return Err(self.unexpected("a NumPy array of four parts", id)),
            }
        } else if let Some(object) = self.made_by(Global::Reconstruct, id) {
            let state = object.state.map(|state| self.items(state)).transpose()?;
            match state {
                Some(&[_version, shape, dtype, fortran, payload]) => {
                    (shape, dtype, self.flag(fortran)?, payload)
                }
                _ => return Err(self.unexpected("a NumPy array with a state of five", id)),
            }
        } else {
            return Err(self.unexpected("a NumPy array", id));
        };
        let dtype = self.dtype(dtype)?;
        let shape = self.items(shape)?;
        if !(1..=2).contains(&shape.len()) {
            return Err(Error::Format(format!(
                "an array has {} dimensions, but one or two are needed",
                shape.len()
            )));
        }
        let shape = shape.iter().map(|&size| self.size(size)).collect::<Result<Vec<_>>>()?;
        let bytes = shape
            .iter()
            .try_fold(dtype.element.size(), |product, &size| product.checked_mul(size))
            .ok_or_else(|| Error::Format(format!("an array has the impossible shape {shape:?}")))?;
        let bytes = self.payload(payload, bytes)?;
        Ok(Array { dtype, shape, fortran, bytes })
    }

    /// A SciPy CSR matrix, with the three arrays checked against its shape.
    pub(crate) fn csr(&self, id: Id) -> Result<Csr> {
        let state = self
            .made_by(Global::Csr, id)
            .and_then(|object| object.state)
            .ok_or_else(|| self.unexpected("a SciPy CSR matrix", id))?;
        let attributes = self.pairs(state)?;
        let shape = match *self.items(self.attribute(attributes, "_shape")?)? {
            [rows, cols] => (self.size(rows)?, self.size(cols)?),
            ref other => {
                let what = "sizes in _shape".into();
                return Err(Error::Size { what, expected: 2, found: other.len() });
            }
        };
        let array = |name| self.attribute(attributes, name).and_then(|id| self.array(id));
        let inside = |name: &'static str| move |e: Error| Error::Format(format!("{name}: {e}"));
        let offsets =
            array("indptr").and_then(|array| array.indices()).map_err(inside("indptr"))?;
        let indices =
            array("indices").and_then(|array| array.indices()).map_err(inside("indices"))?;
        let values = array("data").map_err(inside("data"))?.floats();
        Error::check_size(
            format!("row offsets (indptr) of {} rows", shape.0),
            shape.0.saturating_add(1),
            offsets.len(),
        )?;
        Ok(Csr { shape, offsets, indices, values })
    }

    /// Whether the value is a CSR matrix rather than an array.
    pub(crate) fn is_csr(&self, id: Id) -> bool {
        self.made_by(Global::Csr, id).is_some()
    }

    /// The integer in a NumPy scalar.
    pub(super) fn scalar(&self, scalar: &Object) -> Result<i64> {
        let &[dtype, payload] = &scalar.arguments[..] else {
            return Err(Error::Format("a NumPy scalar has no dtype or no value".into()));
        };
        let dtype = self.dtype(dtype)?;
        match dtype.decode(&self.payload(payload, dtype.element.size())?) {
            Number::Int(value) => i64::try_from(value)
                .map_err(|_| Error::Format(format!("{value} does not fit 64 bits"))),
            Number::Float(value) => {
                Err(Error::Format(format!("the float {value} stands where an integer is needed")))
            }
        }
    }

    fn dtype(&self, id: Id) -> Result<Dtype> {
        let object =
            self.made_by(Global::Dtype, id).ok_or_else(|| self.unexpected("a NumPy dtype", id))?;
        let name = match object.arguments.first() {
            Some(&name) => self.text(name)?,
            None => return Err(Error::Format("a NumPy dtype has no name".into())),
        };
        let element = Element::named(name).ok_or_else(|| {
            Error::Format(format!(
                "an array has elements of type {}; only integers, truth values and floats of 32 \
                 or 64 bits can be read",
                super::text::clipped(name)
            ))
        })?;
        let order = match object.state.map(|state| self.items(state)).transpose()? {
            Some(&[_version, order, ..]) => self.text(order)?,
            _ => "|",
        };
        match order {
            "<" | "|" => Ok(Dtype { element, big_endian: false }),
            ">" => Ok(Dtype { element, big_endian: true }),
            _ => Err(Error::Format(format!(
                "an array has the unknown byte order {}",
                super::text::clipped(order)
            ))),
        }
    }

    /// Exactly `expected` bytes: plain ones, or text that Python 3 wrote in their place.
    fn payload(&self, id: Id, expected: usize) -> Result<Cow<'_, [u8]>> {
        let wrong =
            |found: usize| Error::Size { what: "bytes of an array".into(), expected, found };
        if let Value::Bytes(bytes) = self.value(id) {
            return match bytes.len() {
                found if found == expected => Ok(Cow::Borrowed(bytes)),
                found => Err(wrong(found)),
            };
        }
        let Some(encoded) = self.made_by(Global::Encode, id) else {
            return Err(self.unexpected("the bytes of an array", id));
        };
        let &[text, encoding] = &encoded.arguments[..] else {
            return Err(self.unexpected("encoded bytes", id));
        };
        let (Value::Text(text), "latin1" | "latin-1") = (self.value(text), self.text(encoding)?)
        else {
            return Err(Error::Format("bytes are encoded in another way than Latin-1".into()));
        };
        // Latin-1 text takes one or two bytes per byte; anything longer is not even looked at.
        if text.len() > expected.saturating_mul(2) {
            return Err(wrong(text.len()));
        }
        let bytes = text
            .chars()
            .map(|c| u8::try_from(c).map_err(|_| Error::Format(format!("{c:?} is not Latin-1"))))
            .collect::<Result<Vec<u8>>>()?;
        if bytes.len() == expected { Ok(Cow::Owned(bytes)) } else { Err(wrong(bytes.len())) }
    }
}
