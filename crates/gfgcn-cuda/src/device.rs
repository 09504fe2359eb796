//! A GPU: its kernels, its memory, and lanes in which threads work side by side.

use crate::library::{devices, explained, failure, load};
use crate::session::CudaSession;
use crate::system::CudaSystem;
use crate::transfer::{Staging, is_large};
use cudarc::cublas::CudaBlas;
use cudarc::driver::{
    CudaContext, CudaFunction, CudaModule, CudaSlice, CudaStream, DevicePtr, DeviceRepr,
    ValidAsZeroBits, result, sys,
};
use cudarc::nvrtc::Ptx;
use gfgcn::context::Context;
use gfgcn::device::{Device, Session, System, SystemInputs};
use gfgcn::matrix::Matrix;
use gfgcn::{Error, Result};
use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::c_void;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// With a say in what stays in the cache, and without.
const PROPAGATE: &str = include_str!("../kernels/propagate_80.ptx");
const PROPAGATE_PLAINLY: &str = include_str!("../kernels/propagate_70.ptx");
const RIDGE: &str = include_str!("../kernels/ridge_70.ptx");
/// Threads that use the GPU at the same time; others wait for one of them.
const LANES: usize = 12;
/// Bytes of memory that are fetched at a time, at least.
const SECTOR: usize = 32;

/// An NVIDIA GPU.
#[derive(Clone, Debug)]
pub struct Cuda(Arc<Gpu>);

pub(crate) struct Gpu {
    pub(crate) name: String,
    context: Arc<CudaContext>,
    functions: HashMap<String, CudaFunction>,
    lanes: Mutex<Vec<Lane>>,
    freed: Condvar,
    /// Bytes that may be taken at most, whatever is free.
    limit: u64,
}

/// A queue of work that one thread at a time fills.
pub(crate) struct Lane {
    pub(crate) stream: Arc<CudaStream>,
    pub(crate) blas: CudaBlas,
    /// Made for the first large copy.
    staging: RefCell<Option<Staging>>,
}

impl Cuda {
    /// The GPU of a number, as [`devices`] lists them.
    ///
    /// # Errors
    /// [`Error::Device`] with what is missing or wrong.
    pub fn open(number: usize) -> Result<Self> {
        Self::open_limited(number, u64::MAX)
    }

    /// As [`Cuda::open`], taking no more than so many bytes of its memory.
    ///
    /// # Errors
    /// As [`Cuda::open`].
    pub fn open_limited(number: usize, limit: u64) -> Result<Self> {
        load()?;
        let name = format!("cuda:{number}");
        let all = devices()?;
        let Some(found) = all.get(number) else {
            let count = match all.len() {
                1 => "only cuda:0 is".to_owned(),
                count => format!("cuda:0 to cuda:{} are", count.saturating_sub(1)),
            };
            return Err(failure(&name, format!("it is not there; {count}")));
        };
        if let Some(problem) = &found.unusable {
            return Err(failure(&name, problem.clone()));
        }
        let name = format!("{name} ({})", found.name);
        let failed = |error: result::DriverError| failure(&name, explained(&error));
        let context = CudaContext::new(number).map_err(failed)?;
        // SAFETY: what threads share is complete before they see it, and outlives their work; see `Lane::finish`.
        unsafe { context.disable_event_tracking() };
        keep_freed_memory(&context).map_err(failed)?;
        // Rows come from all over the memory, and their ends are not those of lines. A hint, which old GPUs ignore.
        let _ = context.set_limit(sys::CUlimit::CU_LIMIT_MAX_L2_FETCH_GRANULARITY, SECTOR);
        let mut functions = HashMap::new();
        let propagate = if found.architecture >= (8, 0) { PROPAGATE } else { PROPAGATE_PLAINLY };
        for source in [propagate, RIDGE] {
            let module = context.load_module(Ptx::from_src(source)).map_err(failed)?;
            for kernel in entries(source) {
                functions.insert(kernel.to_owned(), function(&module, kernel).map_err(failed)?);
            }
        }
        let lane = |_| {
            let stream = context.new_stream().map_err(failed)?;
            let blas = CudaBlas::new(stream.clone());
            let blas = blas.map_err(|error| failure(&name, format!("cuBLAS: {error}")))?;
            Ok(Lane { stream, blas, staging: RefCell::default() })
        };
        let lanes = (0..LANES).map(lane).collect::<Result<Vec<Lane>>>()?;
        let (lanes, freed) = (Mutex::new(lanes), Condvar::new());
        Ok(Cuda(Arc::new(Gpu { name, context, functions, lanes, freed, limit })))
    }
}

