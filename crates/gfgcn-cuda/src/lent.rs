//! Memory of the GPU that others have a part in: their arrays, which are read where they are, and results that are theirs
//! from now on.

use crate::Cuda;
use crate::arguments::{address, arguments};
use crate::device::Gpu;
use crate::rows::{CudaRows, Place};
use cudarc::driver::CudaSlice;
use gfgcn::Result;
use gfgcn::device::{ResidentArray, ResidentRows, Survey};
use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// Threads that look at an array together; each of them looks at many entries.
const THREADS: usize = 1 << 18;

/// Numbers in single precision on a GPU that belong to somebody else.
pub struct Lent {
    gpu: Arc<Gpu>,
    address: u64,
    len: usize,
    survey: Survey<f32>,
    /// Gives them back when it is dropped.
    _owner: Box<dyn Send + Sync>,
}

impl Lent {
    /// The numbers from an address on, for as long as their owner is held.
    ///
    /// # Safety
    /// There must be so many of them in the memory of this GPU, which stay as they are until the owner is dropped. What the
    /// default stream waits for is waited for here.
    ///
    /// # Errors
    /// If the GPU fails.
    pub unsafe fn new(
        gpu: &Cuda,
        address: u64,
        len: usize,
        owner: Box<dyn Send + Sync>,
    ) -> Result<Self> {
        let gpu = gpu.gpu().clone();
        gpu.wait_for_others()?;
        let survey = survey(&gpu, address, len)?;
        Ok(Lent { gpu, address, len, survey, _owner: owner })
    }

    /// The number of the GPU.
    pub fn device(&self) -> usize {
        self.gpu.number()
    }

    /// Where they are, if that is on a GPU.
    pub(crate) fn address_on(&self, gpu: &Gpu) -> Option<u64> {
        (self.gpu.number() == gpu.number()).then_some(self.address)
    }
}

/// Looks at every entry there, which costs less than sending them.
fn survey(gpu: &Arc<Gpu>, address: u64, len: usize) -> Result<Survey<f32>> {
    let lane = gpu.lane()?;
    let found = lane.upload(&[0, u64::MAX])?;
    lane.launch_each("survey", THREADS.min(len), arguments![address, len, &found])?;
    let found = lane.download(&found, 2)?;
    let nonzeros = found[0] as usize;
    let mut value = [0f32];
    let not_finite = match found[1] {
        u64::MAX => None,
        place => {
            lane.download_to(address + 4 * place, &mut value)?;
            Some((place as usize, value[0]))
        }
    };
    Ok(Survey { nonzeros, not_finite })
}

impl ResidentArray<f32> for Lent {
    fn len(&self) -> usize {
        self.len
    }

    fn survey(&self) -> Survey<f32> {
        self.survey
    }

    fn fetch(&self) -> Result<Vec<f32>> {
        let mut values = vec![0f32; self.len];
        self.gpu.lane()?.download_to(self.address, &mut values)?;
        Ok(values)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl fmt::Debug for Lent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Lent({} numbers on {})", self.len, self.gpu.name)
    }
}

/// Filtered rows on a GPU, for whoever goes on with them there; row-major, in single precision, and complete.
pub struct Given {
    gpu: Arc<Gpu>,
    memory: Arc<CudaSlice<f32>>,
    first: usize,
    rows: usize,
    cols: usize,
}

impl Given {
    /// What a device of this crate has filtered, if it is on the GPU: what is larger than that is in the machine's memory.
    pub fn of(rows: &dyn ResidentRows) -> Option<Self> {
        let own = rows.as_any().downcast_ref::<CudaRows>()?;
        let Place::OnGpu(memory, first) = &own.place else { return None };
        let (gpu, memory) = (own.device.clone(), memory.clone());
        Some(Given { gpu, memory, first: *first, rows: own.rows, cols: own.cols })
    }

    /// The number of the GPU.
    pub fn device(&self) -> usize {
        self.gpu.number()
    }

    /// Where the first entry is.
    pub fn address(&self) -> u64 {
        address(&self.memory) + 4 * self.first as u64
    }

    /// Rows and columns.
    pub fn shape(&self) -> (usize, usize) {
        (self.rows, self.cols)
    }
}

impl Drop for Given {
    /// Whoever had it may have work under way that reads it, in a queue that is not known here.
    fn drop(&mut self) {
        let _ = self.gpu.wait_for_all();
    }
}

impl fmt::Debug for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Given({} × {} on {})", self.rows, self.cols, self.gpu.name)
    }
}
