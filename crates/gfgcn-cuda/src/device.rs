//! A GPU: opened once, with its kernels, its lanes and its memory.

use crate::lanes::{Held, Lane, Lanes};
use crate::library::{check_there, explained, failure, load};
use crate::pool;
use crate::session::CudaSession;
use crate::system::CudaSystem;
use cudarc::driver::{CudaContext, CudaFunction, result, sys};
use cudarc::nvrtc::Ptx;
use gfgcn::context::Context;
use gfgcn::device::{Device, Session, System, SystemInputs};
use gfgcn::matrix::Matrix;
use gfgcn::{Error, Result};
use std::collections::HashMap;
use std::fmt;
use std::process;
use std::sync::{Arc, Mutex, PoisonError};

/// With a say in what stays in the cache, and without.
const PROPAGATE: &str = include_str!("../kernels/propagate_80.ptx");
const PROPAGATE_PLAINLY: &str = include_str!("../kernels/propagate_70.ptx");
const RIDGE: &str = include_str!("../kernels/ridge_70.ptx");
const LEFT_OUT: &str = include_str!("../kernels/left_out_70.ptx");
const SURVEY: &str = include_str!("../kernels/survey_70.ptx");
/// Threads that use the GPU at the same time; others wait for one of them. More of them do not make it any faster, and each takes
/// some milliseconds to open its own cuBLAS.
const LANES: usize = 8;
/// Bytes of memory that are fetched at a time, at least.
const SECTOR: usize = 32;

/// An NVIDIA GPU.
#[derive(Clone, Debug)]
pub struct Cuda(Arc<Gpu>);

pub(crate) struct Gpu {
    pub(crate) name: String,
    context: Arc<CudaContext>,
    functions: HashMap<String, CudaFunction>,
    lanes: Lanes,
    /// Bytes that may be taken at most, whatever is free.
    limit: u64,
}

impl Cuda {
    /// The GPU of a number, as [`devices`](crate::devices) lists them.
    ///
    /// # Errors
    /// [`Error::Device`] with what is missing or wrong.
    pub fn open(number: usize) -> Result<Self> {
        Self::open_limited(number, u64::MAX)
    }

    /// As [`Cuda::open`], but opened once for the whole process: starting a GPU takes half a second.
    ///
    /// # Errors
    /// As [`Cuda::open`], and in a process that was forked from one that had opened it.
    pub fn shared(number: usize) -> Result<Self> {
        let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
        match opened.iter().find(|(_, gpu)| gpu.0.number() == number) {
            Some((by, gpu)) if *by == process::id() => Ok(gpu.clone()),
            Some(_) => Err(failure(
                &format!("cuda:{number}"),
                "a process that was forked from one that uses it cannot use it as well; start it with spawn".into(),
            )),
            None => {
                let gpu = Cuda::open(number)?;
                opened.push((process::id(), gpu.clone()));
                Ok(gpu)
            }
        }
    }

    /// As [`Cuda::open`], taking no more than so many bytes of its memory.
    ///
    /// # Errors
    /// As [`Cuda::open`].
    pub fn open_limited(number: usize, limit: u64) -> Result<Self> {
        load()?;
        let found = check_there(number)?;
        let name = format!("cuda:{number} ({})", found.name);
        let failed = |error: result::DriverError| failure(&name, explained(&error));
        let context = CudaContext::new(number).map_err(failed)?;
        // SAFETY: what threads share is complete before they see it, and outlives their work; see `Held::finish`.
        unsafe { context.disable_event_tracking() };
        pool::keep_freed_memory(&context).map_err(failed)?;
        // Rows come from all over the memory, and their ends are not those of lines. A hint, which old GPUs ignore.
        let _ = context.set_limit(sys::CUlimit::CU_LIMIT_MAX_L2_FETCH_GRANULARITY, SECTOR);
        let mut functions = HashMap::new();
        let propagate = if found.architecture >= (8, 0) { PROPAGATE } else { PROPAGATE_PLAINLY };
        for source in [propagate, RIDGE, LEFT_OUT, SURVEY] {
            let module = context.load_module(Ptx::from_src(source)).map_err(failed)?;
            for kernel in entries(source) {
                let function = module.load_function(kernel).map_err(failed)?;
                functions.insert(kernel.to_owned(), function);
            }
        }
        let lane = |_| Ok(Lane::new(context.new_stream().map_err(failed)?));
        let lanes = Lanes::new((0..LANES).map(lane).collect::<Result<Vec<Lane>>>()?);
        let gpu = Arc::new(Gpu { name, context, functions, lanes, limit });
        // A GPU without memory for cuBLAS says so now.
        gpu.lane()?.blas()?;
        Ok(Cuda(gpu))
    }

