//! The durable index: which directory and name a node was last seen under, for where the kernel opens no handles.
//!
//! Recording is one insertion into a map; a thread writes what gathered there in batches. What a killed process did not write,
//! or others moved meanwhile, is found again by a scan, so the index may forget and must never be trusted: the opener of a
//! place compares what is there with the handle.

use std::collections::HashMap;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use howdah_vfs::Handle;
use parking_lot::{Condvar, Mutex};
use redb::{Database, DatabaseError, ReadableDatabase, ReadableTable, TableDefinition};

use super::super::open_error::OpenError;

/// The index, in the state directory.
const FILE: &str = "handles.redb";

/// From a node's handle to `length of the directory's handle, that handle, name`.
const PLACES: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("places");

/// What the index is about: under [`ROOT`] the handle of the export's root.
const ABOUT: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("about");
const ROOT: &str = "root";

/// Memory for pages of the index.
const PAGES: usize = 16 << 20;

/// How long changes gather before they are written: one sync of the disk for all of them.
const GATHER: Duration = Duration::from_millis(500);

/// So many changes are written at once, without gathering more.
const BATCH: usize = 8192;

/// So many changes wait at most, in about 60 MB. What comes then is left to the scan.
const MOST_WAITING: usize = 1 << 18;

type Changes = HashMap<Handle, Option<Place>>;

/// Where a node is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Place {
    pub(in super::super) directory: Handle,
    pub(in super::super) name: Box<[u8]>,
}

/// The index.
pub(in super::super) struct Index {
    shared: Arc<Shared>,
    writer: Option<JoinHandle<()>>,
}

struct Shared {
    database: Option<Database>,
    waiting: Mutex<Waiting>,
    wake: Condvar,
}

#[derive(Default)]
struct Waiting {
    changes: Changes,
    /// What the writer took and has not written yet.
    taken: Arc<Changes>,
    stop: bool,
}

impl Index {
    /// Opens the index of the tree with this root in the state directory; without one it lives as long as the
    /// process.
    pub(in super::super) fn open(state: Option<&Path>, root: &Handle) -> Result<Self, OpenError> {
        let database = match state.map(|state| open_database(&state.join(FILE), root)).transpose() {
            Err(error) if is_unwritable(error.cause()) => {
                tracing::warn!(%error, "the index of handles is not kept; files are searched for after a restart");
                None
            }
            opened => opened?,
        };
        let durable = database.is_some();
        let shared = Arc::new(Shared { database, waiting: Mutex::default(), wake: Condvar::new() });
        let writer = durable.then(|| {
            let shared = Arc::clone(&shared);
            std::thread::Builder::new().name("handle-index".to_owned()).spawn(move || shared.write_batches())
        });
        let writer = writer.transpose().map_err(|cause| {
            OpenError::new("starting the index of handles in", state.unwrap_or(Path::new("")), cause)
        })?;
        Ok(Self { shared, writer })
    }

    /// Notes where a node is.
    pub(in super::super) fn record(&self, node: &Handle, place: Place) {
        self.shared.change(*node, Some(place));
    }

    /// Notes that a node is gone.
    pub(in super::super) fn remove(&self, node: &Handle) {
        self.shared.change(*node, None);
    }

    /// Where the node was last seen.
    pub(in super::super) fn find(&self, node: &Handle) -> Option<Place> {
        let waiting = self.shared.waiting.lock();
        if let Some(change) = waiting.changes.get(node).or_else(|| waiting.taken.get(node)) {
            return change.clone();
        }
        drop(waiting);
        self.shared.read(node)
    }
}

impl Drop for Index {
    fn drop(&mut self) {
        self.shared.waiting.lock().stop = true;
        self.shared.wake.notify_all();
        if let Some(writer) = self.writer.take() {
            // It only fails if the thread panicked, which was reported when it happened.
            let _ = writer.join();
        }
    }
}

