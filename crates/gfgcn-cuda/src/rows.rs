//! Filtered rows that stay on the GPU; in the machine's memory, where they are more than the GPU can hold.

use crate::arguments::address;
use crate::device::Gpu;
use cudarc::driver::CudaSlice;
use gfgcn::Result;
use gfgcn::device::ResidentRows;
use gfgcn::matrix::Matrix;
use std::any::Any;
use std::sync::Arc;

/// One filter's rows.
#[derive(Debug)]
pub(crate) struct CudaRows {
    pub(crate) device: Arc<Gpu>,
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    pub(crate) place: Place,
}

#[derive(Debug)]
pub(crate) enum Place {
    /// A part of what several filters share, from an entry on.
    OnGpu(Arc<CudaSlice<f32>>, usize),
    Here(Matrix<f32>),
}

impl ResidentRows for CudaRows {
    fn rows(&self) -> usize {
        self.rows
    }

    fn cols(&self) -> usize {
        self.cols
    }

    fn fetch(&self) -> Result<Matrix<f32>> {
        match &self.place {
            Place::Here(matrix) => Ok(matrix.clone()),
            Place::OnGpu(memory, first) => {
                let lane = self.device.lane()?;
                let mut values = vec![0f32; self.rows * self.cols];
                lane.download_to(address(memory) + 4 * *first as u64, &mut values)?;
                Matrix::from_rows(self.rows, self.cols, values)
            }
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
