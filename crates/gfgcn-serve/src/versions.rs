//! Versions of a world: one writer makes them in the order of the journal, everybody reads the newest.
//!
//! A change is computed, written to the journal, published and acknowledged, in this order. What a reader holds stays as it is. Changes
//! that wait while another one is made are made together, as one version, where they only say labels.

use crate::change::Change;
use crate::explore::View;
use crate::journal::{Entry, Journal, Origin};
use crate::problem::Problem;
use crate::work::Abandoned;
use crate::world::World;
use gfgcn::Model;
use gfgcn::context::{Cancel, Context};
use gfgcn::model::Predictions;
use std::collections::VecDeque;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};
use std::thread::{self, JoinHandle};
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::sync::oneshot;

/// Changes that may wait.
const QUEUE: usize = 1024;
/// Versions that are kept as they are; older ones are made again when somebody goes back to one.
const KEPT: usize = 16;

/// One state of a world, with what its model says of every node.
#[derive(Debug)]
pub(crate) struct Version {
    pub(crate) number: u64,
    pub(crate) world: World,
    /// Of all nodes; none without a model.
    pub(crate) predictions: Option<Predictions>,
    /// What explorers compute of it once.
    pub(crate) view: OnceLock<Arc<View>>,
    pub(crate) keeping: OnceLock<Model>,
}

impl Version {
    fn new(number: u64, world: World, context: &Context) -> Result<Arc<Self>, Problem> {
        let predict = |model: &Model| model.predict(&world.dataset, context);
        let predictions = world.model.as_ref().map(predict).transpose()?;
        let (view, keeping) = (OnceLock::new(), OnceLock::new());
        Ok(Arc::new(Version { number, world, predictions, view, keeping }))
    }

    /// What the model says of every node, or why it says nothing.
    pub(crate) fn predictions(&self) -> Result<&Predictions, Problem> {
        self.world.model()?;
        self.predictions.as_ref().ok_or_else(Problem::internal)
    }

    /// The same under another number.
    fn renumbered(&self, number: u64) -> Arc<Self> {
        let (world, predictions) = (self.world.clone(), self.predictions.clone());
        let (view, keeping) = (self.view.clone(), self.keeping.clone());
        Arc::new(Version { number, world, predictions, view, keeping })
    }
}

/// What a list of versions says of one.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub(crate) struct Record {
    pub(crate) version: u64,
    /// Seconds since 1970.
    pub(crate) time: u64,
    pub(crate) changes: Vec<String>,
}

/// The newest version, the older ones, and whoever makes the next.
#[derive(Debug)]
pub(crate) struct Versions {
    current: RwLock<Arc<Version>>,
    records: RwLock<Vec<Record>>,
    jobs: Mutex<Option<SyncSender<Job>>>,
    cancel: Cancel,
    writer: Mutex<Option<JoinHandle<()>>>,
}

struct Job {
    change: Change,
    /// Raised when nobody waits for it any more.
    cancel: Cancel,
    reply: oneshot::Sender<Result<Arc<Version>, Problem>>,
}

/// What was found in a journal.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Recovered {
    pub(crate) changes: usize,
    pub(crate) torn: usize,
}