impl Shared {
    fn change(&self, node: Handle, place: Option<Place>) {
        let mut waiting = self.waiting.lock();
        if waiting.changes.len() >= MOST_WAITING {
            if self.database.is_some() {
                return;
            }
            // Nobody writes these: half of them make room.
            let mut keep = false;
            waiting.changes.retain(|_, _| {
                keep = !keep;
                keep
            });
        }
        waiting.changes.insert(node, place);
        if matches!(waiting.changes.len(), 1 | BATCH) {
            self.wake.notify_all();
        }
    }

    fn read(&self, node: &Handle) -> Option<Place> {
        let transaction = self.database.as_ref()?.begin_read().ok()?;
        let table = transaction.open_table(PLACES).ok()?;
        let value = table.get(node.as_bytes()).ok()??;
        decode(value.value())
    }

    fn write_batches(&self) {
        loop {
            let mut waiting = self.waiting.lock();
            while waiting.changes.is_empty() && !waiting.stop {
                self.wake.wait(&mut waiting);
            }
            if waiting.changes.is_empty() {
                return;
            }
            if waiting.changes.len() < BATCH && !waiting.stop {
                self.wake.wait_for(&mut waiting, GATHER);
            }
            let batch = Arc::new(std::mem::take(&mut waiting.changes));
            waiting.taken = Arc::clone(&batch);
            drop(waiting);
            if let Err(error) = self.write(&batch) {
                tracing::warn!(%error, "handles could not be written to the index; they will be searched for");
            }
            self.waiting.lock().taken = Arc::default();
        }
    }

    /// Writes what is not in the index already; says how much that was. A long listing comes to places that are known, and a look
    /// at them costs far less than writing them again.
    fn write(&self, batch: &Changes) -> Result<usize, redb::Error> {
        let Some(database) = &self.database else { return Ok(0) };
        let mut transaction = database.begin_write()?;
        // A killed process then opens the index at once, however large it is.
        transaction.set_quick_repair(true);
        let mut written = 0;
        {
            let mut table = transaction.open_table(PLACES)?;
            for (node, place) in batch {
                let (node, place) = (node.as_bytes(), place.as_ref().map(encode));
                if table.get(node)?.as_ref().map(|known| known.value()) == place.as_deref() {
                    continue;
                }
                match place {
                    Some(place) => drop(table.insert(node, &place[..])?),
                    None => drop(table.remove(node)?),
                }
                written += 1;
            }
        }
        if written == 0 {
            transaction.abort()?;
        } else {
            transaction.commit()?;
        }
        Ok(written)
    }
}

/// Opens the database. One that is broken, or about another tree, is replaced: all of it can be found again.
fn open_database(file: &Path, root: &Handle) -> Result<Database, OpenError> {
    let open = || {
        // Made here, for the server alone: the process may have no umask.
        let mut options = std::fs::OpenOptions::new();
        let made = options.write(true).create(true).truncate(false).mode(0o600).open(file);
        made.map_err(redb::StorageError::Io)?;
        redb::Builder::new().set_cache_size(PAGES).create(file)
    };
    let failed = |step| move |cause: redb::Error| OpenError::new(step, file, plain(cause));
    let opened = open();
    let is_stuck =
        matches!(&opened, Err(DatabaseError::Storage(redb::StorageError::Io(cause))) if is_unwritable(cause));
    let database = match opened {
        Err(DatabaseError::DatabaseAlreadyOpen) => {
            let cause = std::io::Error::other("it is in use; does another server use this state directory?");
            return Err(OpenError::new("opening the index of handles", file, cause));
        }
        Err(error) if !is_stuck && file.is_file() => {
            tracing::warn!(%error, file = %file.display(), "the index of handles is damaged and is rebuilt");
            std::fs::remove_file(file).map_err(|cause| OpenError::new("removing the broken", file, cause))?;
            open()
        }
        outcome => outcome,
    };
    let database = database.map_err(|cause| failed("opening the index of handles")(cause.into()))?;
    claim(&database, root).map_err(failed("preparing the index of handles"))?;
    Ok(database)
}

/// What the system said, if it was the system.
fn plain(error: redb::Error) -> std::io::Error {
    match error {
        redb::Error::Io(error) => error,
        error => std::io::Error::other(error),
    }
}