impl Gpu {
    /// A lane, as soon as one is free.
    pub(crate) fn lane(self: &Arc<Self>) -> Result<Held> {
        let mut lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(lane) = lanes.pop() {
                let held = Held { device: self.clone(), lane: Some(lane) };
                self.context.bind_to_thread().map_err(|error| self.failed(error))?;
                return Ok(held);
            }
            lanes = self.freed.wait(lanes).unwrap_or_else(PoisonError::into_inner);
        }
    }

    pub(crate) fn context(&self) -> &Arc<CudaContext> {
        &self.context
    }

    pub(crate) fn failed(&self, error: result::DriverError) -> Error {
        failure(&self.name, explained(&error))
    }

    /// Bytes that can be had.
    pub(crate) fn free(&self) -> Result<u64> {
        let (free, _) = self.context.mem_get_info().map_err(|error| self.failed(error))?;
        let stocked = stocked(&self.context).map_err(|error| self.failed(error))?;
        Ok((free as u64 + stocked).min(self.limit))
    }
}

impl Device for Cuda {
    fn name(&self) -> String {
        self.0.name.clone()
    }

    fn session(&self) -> Result<Arc<dyn Session>> {
        Ok(Arc::new(CudaSession::new(self.0.clone())))
    }

    fn system(
        &self,
        inputs: SystemInputs<'_>,
        targets: &Matrix<f64>,
        context: &Context,
    ) -> Result<Arc<dyn System>> {
        Ok(Arc::new(CudaSystem::new(self.0.clone(), inputs, targets, context)?))
    }
}

impl fmt::Debug for Gpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Gpu").field(&self.name).finish()
    }
}

/// A lane while it is in use.
pub(crate) struct Held {
    pub(crate) device: Arc<Gpu>,
    lane: Option<Lane>,
}

impl Drop for Held {
    fn drop(&mut self) {
        // Where work failed in the middle, some of it may still be under way, with memory that is about to be freed.
        let _ = self.finish();
        let mut lanes = self.device.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        lanes.extend(self.lane.take());
        self.device.freed.notify_one();
    }
}

impl Held {
    pub(crate) fn lane(&self) -> &Lane {
        self.lane.as_ref().expect("it is given back when it is dropped")
    }

    fn stream(&self) -> &Arc<CudaStream> {
        &self.lane().stream
    }

    /// Memory whose contents are not known.
    pub(crate) fn allocate<T: DeviceRepr>(&self, count: usize) -> Result<CudaSlice<T>> {
        // SAFETY: whoever takes it writes before it is read.
        let memory = unsafe { self.stream().alloc(count.max(1)) };
        memory.map_err(|error| self.device.failed(error))
    }

    pub(crate) fn zeros<T: DeviceRepr + ValidAsZeroBits>(
        &self,
        count: usize,
    ) -> Result<CudaSlice<T>> {
        self.stream().alloc_zeros(count.max(1)).map_err(|error| self.device.failed(error))
    }

    pub(crate) fn clear<T: DeviceRepr + ValidAsZeroBits>(
        &self,
        memory: &mut CudaSlice<T>,
    ) -> Result<()> {
        self.stream().memset_zeros(memory).map_err(|error| self.device.failed(error))
    }

    pub(crate) fn upload<T: DeviceRepr + Copy>(&self, values: &[T]) -> Result<CudaSlice<T>> {
        if values.is_empty() {
            return self.allocate(0);
        }
        if !is_large(values) {
            let copied = self.stream().clone_htod(values);
            return copied.map_err(|error| self.device.failed(error));
        }
        let to = self.allocate(values.len())?;
        self.staged(|staging| staging.upload(self.stream(), values, address(&to)))?;
        Ok(to)
    }

    /// A large copy.
    fn staged(
        &self,
        copy: impl FnOnce(&mut Staging) -> std::result::Result<(), result::DriverError>,
    ) -> Result<()> {
        let mut staging = self.lane().staging.borrow_mut();
        let copied = match &mut *staging {
            Some(staging) => copy(staging),
            none => Staging::new(&self.device).and_then(|made| copy(none.insert(made))),
        };
        copied.map_err(|error| self.device.failed(error))
    }

    /// A copy of the first entries, once they are there.
    pub(crate) fn download<T: DeviceRepr + Copy + Default>(
        &self,
        from: &CudaSlice<T>,
        count: usize,
    ) -> Result<Vec<T>> {
        let mut values = vec![T::default(); count];
        self.download_to(address(from), &mut values)?;
        Ok(values)
    }

    /// Copies from an address, once it is there.
    pub(crate) fn download_to<T: DeviceRepr + Copy>(&self, from: u64, to: &mut [T]) -> Result<()> {
        if is_large(to) {
            return self.staged(|staging| staging.download(self.stream(), from, to));
        }
        if !to.is_empty() {
            // SAFETY: whoever calls has as much memory there, and it is waited for below.
            let copied = unsafe { result::memcpy_dtoh_async(to, from, self.stream().cu_stream()) };
            copied.map_err(|error| self.device.failed(error))?;
        }
        self.finish()
    }