impl Versions {
    /// Begins with a world as version 1, and goes on where a journal ends, if there is one.
    pub(crate) fn start(
        world: World,
        journal: Option<(&Path, Origin)>,
        context: &Context,
    ) -> gfgcn::Result<(Arc<Self>, Recovered)> {
        let failed = |problem: Problem| match context.check() {
            Err(cancelled) => cancelled,
            Ok(()) => gfgcn::Error::Data(problem.message().to_owned()),
        };
        let base = Version::new(1, world, context).map_err(failed)?;
        let (journal, entries, torn) = match journal {
            Some((path, origin)) => {
                let (journal, entries, torn) = Journal::open(path, &origin)?;
                (Some(journal), entries, torn)
            }
            None => (None, Vec::new(), 0),
        };
        let changes = entries.len();
        let mut history = History { base: base.clone(), kept: VecDeque::new(), entries, journal };
        let last = history.entries.last().map_or(1, |entry| entry.version);
        let current = history.at(last, context).map_err(|problem| {
            let error = failed(problem);
            match journal_path(&history) {
                Some(path) => error.in_file(path),
                None => error,
            }
        })?;
        history.keep(&current);
        let now = seconds();
        let mut records = vec![Record { version: 1, time: now, changes: Vec::new() }];
        history.entries.iter().for_each(|entry| record(&mut records, entry));
        let (sender, receiver) = sync_channel(QUEUE);
        let versions = Arc::new(Versions {
            current: RwLock::new(current),
            records: RwLock::new(records),
            jobs: Mutex::new(Some(sender)),
            cancel: context.cancel().clone(),
            writer: Mutex::new(None),
        });
        let (own, context) = (versions.clone(), context.clone());
        let write = move || own.write(history, &receiver, &context);
        let writer = thread::Builder::new().name("writer".into()).spawn(write);
        let writer = writer
            .map_err(|source| gfgcn::Error::Threads { threads: 1, problem: source.to_string() })?;
        *lock(&versions.writer) = Some(writer);
        Ok((versions, Recovered { changes, torn }))
    }

    /// The newest version.
    pub(crate) fn current(&self) -> Arc<Version> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// All versions there were, the oldest first.
    pub(crate) fn records(&self) -> Vec<Record> {
        self.records.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Makes a change; the version that has it, once it is on disk.
    pub(crate) async fn change(&self, change: Change) -> Result<Arc<Version>, Problem> {
        let (reply, answer) = oneshot::channel();
        let abandoned = Abandoned(self.cancel.child());
        let cancel = abandoned.0.clone();
        let sent = match &*lock(&self.jobs) {
            Some(jobs) => jobs.try_send(Job { change, cancel, reply }),
            None => return Err(Problem::busy("the server is stopping")),
        };
        match sent {
            Ok(()) => answer.await.unwrap_or_else(|_| Err(Problem::internal())),
            Err(TrySendError::Full(_)) => {
                Err(Problem::busy("too many changes are waiting; try again"))
            }
            Err(TrySendError::Disconnected(_)) => Err(Problem::busy("the server is stopping")),
        }
    }

    /// Takes no more changes, and waits for those that were asked for.
    pub(crate) fn stop(&self) {
        lock(&self.jobs).take();
        let writer = lock(&self.writer).take();
        if let Some(writer) = writer {
            let _ = writer.join();
        }
    }

    fn write(&self, mut history: History, jobs: &Receiver<Job>, context: &Context) {
        while let Ok(first) = jobs.recv() {
            let mut waiting: VecDeque<Job> = [first].into_iter().chain(jobs.try_iter()).collect();
            while !waiting.is_empty() {
                // Who has gone wants nothing any more, and was promised nothing.
                waiting.retain(|job| !job.reply.is_closed());
                let together = waiting.iter().take_while(|job| job.change.only_labels().is_some());
                let count = together.count().max(1).min(waiting.len());
                let batch: Vec<Job> = waiting.drain(..count).collect();
                self.make(&mut history, batch, context);
            }
        }
    }

    /// Makes changes as one version, or one by one where that cannot be.
    fn make(&self, history: &mut History, batch: Vec<Job>, context: &Context) {
        if batch.is_empty() {
            return;
        }
        let changes: Vec<Change> = batch.iter().map(|job| job.change.clone()).collect();
        // What several wait for goes on when one of them has gone.
        let context = &match &batch[..] {
            [only] => context.clone().with_cancel(only.cancel.clone()),
            _ => context.clone(),
        };
        // A defect must not end the writer: whoever comes next is served as before.
        let publish = AssertUnwindSafe(|| self.publish(history, &changes, context));
        let published = panic::catch_unwind(publish).unwrap_or_else(|_| {
            tracing::error!("a change panicked");
            Err(Problem::internal())
        });
        match published {
            Ok(version) => {
                for job in batch {
                    let _ = job.reply.send(Ok(version.clone()));
                }
            }
            Err(_) if batch.len() > 1 => {
                batch.into_iter().for_each(|job| self.make(history, vec![job], context));
            }
            Err(problem) => {
                for job in batch {
                    let _ = job.reply.send(Err(problem.clone()));
                }
            }
        }
    }

    fn publish(
        &self,
        history: &mut History,
        changes: &[Change],
        context: &Context,
    ) -> Result<Arc<Version>, Problem> {
        let current = self.current();
        let number = current.number + 1;
        let next = match changes {
            [Change::Rollback { to }] if (1..=current.number).contains(to) => {
                history.at(*to, context)?.renumbered(number)
            }
            [Change::Rollback { to }] => {
                return Err(Problem::not_found(format!("there is no version {to}")));
            }
            changes => Version::new(number, current.world.after(changes, context)?, context)?,
        };
        let time = seconds();
        let entry = |change: &Change| Entry { version: number, time, change: change.clone() };
        let entries: Vec<Entry> = changes.iter().map(entry).collect();
        if let Some(journal) = &mut history.journal {
            journal.append(&entries).map_err(|error| {
                tracing::error!(%error, "the journal cannot be written");
                Problem::busy("the change could not be written to disk, so it was not made")
            })?;
        }
        {
            let mut records = self.records.write().unwrap_or_else(PoisonError::into_inner);
            entries.iter().for_each(|entry| record(&mut records, entry));
        }
        history.entries.extend(entries);
        history.keep(&next);
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = next.clone();
        Ok(next)
    }
}

/// What versions are made from.
struct History {
    /// Version 1.
    base: Arc<Version>,
    /// The newest.
    kept: VecDeque<Arc<Version>>,
    entries: Vec<Entry>,
    journal: Option<Journal>,
}

impl History {
    fn keep(&mut self, version: &Arc<Version>) {
        self.kept.push_back(version.clone());
        if self.kept.len() > KEPT {
            self.kept.pop_front();
        }
    }

