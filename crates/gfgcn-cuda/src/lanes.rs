//! Queues of work, each filled by one thread at a time, so that threads use the GPU side by side.

use crate::arguments::{Argument, address};
use crate::device::Gpu;
use crate::library::{explained_cublas, failure};
use crate::transfer::{Staging, is_large};
use cudarc::cublas::CudaBlas;
use cudarc::driver::{CudaEvent, CudaSlice, CudaStream, DeviceRepr, ValidAsZeroBits, result};
use gfgcn::Result;
use std::cell::{OnceCell, RefCell};
use std::ffi::c_void;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// The lanes that are free.
#[derive(Default)]
pub(crate) struct Lanes {
    free: Mutex<Vec<Lane>>,
    freed: Condvar,
}

impl Lanes {
    pub(crate) fn new(lanes: Vec<Lane>) -> Self {
        Lanes { free: Mutex::new(lanes), freed: Condvar::new() }
    }

    /// A lane, as soon as one is free.
    pub(crate) fn take(&self) -> Lane {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(lane) = free.pop() {
                return lane;
            }
            free = self.freed.wait(free).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn give_back(&self, lane: Lane) {
        self.free.lock().unwrap_or_else(PoisonError::into_inner).push(lane);
        self.freed.notify_one();
    }
}

/// A queue of work that one thread at a time fills.
pub(crate) struct Lane {
    pub(crate) stream: Arc<CudaStream>,
    /// Made for the first product: each takes its time, and a small piece of work needs one lane only.
    blas: OnceCell<CudaBlas>,
    /// Made for the first large copy.
    staging: RefCell<Option<Staging>>,
}

impl Lane {
    pub(crate) fn new(stream: Arc<CudaStream>) -> Self {
        Lane { stream, blas: OnceCell::new(), staging: RefCell::default() }
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
        if let Some(lane) = self.lane.take() {
            let _ = lane.stream.synchronize();
            self.device.lanes().give_back(lane);
        }
    }
}

impl Held {
    pub(crate) fn new(device: Arc<Gpu>, lane: Lane) -> Self {
        Held { device, lane: Some(lane) }
    }

    pub(crate) fn lane(&self) -> &Lane {
        self.lane.as_ref().expect("it is given back when it is dropped")
    }

    fn stream(&self) -> &Arc<CudaStream> {
        &self.lane().stream
    }

    /// What multiplies matrices in this lane.
    pub(crate) fn blas(&self) -> Result<&CudaBlas> {
        let Lane { stream, blas, .. } = self.lane();
        if blas.get().is_none() {
            let free = || self.device.context().mem_get_info().ok().map(|(free, _)| free);
            let made = CudaBlas::new(stream.clone());
            let failed = |error| failure(&self.device.name, explained_cublas(&error, free()));
            let _ = blas.set(made.map_err(failed)?);
        }
        Ok(blas.get().expect("it was made"))
    }

    /// Gives the lane back while its work is still under way; whoever needs the outcome in another lane
    /// [waits](Held::wait_for) for the event.
    pub(crate) fn leave(mut self) -> Result<CudaEvent> {
        let left = self.stream().record_event(None);
        let left = left.map_err(|error| self.device.failed(error))?;
        if let Some(lane) = self.lane.take() {
            self.device.lanes().give_back(lane);
        }
        Ok(left)
    }

    /// Has everything that follows in this lane wait for what another one has done.
    pub(crate) fn wait_for(&self, event: &CudaEvent) -> Result<()> {
        self.stream().wait(event).map_err(|error| self.device.failed(error))
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
        let function = self.device.function(kernel);
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