    /// Waits until everything is done: other lanes may use what was made.
    pub(crate) fn finish(&self) -> Result<()> {
        self.stream().synchronize().map_err(|error| self.device.failed(error))
    }

    /// Starts a kernel.
    ///
    /// The arguments must be those of the kernel, and its memory as large as they say.
    pub(crate) fn launch(
        &self,
        kernel: &str,
        grid: (usize, usize),
        threads: u32,
        arguments: &[Argument],
    ) -> Result<()> {
        if grid.0 == 0 || grid.1 == 0 {
            return Ok(());
        }
        let function = &self.device.functions[kernel];
        let mut places: Vec<*mut c_void> =
            arguments.iter().map(|argument| (&raw const argument.0).cast_mut().cast()).collect();
        // SAFETY: the arguments are the kernel's, of eight bytes or the first four of them, and live until it has started.
        let started = unsafe {
            result::launch_kernel(
                function.cu_function(),
                (grid.0 as u32, grid.1 as u32, 1),
                (threads, 1, 1),
                0,
                self.stream().cu_stream(),
                &mut places,
            )
        };
        started.map_err(|error| self.device.failed(error))
    }

    /// As [`Held::launch`], with a thread for each of so many entries.
    pub(crate) fn launch_each(
        &self,
        kernel: &str,
        entries: usize,
        arguments: &[Argument],
    ) -> Result<()> {
        self.launch(kernel, (entries.div_ceil(256), 1), 256, arguments)
    }
}

/// An argument of a kernel, as the bytes that it is read from.
#[derive(Clone, Copy)]
pub(crate) struct Argument(u64);

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
    ($($argument:expr),* $(,)?) => { &[$($crate::device::Argument::from($argument)),*] };
}
pub(crate) use arguments;

/// Where memory is.
pub(crate) fn address<T>(memory: &CudaSlice<T>) -> u64 {
    memory.device_ptr(memory.stream()).0
}

/// The names of the kernels in PTX.
fn entries(source: &str) -> impl Iterator<Item = &str> {
    let lines = source.lines().filter_map(|line| line.split(".entry ").nth(1));
    lines.map(|rest| rest.trim_end_matches('(').trim())
}

fn function(
    module: &Arc<CudaModule>,
    name: &str,
) -> std::result::Result<CudaFunction, result::DriverError> {
    module.load_function(name)
}

fn pool(context: &Arc<CudaContext>) -> std::result::Result<sys::CUmemoryPool, result::DriverError> {
    let mut pool = std::ptr::null_mut();
    // SAFETY: writes one handle.
    unsafe { sys::cuDeviceGetDefaultMemPool(&mut pool, context.cu_device()) }.result()?;
    Ok(pool)
}

/// Memory that was freed stays with the program, so that taking it again costs nothing; a lane does not wait for memory of
/// another one.
fn keep_freed_memory(context: &Arc<CudaContext>) -> std::result::Result<(), result::DriverError> {
    use sys::CUmemPool_attribute as Attribute;
    let pool = pool(context)?;
    let (mut all, mut no) = (u64::MAX, 0i32);
    let threshold = Attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
    let waits = Attribute::CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES;
    // SAFETY: read one number of 64 bits and one of 32, as the attributes have.
    unsafe {
        sys::cuMemPoolSetAttribute(pool, threshold, (&raw mut all).cast()).result()?;
        sys::cuMemPoolSetAttribute(pool, waits, (&raw mut no).cast()).result()
    }
}

/// Bytes that were freed and stayed.
fn stocked(context: &Arc<CudaContext>) -> std::result::Result<u64, result::DriverError> {
    use sys::CUmemPool_attribute as Attribute;
    let pool = pool(context)?;
    let read = |attribute| {
        let mut bytes = 0u64;
        // SAFETY: writes one number of 64 bits, as the attributes have.
        unsafe { sys::cuMemPoolGetAttribute(pool, attribute, (&raw mut bytes).cast()) }.result()?;
        Ok::<u64, result::DriverError>(bytes)
    };
    let reserved = read(Attribute::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT)?;
    Ok(reserved.saturating_sub(read(Attribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_of_the_ptx_has_a_name() {
        let plainly: Vec<&str> = entries(PROPAGATE_PLAINLY).collect();
        assert!(entries(PROPAGATE).eq(plainly));
        let names: Vec<&str> = entries(PROPAGATE).chain(entries(RIDGE)).collect();
        assert!(names.contains(&"product_f32_32") && names.contains(&"panel"), "{names:?}");
        assert!(names.iter().all(|name| name.chars().all(|c| c.is_alphanumeric() || c == '_')));
    }
}