    /// A version, made again if it is not kept.
    fn at(&self, number: u64, context: &Context) -> Result<Arc<Version>, Problem> {
        let mut pending: Vec<&[Entry]> = Vec::new();
        let mut wanted = number;
        let start = loop {
            if wanted == 1 {
                break &self.base;
            }
            if let Some(kept) = self.kept.iter().find(|kept| kept.number == wanted) {
                break kept;
            }
            let entries = self.of(wanted);
            match entries {
                [] => return Err(Problem::not_found(format!("there is no version {wanted}"))),
                [Entry { change: Change::Rollback { to }, .. }] if *to < wanted => wanted = *to,
                _ => {
                    pending.push(entries);
                    wanted -= 1;
                }
            }
        };
        let changes = pending.iter().rev().flat_map(|entries| entries.iter());
        let changes: Vec<Change> = changes.map(|entry| entry.change.clone()).collect();
        if changes.is_empty() {
            return Ok(start.renumbered(number));
        }
        Version::new(number, start.world.after(&changes, context)?, context)
    }

    /// The changes that led to a version.
    fn of(&self, version: u64) -> &[Entry] {
        let first = self.entries.partition_point(|entry| entry.version < version);
        let end = self.entries.partition_point(|entry| entry.version <= version);
        &self.entries[first..end]
    }
}

fn journal_path(history: &History) -> Option<&Path> {
    history.journal.as_ref().map(Journal::path)
}

fn record(records: &mut Vec<Record>, entry: &Entry) {
    let change = entry.change.summary();
    match records.last_mut().filter(|last| last.version == entry.version) {
        Some(last) => last.changes.push(change),
        None => {
            records.push(Record {
                version: entry.version,
                time: entry.time,
                changes: vec![change],
            });
        }
    }
}

fn seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
