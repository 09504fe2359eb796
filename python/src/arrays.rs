//! NumPy's arrays as the library's matrices, and back.

use crate::errors::raise;
use gfgcn::matrix::Matrix;
use gfgcn::split::Split;
use gfgcn::{Error, Result};
use numpy::{
    Element, IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2,
    PyUntypedArray, PyUntypedArrayMethods,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyWeakrefReference;
use std::sync::Arc;

/// The numbers of an array of Python's, which neither move nor go away for as long as this lives.
///
/// Keeping a reference to the array is not enough: `array.resize(…, refcheck=False)` frees the numbers whoever has one.
/// It is refused for an array with weak references (but not for one whose buffer was exported), so there is one to
/// every array on the way to the numbers: a view, and the array that owns them. Two things are not in our hands. One
/// can still write to the array from another thread, which `fit` asks not to do; and `array.__setstate__` and, in
/// older versions of NumPy, assigning to `array.data` pull the numbers away from under every view, NumPy's own too.
struct Lent {
    _array: Py<PyArray2<f32>>,
    _pins: Vec<Py<PyWeakrefReference>>,
    start: *const f32,
    len: usize,
}

// SAFETY: only read through, and the numbers stay where they are, as above.
unsafe impl Send for Lent {}
// SAFETY: as above.
unsafe impl Sync for Lent {}

impl AsRef<[f32]> for Lent {
    fn as_ref(&self) -> &[f32] {
        // SAFETY: the array has so many contiguous entries, which was asked when they were lent.
        unsafe { std::slice::from_raw_parts(self.start, self.len) }
    }
}

/// A C-ordered array as a matrix, without a copy.
pub(crate) fn lend(array: &PyReadonlyArray2<'_, f32>) -> PyResult<Matrix<f32>> {
    let entries = array.as_slice().map_err(|_| PyValueError::new_err("X is not C-contiguous"))?;
    let (rows, cols) = (array.shape()[0], array.shape()[1]);
    let (start, len) = (entries.as_ptr(), entries.len());
    let array: &Bound<'_, PyArray2<f32>> = array;
    let lent = Lent { _array: array.clone().unbind(), _pins: pins(array.as_any())?, start, len };
    Matrix::shared(rows, cols, Arc::new(lent)).map_err(crate::errors::raise)
}

/// Weak references to an array and to those that it is a view of, during which none of them is resized. What is no
/// array and lends its memory to one, such as a `bytearray`, refuses to be resized by itself.
fn pins(array: &Bound<'_, PyAny>) -> PyResult<Vec<Py<PyWeakrefReference>>> {
    let mut pins = Vec::new();
    let mut next = array.clone();
    while next.cast::<PyUntypedArray>().is_ok() {
        pins.push(PyWeakrefReference::new(&next)?.unbind());
        next = next.getattr("base")?;
    }
    Ok(pins)
}

/// Numbers of rows, columns or nodes, in either of the widths that SciPy uses.
#[derive(FromPyObject)]
pub(crate) enum Indices<'py> {
    Short(PyReadonlyArray1<'py, i32>),
    Long(PyReadonlyArray1<'py, i64>),
}

impl Indices<'_> {
    /// As the library counts; names what is negative or too large.
    pub(crate) fn to<T: TryFrom<i64>>(&self, what: &str) -> PyResult<Vec<T>> {
        let all = |numbers: &mut dyn Iterator<Item = i64>| {
            let number = |n: i64| {
                T::try_from(n).map_err(|_| {
                    Error::Data(format!("{what} {n} is negative or more than 32 bits can number"))
                })
            };
            numbers.map(number).collect::<Result<Vec<T>>>().map_err(crate::errors::raise)
        };
        match self {
            Indices::Short(array) => {
                all(&mut array.as_array().iter().map(|&number| i64::from(number)))
            }
            Indices::Long(array) => all(&mut array.as_array().iter().copied()),
        }
    }
}

/// The nodes of a part of a split; negative ones are out of range in any graph.
pub(crate) fn nodes(part: &PyReadonlyArray1<'_, i64>) -> Vec<usize> {
    let number = |&node: &i64| usize::try_from(node).unwrap_or(usize::MAX);
    part.as_array().iter().map(number).collect()
}

/// Compressed rows: row offsets, columns, values.
pub(crate) type Csr<'py> = (Indices<'py>, Indices<'py>, PyReadonlyArray1<'py, f32>);

/// A matrix as an array, without a copy.
pub(crate) fn array<T: Element + Copy + Default>(
    py: Python<'_>,
    matrix: Matrix<T>,
) -> PyResult<Bound<'_, PyArray2<T>>> {
    let shape = [matrix.rows(), matrix.cols()];
    matrix.into_vec().into_pyarray(py).reshape(shape)
}

/// Numbers of nodes or classes as an array.
pub(crate) fn numbers(
    py: Python<'_>,
    numbers: impl IntoIterator<Item = usize>,
) -> Bound<'_, PyArray1<i64>> {
    numbers.into_iter().map(|number| number as i64).collect::<Vec<i64>>().into_pyarray(py)
}

/// Training nodes in increasing order, and how much each of them counts where they do not count alike.
pub(crate) type Sample<'py> = (PyReadonlyArray1<'py, i64>, Option<PyReadonlyArray1<'py, f64>>);

/// The split of so many nodes that trains on these.
pub(crate) fn split(count: usize, sample: &Sample<'_>, validation: Vec<usize>) -> PyResult<Split> {
    let (train, weights) = sample;
    let weights = weights.as_ref().map(|weights| weights.as_array().to_vec());
    let split = Split::new(count, nodes(train), validation, Vec::new());
    split.and_then(|split| split.with_weights(weights)).map_err(raise)
}
