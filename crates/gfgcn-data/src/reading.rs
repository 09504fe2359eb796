//! What a reader works under: it can be abandoned, and asks for memory before it takes it.
//!
//! A file that does not fit is no bad file: it is refused with the estimate, as any work is, and not by an
//! allocation that fails. What is counted here is an estimate of what is held at a time, rather too much than too
//! little; it is given back when everything is read.

use gfgcn::context::{Context, Lease};
use gfgcn::graph::build_memory;
use gfgcn::{Error, Result, files};
use std::cell::{Cell, RefCell};
use std::io::Read;
use std::path::Path;
use std::rc::Rc;

const WHAT: &str = "reading the data";
const REMEDY: &str = "use a smaller graph or fewer features, or a machine with more memory";

/// Arrays that grow are asked for in steps of so many bytes.
const STEP: u64 = 4 << 20;

/// A context that one dataset is read under; clones are the same.
#[derive(Clone)]
pub(crate) struct Reading(Rc<Inner>);

struct Inner {
    context: Context,
    lease: RefCell<Lease>,
    /// Bytes by which arrays have grown since they were last asked for.
    grown: Cell<u64>,
}

impl Reading {
    pub(crate) fn under(context: &Context) -> Result<Self> {
        context.check()?;
        let lease = context.memory().at_present().reserve(WHAT, 0, REMEDY)?;
        let lease = RefCell::new(lease);
        Ok(Reading(Rc::new(Inner { context: context.clone(), lease, grown: Cell::new(0) })))
    }

    /// Long work asks this between its steps.
    pub(crate) fn check(&self) -> Result<()> {
        self.0.context.check()
    }

    /// Asks for memory that is about to be taken, and whether the work is still wanted.
    pub(crate) fn hold(&self, bytes: u64) -> Result<()> {
        self.check()?;
        self.0.lease.borrow_mut().extend(WHAT, bytes, REMEDY)
    }

    /// Holds memory while a graph is made of compressed rows. They are copied as they are, as a rule; where they need
    /// repair and are large, the graph asks for what that takes by itself.
    pub(crate) fn building<T>(
        &self,
        entries: usize,
        nodes: usize,
        work: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        const SMALL: u64 = 64 << 20;
        let copy = 8 * entries as u64 + 16 * nodes as u64;
        self.holding(copy + build_memory(entries, nodes).min(SMALL), work)
    }

    /// The bytes of a regular file.
    pub(crate) fn read_file(&self, path: &Path) -> Result<Vec<u8>> {
        let mut file = files::open(path)?;
        let length = file.metadata().map_or(0, |file| file.len());
        let mut bytes = self.array(length as usize).map_err(|e| e.in_file(path))?;
        file.read_to_end(&mut bytes).map_err(|e| Error::Read(e).in_file(path))?;
        Ok(bytes)
    }

    /// An empty array with room for so many bytes, which are asked for.
    pub(crate) fn array(&self, bytes: usize) -> Result<Vec<u8>> {
        self.hold(bytes as u64)?;
        let mut array = Vec::new();
        match array.try_reserve_exact(bytes) {
            Ok(()) => Ok(array),
            // The system has less than it said, or not in one piece.
            Err(_) => {
                let (what, needed) = (WHAT.to_owned(), bytes as u64);
                Err(Error::Memory { what, needed, available: 0, remedy: REMEDY })
            }
        }
    }

    /// Gives back memory that is free again.
    pub(crate) fn release(&self, bytes: u64) {
        self.0.lease.borrow_mut().shrink(bytes);
    }

    /// Holds memory while some work is done.
    pub(crate) fn holding<T>(&self, bytes: u64, work: impl FnOnce() -> Result<T>) -> Result<T> {
        self.hold(bytes)?;
        let outcome = work();
        self.release(bytes);
        outcome
    }

    /// Something has grown by so many bytes. Asks for three times as much: arrays double, and for a moment the old
    /// one is there as well.
    pub(crate) fn grow(&self, bytes: usize) -> Result<()> {
        let grown = self.0.grown.get() + 3 * bytes as u64;
        if grown < STEP {
            self.0.grown.set(grown);
            return Ok(());
        }
        self.0.grown.set(0);
        self.hold(grown)
    }
}
