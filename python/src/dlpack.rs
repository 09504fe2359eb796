//! Arrays on a GPU, shared with other libraries by DLPack: theirs are read where they are, and results become theirs.

use crate::errors::raise;
use gfgcn::device::ResidentRows;
use gfgcn::matrix::Matrix;
use gfgcn_cuda::{Cuda, Given, Lent};
use pyo3::exceptions::{PyBufferError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::ffi::{CStr, c_void};
use std::sync::Arc;

/// What a capsule is called until somebody takes what is in it, and from then on.
const NEW: &CStr = c"dltensor";
const USED: &CStr = c"used_dltensor";
/// Memory of a GPU, and memory that it shares with the processor.
const CUDA: i32 = 2;
const CUDA_MANAGED: i32 = 13;
const FLOAT: u8 = 2;

#[repr(C)]
#[derive(Clone, Copy)]
struct Place {
    kind: i32,
    number: i32,
}

#[repr(C)]
#[derive(Clone, Copy, PartialEq)]
struct Kind {
    code: u8,
    bits: u8,
    lanes: u16,
}

const SINGLE: Kind = Kind { code: FLOAT, bits: 32, lanes: 1 };

#[repr(C)]
struct Tensor {
    data: *mut c_void,
    place: Place,
    dimensions: i32,
    kind: Kind,
    shape: *mut i64,
    strides: *mut i64,
    offset: u64,
}

/// A tensor and how it is given back.
#[repr(C)]
struct Managed {
    tensor: Tensor,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Managed)>,
}

/// Somebody's tensor, which is given back when this is dropped, once.
struct Taken(*mut Managed);

// SAFETY: nothing of it is touched but by `drop`, with Python's lock.
unsafe impl Send for Taken {}
// SAFETY: as above.
unsafe impl Sync for Taken {}

impl Drop for Taken {
    fn drop(&mut self) {
        Python::attach(|_| {
            // SAFETY: it was taken from its capsule, so nobody else gives it back.
            unsafe {
                if let Some(deleter) = (*self.0).deleter {
                    deleter(self.0);
                }
            }
        });
    }
}

/// A matrix that is on a GPU, from a capsule that its library made for the default stream.
pub(crate) fn lend(capsule: &Bound<'_, PyCapsule>) -> PyResult<Matrix<f32>> {
    let py = capsule.py();
    // SAFETY: it is a capsule, and one of this name has a tensor in it.
    let managed = unsafe {
        if ffi::PyCapsule_IsValid(capsule.as_ptr(), NEW.as_ptr()) == 0 {
            return Err(PyValueError::new_err(
                "X is no DLPack tensor, or one that was used already",
            ));
        }
        ffi::PyCapsule_GetPointer(capsule.as_ptr(), NEW.as_ptr()).cast::<Managed>()
    };
    // SAFETY: the capsule has it until its name is changed.
    let (rows, cols, number, address) = understood(unsafe { &(*managed).tensor })?;
    // SAFETY: it is ours from now on.
    let taken = unsafe {
        if ffi::PyCapsule_SetName(capsule.as_ptr(), USED.as_ptr()) != 0 {
            return Err(PyErr::fetch(py));
        }
        Taken(managed)
    };
    let lent = py.detach(move || {
        let gpu = Cuda::shared(number)?;
        // SAFETY: so many numbers are there until the tensor is given back; whoever writes to them meanwhile was told not to.
        let lent = unsafe { Lent::new(&gpu, address, rows * cols, Box::new(taken)) }?;
        Matrix::on_device(rows, cols, Arc::new(lent))
    });
    lent.map_err(raise)
}

