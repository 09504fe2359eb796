//! The memory that the driver keeps in stock for a GPU.

use cudarc::driver::{CudaContext, result, sys};
use std::sync::Arc;
use sys::CUmemPool_attribute as Attribute;

type Outcome<T = ()> = std::result::Result<T, result::DriverError>;

fn pool(context: &Arc<CudaContext>) -> Outcome<sys::CUmemoryPool> {
    let mut pool = std::ptr::null_mut();
    // SAFETY: writes one handle.
    unsafe { sys::cuDeviceGetDefaultMemPool(&mut pool, context.cu_device()) }.result()?;
    Ok(pool)
}

/// Memory that was freed stays with the program, so that taking it again costs nothing; a lane does not wait for memory of
/// another one.
pub(crate) fn keep_freed_memory(context: &Arc<CudaContext>) -> Outcome {
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
pub(crate) fn stocked(context: &Arc<CudaContext>) -> Outcome<u64> {
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

/// Gives what is in stock back, for other users of the GPU.
pub(crate) fn release(context: &Arc<CudaContext>) -> Outcome {
    context.bind_to_thread()?;
    // SAFETY: memory that is in use stays.
    unsafe { sys::cuMemPoolTrimTo(pool(context)?, 0) }.result()
}
