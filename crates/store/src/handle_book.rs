//! A durable [`HandleBook`]: handles that are too long for a protocol, by their numbers. Calls that come together are
//! written together.

use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use howdah_vfs::layer::{HandleBook, HandleNumber};
use howdah_vfs::{FsError, Handle};
use parking_lot::{Condvar, Mutex};
use redb::backends::FileBackend;
use redb::{Database, ReadableDatabase, TableDefinition};

use crate::local::OpenError;

/// The book, in the state directory.
const FILE: &str = "long-handles.redb";
/// From a number to the handle.
const HANDLES: TableDefinition<'_, &[u8; 16], &[u8]> = TableDefinition::new("handles");
/// Memory for pages of the book.
const PAGES: usize = 16 << 20;

/// Handles by number, in a file.
pub struct DurableHandleBook {
    database: Database,
    queue: Mutex<Queue>,
    written: Condvar,
}

/// What waits to be written: a thread that finds nobody writing writes for all.
#[derive(Default)]
struct Queue {
    gathering: Arc<Batch>,
    is_writing: bool,
}

/// Handles that are written together.
#[derive(Default)]
struct Batch {
    handles: Mutex<Vec<(HandleNumber, Handle)>>,
    outcome: OnceLock<Result<(), FsError>>,
}

impl DurableHandleBook {
    /// Opens the book in a state directory.
    ///
    /// # Errors
    /// It cannot be opened, or another process has it open.
    pub fn open(state: &Path) -> Result<Self, OpenError> {
        let path = state.join(FILE);
        let step = "opening the book of long handles";
        let failed = |cause: redb::Error| OpenError::new(step, &path, std::io::Error::other(cause));
        let mut options = std::fs::OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(false).mode(0o600).open(&path);
        let file = file.map_err(|cause| OpenError::new(step, &path, cause))?;
        let open = || {
            let backend = FileBackend::new(file)?;
            redb::Builder::new().set_cache_size(PAGES).create_with_backend(backend)
        };
        let database = open().map_err(|cause| failed(cause.into()))?;
        let prepare = || {
            let transaction = database.begin_write()?;
            transaction.open_table(HANDLES)?;
            transaction.commit().map_err(redb::Error::from)
        };
        prepare().map_err(failed)?;
        Ok(Self { database, queue: Mutex::default(), written: Condvar::new() })
    }

    fn write(&self, handles: &[(HandleNumber, Handle)]) -> Result<(), redb::Error> {
        let mut transaction = self.database.begin_write()?;
        transaction.set_quick_repair(true);
        {
            let mut table = transaction.open_table(HANDLES)?;
            for (number, handle) in handles {
                table.insert(number, handle.as_bytes())?;
            }
        }
        Ok(transaction.commit()?)
    }

    fn read(&self, number: &HandleNumber) -> Result<Option<Handle>, redb::Error> {
        let table = self.database.begin_read()?.open_table(HANDLES)?;
        Ok(table.get(number)?.and_then(|handle| Handle::new(handle.value()).ok()))
    }
}

impl HandleBook for DurableHandleBook {
    fn find(&self, number: &HandleNumber) -> Option<Handle> {
        self.read(number).unwrap_or_else(|error| {
            tracing::warn!(%error, "reading the book of long handles");
            None
        })
    }

    fn keep(&self, handles: &[(HandleNumber, Handle)]) -> Result<(), FsError> {
        let mut queue = self.queue.lock();
        let mine = Arc::clone(&queue.gathering);
        mine.handles.lock().extend_from_slice(handles);
        loop {
            if let Some(outcome) = mine.outcome.get() {
                return *outcome;
            }
            if queue.is_writing {
                self.written.wait(&mut queue);
                continue;
            }
            queue.is_writing = true;
            let batch = std::mem::take(&mut queue.gathering);
            drop(queue);
            let outcome = self.write(&batch.handles.lock()).map_err(|error| {
                tracing::error!(%error, "writing the book of long handles");
                FsError::Io
            });
            queue = self.queue.lock();
            let _ = batch.outcome.set(outcome);
            queue.is_writing = false;
            self.written.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_of_many_callers_are_there_after_a_restart() {
        let state = tempfile::tempdir().expect("a directory");
        let book = DurableHandleBook::open(state.path()).expect("opens");
        let handle = |byte: u8| Handle::new(&[byte; 64]).expect("as long as they are");
        std::thread::scope(|scope| {
            for byte in 0..16 {
                let book = &book;
                scope.spawn(move || {
                    let both = [([byte; 16], handle(byte)), ([byte + 100; 16], handle(byte + 100))];
                    book.keep(&both).expect("kept");
                    assert_eq!(book.find(&[byte + 100; 16]), Some(handle(byte + 100)));
                });
            }
        });
        drop(book);
        let book = DurableHandleBook::open(state.path()).expect("opens");
        for byte in (0..16).chain(100..116) {
            assert_eq!(book.find(&[byte; 16]), Some(handle(byte)));
        }
        assert_eq!(book.find(&[99; 16]), None);
    }

    #[test]
    fn one_state_directory_serves_one_process() {
        let state = tempfile::tempdir().expect("a directory");
        let _first = DurableHandleBook::open(state.path()).expect("opens");
        assert!(DurableHandleBook::open(state.path()).is_err());
    }
}
