//! What goes wrong is said, and nothing is lost.

use super::gpu;
use gfgcn::context::{Context, Placement, Work};
use gfgcn::{Error, Result};
use gfgcn_cuda::{Cuda, devices};
use std::sync::Arc;

#[test]
fn a_number_that_is_not_there_is_named_with_those_that_are() {
    if gpu().is_none() {
        return;
    }
    let error = Cuda::open(99).unwrap_err().to_string();
    assert!(error.starts_with("cuda:99: it is not there") && error.contains("cuda:0"), "{error}");
}

#[test]
fn every_device_that_is_listed_can_be_opened() {
    if gpu().is_none() {
        return;
    }
    for found in devices().unwrap() {
        println!("{found:?}");
        assert!(found.memory.1 > 1 << 30 && found.memory.0 <= found.memory.1);
        assert_eq!(Cuda::open(found.number).is_ok(), found.unusable.is_none());
    }
}

/// A device that is lost in the middle: asked for, it is an error; chosen, the processor starts again.
#[test]
fn a_device_that_is_lost_is_replaced_where_it_was_not_asked_for() {
    let Some(gpu) = gpu() else { return };
    let lost = |context: &Context| -> Result<&str> {
        match context.device() {
            Some(device) => Err(Error::Device { device: device.name(), problem: "lost".into() }),
            None => Ok("the processor"),
        }
    };
    assert!(matches!(gpu.place(Work::default(), lost), Err(Error::Device { .. })));
    let open = || Ok(Arc::new(Cuda::open(0)?) as Arc<dyn gfgcn::device::Device>);
    let auto = Context::default().with_placement(Placement::where_it_pays(Box::new(open)));
    let large = Work { bytes: 1e12, operations: 0.0 };
    assert_eq!(auto.place(large, lost).unwrap(), "the processor");
    assert!(auto.placement().trouble().unwrap().contains("lost"));
}
