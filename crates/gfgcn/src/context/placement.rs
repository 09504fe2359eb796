//! On which device work runs, if on any.

use crate::device::Device;
use crate::error::{Error, Result};
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Bytes that the processor would have to move, and operations it would have to do, before starting a device pays: about a
/// second's work of a few cores. Sizes alone decide, so that the same command runs in the same place every time.
const WORTHWHILE: Work = Work { bytes: 20e9, operations: 2e11 };

/// How much there is to do, counted rather than measured.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Work {
    /// Bytes that filtering and scoring move.
    pub bytes: f64,
    /// Operations of the systems that are solved.
    pub operations: f64,
}

impl Work {
    /// Whether a device that has to be started first would be done earlier.
    pub fn is_worth_a_device(&self) -> bool {
        self.bytes / WORTHWHILE.bytes + self.operations / WORTHWHILE.operations >= 1.0
    }
}

/// Opens a device when it is first needed.
pub type OpenDevice = dyn Fn() -> Result<Arc<dyn Device>> + Send + Sync;

/// Where work runs: on the processor, on a device, or on a device where that pays.
///
/// A device that was asked for must be there, and its failures are errors. One that nobody asked for is opened when the first
/// work comes that is for it; where that fails, or the device fails later, the work is done by the processor, and
/// [`Placement::trouble`] says why.
#[derive(Clone, Default)]
pub struct Placement(Option<Arc<Shared>>);

struct Shared {
    open: Box<OpenDevice>,
    /// Used for whatever it can do, not only where that pays.
    always: bool,
    /// Asked for: the processor does not do its work.
    required: bool,
    opened: OnceLock<Option<Arc<dyn Device>>>,
    trouble: Mutex<Option<String>>,
}

impl Placement {
    /// Everything that a device can do runs there.
    pub fn on(device: Arc<dyn Device>) -> Self {
        let opened = OnceLock::from(Some(device.clone()));
        Placement::new(Box::new(move || Ok(device.clone())), opened, true, true)
    }

    /// Worthwhile work runs on a device, if it can be opened.
    pub fn where_it_pays(open: Box<OpenDevice>) -> Self {
        Placement::new(open, OnceLock::new(), false, false)
    }

    /// All work runs on a device that has the data already, if it can be opened.
    pub fn where_the_data_are(open: Box<OpenDevice>) -> Self {
        Placement::new(open, OnceLock::new(), true, false)
    }

    fn new(
        open: Box<OpenDevice>,
        opened: OnceLock<Option<Arc<dyn Device>>>,
        always: bool,
        required: bool,
    ) -> Self {
        let trouble = Mutex::default();
        Placement(Some(Arc::new(Shared { open, always, required, opened, trouble })))
    }

    /// Why a device was not used although the work was worth it, if that happened.
    pub fn trouble(&self) -> Option<String> {
        self.0.as_ref()?.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The device for so much work, opened if need be.
    pub fn device_for(&self, work: Work) -> Option<Arc<dyn Device>> {
        let shared = self.0.as_ref()?;
        if shared.trouble().is_some() || !(shared.always || work.is_worth_a_device()) {
            return None;
        }
        let open = || (shared.open)().map_err(|error| shared.note(&error)).ok();
        shared.opened.get_or_init(open).clone()
    }

    /// Whether the processor does what a device failed at.
    pub(super) fn falls_back(&self, error: &Error) -> bool {
        let falls_back = |shared: &Arc<Shared>| {
            let falls_back = !shared.required && matches!(error, Error::Device { .. });
            if falls_back {
                shared.note(error);
            }
            falls_back
        };
        self.0.as_ref().is_some_and(falls_back)
    }
}

impl Shared {
    fn trouble(&self) -> Option<String> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn note(&self, error: &Error) {
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = Some(error.to_string());
    }
}

impl fmt::Debug for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            None => f.write_str("Placement(processor)"),
            Some(shared) if shared.required => write!(f, "Placement({:?})", shared.opened.get()),
            Some(shared) if shared.always => f.write_str("Placement(where the data are)"),
            Some(_) => f.write_str("Placement(where it pays)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_work_opens_no_device_and_large_work_that_finds_none_goes_on() {
        let asked = Arc::new(Mutex::new(0));
        let count = asked.clone();
        let placement = Placement::where_it_pays(Box::new(move || {
            *count.lock().unwrap() += 1;
            Err(Error::Device { device: "cuda".into(), problem: "there is no driver".into() })
        }));
        assert!(placement.device_for(Work { bytes: 1e9, operations: 1e9 }).is_none());
        assert_eq!((*asked.lock().unwrap(), placement.trouble()), (0, None));
        for _ in 0..2 {
            assert!(placement.device_for(Work { bytes: 1e11, operations: 0.0 }).is_none());
        }
        assert_eq!(*asked.lock().unwrap(), 1);
        assert!(placement.trouble().unwrap().contains("there is no driver"));
    }

    #[test]
    fn the_processor_takes_over_only_where_a_device_was_not_asked_for() {
        let lost = Error::Device { device: "cuda:0".into(), problem: "it is gone".into() };
        let auto = Placement::where_it_pays(Box::new(|| unreachable!()));
        assert!(auto.falls_back(&lost) && auto.trouble().unwrap().contains("gone"));
        let near = Placement::where_the_data_are(Box::new(|| unreachable!()));
        assert!(near.falls_back(&lost));
        assert!(!Placement::default().falls_back(&lost));
        assert!(!auto.falls_back(&Error::Cancelled));
    }
}