/// Rows, columns, the number of the GPU and the address of a matrix of ours; others are refused by what they are.
fn understood(tensor: &Tensor) -> PyResult<(usize, usize, usize, u64)> {
    let refused = |what: String| Err(PyValueError::new_err(what));
    let Place { kind, number } = tensor.place;
    if kind != CUDA && kind != CUDA_MANAGED {
        return refused(format!("X is on a device of DLPack's type {kind}, not on an NVIDIA GPU"));
    }
    if tensor.kind != SINGLE {
        let Kind { code, bits, lanes } = tensor.kind;
        return refused(format!(
            "X is no float32, but of DLPack's type {code} with {lanes} × {bits} bits"
        ));
    }
    if tensor.dimensions != 2 {
        return refused(format!("Expected 2D array, got {}D array instead.", tensor.dimensions));
    }
    // SAFETY: there are as many numbers as dimensions, or no strides at all.
    let (shape, strides) = unsafe {
        let shape = std::slice::from_raw_parts(tensor.shape, 2);
        (shape, (!tensor.strides.is_null()).then(|| std::slice::from_raw_parts(tensor.strides, 2)))
    };
    let (Ok(rows), Ok(cols)) = (usize::try_from(shape[0]), usize::try_from(shape[1])) else {
        return refused(format!("X has the shape {shape:?}"));
    };
    // Strides of what has one entry mean nothing.
    let dense =
        |strides: &[i64]| (cols <= 1 || strides[1] == 1) && (rows <= 1 || strides[0] == shape[1]);
    if !strides.is_none_or(dense) {
        return refused("X is not C-contiguous".to_owned());
    }
    Ok((rows, cols, number as usize, tensor.data as u64 + tensor.offset))
}

/// Why arrays on the GPU of a number cannot be used where they are; opens it.
#[pyfunction]
pub(crate) fn trouble_with_gpu(py: Python<'_>, number: usize) -> Option<String> {
    py.detach(|| Cuda::shared(number)).err().map(|error| error.to_string())
}

/// A result that is on a GPU: any library that knows DLPack can take it over.
#[pyclass(frozen, module = "gfgcn._gfgcn")]
pub(crate) struct DeviceArray(Arc<Given>);

impl DeviceArray {
    /// Of rows that were filtered and are still on a GPU.
    pub(crate) fn of(rows: &dyn ResidentRows) -> Option<Self> {
        Given::of(rows).map(|given| DeviceArray(Arc::new(given)))
    }
}

#[pymethods]
impl DeviceArray {
    #[getter]
    fn shape(&self) -> (usize, usize) {
        self.0.shape()
    }

    fn __dlpack_device__(&self) -> (i32, usize) {
        (CUDA, self.0.device())
    }

    /// It is complete, so there is no stream that has to wait.
    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        stream: Option<Bound<'py, PyAny>>,
        max_version: Option<(i32, i32)>,
        dl_device: Option<(i32, usize)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let _ = (stream, max_version);
        if copy == Some(true) || dl_device.is_some_and(|there| there != self.__dlpack_device__()) {
            return Err(PyBufferError::new_err("this array stays where it is, and is not copied"));
        }
        Lending::capsule(py, self.0.clone())
    }
}

/// An array that was handed out, and what describes it.
struct Lending {
    managed: Managed,
    shape: [i64; 2],
    _given: Arc<Given>,
}

impl Lending {
    fn capsule(py: Python<'_>, given: Arc<Given>) -> PyResult<Bound<'_, PyAny>> {
        let (rows, cols) = given.shape();
        let tensor = Tensor {
            data: given.address() as *mut c_void,
            place: Place { kind: CUDA, number: given.device() as i32 },
            dimensions: 2,
            kind: SINGLE,
            shape: std::ptr::null_mut(),
            strides: std::ptr::null_mut(),
            offset: 0,
        };
        let managed = Managed { tensor, context: std::ptr::null_mut(), deleter: Some(give_back) };
        let shape = [rows as i64, cols as i64];
        let lending = Box::into_raw(Box::new(Lending { managed, shape, _given: given }));
        // SAFETY: it lives until `give_back`, which whoever takes the capsule's contents calls, or the capsule itself.
        unsafe {
            (*lending).managed.tensor.shape = (&raw mut (*lending).shape).cast();
            (*lending).managed.context = lending.cast();
            let managed = (&raw mut (*lending).managed).cast();
            let capsule = ffi::PyCapsule_New(managed, NEW.as_ptr(), Some(unused));
            Bound::from_owned_ptr_or_err(py, capsule).inspect_err(|_| drop(Box::from_raw(lending)))
        }
    }
}

/// Whoever took the array has no use for it any more.
unsafe extern "C" fn give_back(managed: *mut Managed) {
    // SAFETY: `Lending::capsule` put it there, and this is called once.
    drop(unsafe { Box::from_raw((*managed).context.cast::<Lending>()) });
}

/// A capsule goes away; what is in it as well, if nobody took that.
unsafe extern "C" fn unused(capsule: *mut ffi::PyObject) {
    // SAFETY: a capsule of ours, which has a tensor in it for as long as it has this name.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, NEW.as_ptr()) != 0 {
            give_back(ffi::PyCapsule_GetPointer(capsule, NEW.as_ptr()).cast());
        }
    }
}
