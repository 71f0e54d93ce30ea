//! The index on the disk: entries of files, and the data of small ones, in redb.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use redb::{Database, ReadableDatabase, ReadableTable, StorageBackend, TableDefinition};

use super::secret::NodeKey;
use super::storage::{IndexChange, SmallData};

/// From a file's key to its entry, and to its data if that is small.
const ENTRIES: TableDefinition<'_, &[u8; NodeKey::LENGTH], &[u8]> = TableDefinition::new("entries");
const SMALL: TableDefinition<'_, &[u8; NodeKey::LENGTH], &[u8]> = TableDefinition::new("small");
/// Memory for pages of the index.
const PAGES: usize = 16 << 20;

/// The index.
pub struct CacheDatabase {
    database: Database,
    file: Arc<File>,
}

/// A file that is never synced. What a power cut tears is found by its checksum, and the server has all of it.
#[derive(Debug)]
struct Unsynced(Arc<File>);

impl StorageBackend for Unsynced {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.read_exact_at(out, offset)
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        self.0.set_len(length)
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.0.write_all_at(data, offset)
    }
}

impl CacheDatabase {
    /// Opens the index in a file, or makes one.
    ///
    /// # Errors
    /// It is damaged, or cannot be read or written.
    pub fn open(path: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(false).mode(0o600).open(path)?;
        let file = Arc::new(file);
        let backend = Unsynced(Arc::clone(&file));
        guarded(|| {
            let database = redb::Builder::new().set_cache_size(PAGES).create_with_backend(backend)?;
            let transaction = database.begin_write()?;
            transaction.open_table(ENTRIES)?;
            transaction.open_table(SMALL)?;
            transaction.commit()?;
            Ok(Self { database, file })
        })
    }

    /// Gives each entry.
    pub fn entries(&self, sink: &mut dyn FnMut(NodeKey, &[u8])) -> io::Result<()> {
        guarded(|| {
            let table = self.database.begin_read()?.open_table(ENTRIES)?;
            for entry in table.iter()? {
                let (key, value) = entry?;
                sink(NodeKey::new(*key.value()), value.value());
            }
            Ok(())
        })
    }

    /// Changes entries, all of them or none.
    pub fn commit(&self, changes: &[IndexChange]) -> io::Result<()> {
        guarded(|| {
            let mut transaction = self.database.begin_write()?;
            // A killed process then opens the index at once, however large it is.
            transaction.set_quick_repair(true);
            {
                let mut entries = transaction.open_table(ENTRIES)?;
                let mut small = transaction.open_table(SMALL)?;
                for IndexChange { key, entry, small: data } in changes {
                    match entry {
                        Some(entry) => drop(entries.insert(key.as_bytes(), &entry[..])?),
                        None => drop(entries.remove(key.as_bytes())?),
                    }
                    match data {
                        SmallData::Kept => {}
                        SmallData::New(data) => drop(small.insert(key.as_bytes(), &data[..])?),
                        SmallData::Absent => drop(small.remove(key.as_bytes())?),
                    }
                }
            }
            Ok(transaction.commit()?)
        })
    }

    /// The data of a small file.
    pub fn small(&self, key: &NodeKey) -> io::Result<Vec<u8>> {
        guarded(|| {
            let table = self.database.begin_read()?.open_table(SMALL)?;
            Ok(table.get(key.as_bytes())?.map(|data| data.value().to_vec()))
        })?
        .ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Bytes that it takes on the disk.
    pub fn allocated(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.blocks() * 512)
    }
}

/// What redb says; where it panics over a damaged index, that is an error, too.
fn guarded<T>(run: impl FnOnce() -> Result<T, redb::Error>) -> io::Result<T> {
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(outcome) => outcome.map_err(|error| match error {
            redb::Error::Io(error) => error,
            error => io::Error::other(error),
        }),
        Err(_) => Err(io::Error::other("the index is damaged")),
    }
}