/// Whether nothing can be written, because the file system is full or read-only.
fn is_unwritable(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{QuotaExceeded, ReadOnlyFilesystem, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded | ReadOnlyFilesystem)
}

/// Makes the tables, empty if they were about another root.
fn claim(database: &Database, root: &Handle) -> Result<(), redb::Error> {
    let transaction = database.begin_write()?;
    {
        let mut about = transaction.open_table(ABOUT)?;
        let same = about.get(ROOT)?.is_some_and(|value| value.value() == root.as_bytes());
        if !same {
            transaction.delete_table(PLACES)?;
            about.insert(ROOT, root.as_bytes())?;
        }
        transaction.open_table(PLACES)?;
    }
    Ok(transaction.commit()?)
}

fn encode(place: &Place) -> Vec<u8> {
    let directory = place.directory.as_bytes();
    // A handle has at most 48 bytes.
    [&[directory.len() as u8], directory, &place.name].concat()
}

fn decode(value: &[u8]) -> Option<Place> {
    let (&length, rest) = value.split_first()?;
    let (directory, name) = rest.split_at_checked(usize::from(length))?;
    Some(Place { directory: Handle::new(directory).ok()?, name: name.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handle(byte: u8) -> Handle {
        Handle::new(&[byte; 18]).expect("short enough")
    }

    fn place(name: &str) -> Place {
        Place { directory: handle(9), name: name.as_bytes().into() }
    }

    #[test]
    fn what_was_recorded_is_found_before_and_after_a_restart() {
        let state = tempfile::tempdir().expect("a directory");
        let index = Index::open(Some(state.path()), &handle(0)).expect("opens");
        index.record(&handle(1), place("one"));
        index.record(&handle(2), place("two"));
        index.record(&handle(1), place("moved"));
        index.remove(&handle(2));
        assert_eq!(index.find(&handle(1)), Some(place("moved")));
        drop(index);
        let index = Index::open(Some(state.path()), &handle(0)).expect("opens");
        assert_eq!(index.find(&handle(1)), Some(place("moved")));
        assert_eq!(index.find(&handle(2)), None);
    }

    #[test]
    fn what_is_known_is_not_written_again() {
        let state = tempfile::tempdir().expect("a directory");
        let database = open_database(&state.path().join(FILE), &handle(0)).expect("opens");
        let index = Shared { database: Some(database), waiting: Mutex::default(), wake: Condvar::new() };
        let write = |changes: &[(u8, Option<Place>)]| {
            let batch = changes.iter().map(|(byte, place)| (handle(*byte), place.clone())).collect();
            index.write(&batch).expect("written")
        };
        let (one, two) = (Some(place("one")), Some(place("two")));
        assert_eq!(write(&[(1, one.clone()), (2, two.clone()), (3, None)]), 2);
        assert_eq!(write(&[(1, one.clone()), (2, two.clone()), (3, None)]), 0);
        assert_eq!(write(&[(1, two.clone()), (2, None)]), 2, "moved, and gone");
        assert_eq!([1, 2].map(|byte| index.read(&handle(byte))), [two, None]);
    }

    #[test]
    fn another_tree_or_a_broken_file_starts_anew() {
        let state = tempfile::tempdir().expect("a directory");
        let index = Index::open(Some(state.path()), &handle(0)).expect("opens");
        index.record(&handle(1), place("one"));
        drop(index);
        let index = Index::open(Some(state.path()), &handle(7)).expect("opens");
        assert_eq!(index.find(&handle(1)), None);
        drop(index);
        std::fs::write(state.path().join(FILE), b"not a database").expect("writes");
        Index::open(Some(state.path()), &handle(7)).expect("opens all the same");
    }

    #[test]
    fn one_state_directory_serves_one_process() {
        let state = tempfile::tempdir().expect("a directory");
        let _first = Index::open(Some(state.path()), &handle(0)).expect("opens");
        let error = Index::open(Some(state.path()), &handle(0)).err().expect("refused");
        assert!(error.to_string().contains("in use"), "{error}");
    }
}