    pub(crate) fn gpu(&self) -> &Arc<Gpu> {
        &self.0
    }
}

/// GPUs that are open, each with the process that opened it.
static OPENED: Mutex<Vec<(u32, Cuda)>> = Mutex::new(Vec::new());

/// Gives back memory that the [shared](Cuda::shared) GPUs keep in stock for the next work, for others who use them.
pub fn release_memory() {
    let opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
    for (_, gpu) in opened.iter().filter(|(by, _)| *by == process::id()) {
        // Where it fails the GPU is lost, which the next work says.
        let _ = pool::release(&gpu.0.context);
    }
}

impl Gpu {
    /// A lane, as soon as one is free.
    pub(crate) fn lane(self: &Arc<Self>) -> Result<Held> {
        let held = Held::new(self.clone(), self.lanes.take());
        self.context.bind_to_thread().map_err(|error| self.failed(error))?;
        Ok(held)
    }

    pub(crate) fn lanes(&self) -> &Lanes {
        &self.lanes
    }

    pub(crate) fn context(&self) -> &Arc<CudaContext> {
        &self.context
    }

    pub(crate) fn number(&self) -> usize {
        self.context.ordinal()
    }

    /// A kernel of ours.
    pub(crate) fn function(&self, kernel: &str) -> &CudaFunction {
        &self.functions[kernel]
    }

    pub(crate) fn failed(&self, error: result::DriverError) -> Error {
        failure(&self.name, explained(&error))
    }

    /// Bytes that can be had.
    pub(crate) fn free(&self) -> Result<u64> {
        let (free, _) = self.context.mem_get_info().map_err(|error| self.failed(error))?;
        let stocked = pool::stocked(&self.context).map_err(|error| self.failed(error))?;
        Ok((free as u64 + stocked).min(self.limit))
    }

    /// Waits for the default stream, in which others say that their arrays are complete.
    pub(crate) fn wait_for_others(&self) -> Result<()> {
        let wait = || {
            self.context.bind_to_thread()?;
            self.context.default_stream().synchronize()
        };
        wait().map_err(|error| self.failed(error))
    }

    /// Waits for all work on the GPU that this process has started, also that of others.
    pub(crate) fn wait_for_all(&self) -> Result<()> {
        self.context.synchronize().map_err(|error| self.failed(error))
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

/// The names of the kernels in PTX.
fn entries(source: &str) -> impl Iterator<Item = &str> {
    let lines = source.lines().filter_map(|line| line.split(".entry ").nth(1));
    lines.map(|rest| rest.trim_end_matches('(').trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_of_the_ptx_has_a_name() {
        let plainly: Vec<&str> = entries(PROPAGATE_PLAINLY).collect();
        assert!(entries(PROPAGATE).eq(plainly));
        let names: Vec<&str> = entries(PROPAGATE).chain(entries(RIDGE)).collect();
        assert!(names.contains(&"product_f32") && names.contains(&"panel"), "{names:?}");
        assert!(names.iter().all(|name| name.chars().all(|c| c.is_alphanumeric() || c == '_')));
    }
}
