//! What kernels are called with.

use cudarc::driver::{CudaSlice, DevicePtr};

/// An argument of a kernel, as the bytes that it is read from.
#[derive(Clone, Copy)]
pub(crate) struct Argument(pub(crate) u64);

impl From<u64> for Argument {
    fn from(value: u64) -> Self {
        Argument(value)
    }
}

impl From<usize> for Argument {
    fn from(value: usize) -> Self {
        Argument(value as u64)
    }
}

impl From<u32> for Argument {
    fn from(value: u32) -> Self {
        Argument(u64::from(value))
    }
}

impl From<f32> for Argument {
    fn from(value: f32) -> Self {
        Argument(u64::from(value.to_bits()))
    }
}

impl From<f64> for Argument {
    fn from(value: f64) -> Self {
        Argument(value.to_bits())
    }
}

impl<T> From<&CudaSlice<T>> for Argument {
    fn from(memory: &CudaSlice<T>) -> Self {
        Argument(address(memory))
    }
}

impl<T> From<Option<&CudaSlice<T>>> for Argument {
    fn from(memory: Option<&CudaSlice<T>>) -> Self {
        Argument(memory.map_or(0, address))
    }
}

/// The arguments of a kernel, whatever their types.
macro_rules! arguments {
    ($($argument:expr),* $(,)?) => { &[$($crate::arguments::Argument::from($argument)),*] };
}
pub(crate) use arguments;

/// Where memory is.
pub(crate) fn address<T>(memory: &CudaSlice<T>) -> u64 {
    memory.device_ptr(memory.stream()).0
}
