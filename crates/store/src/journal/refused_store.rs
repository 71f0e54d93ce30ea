//! Changes that a server refused, kept until somebody saves, retries or drops them: for each a small file that says what it was, and its
//! content as a plain file. No name of a file here is made from what a user wrote.

use std::ffi::OsStr;
use std::fs::OpenOptions;
use std::io::{self, IoSlice, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;

use super::disk::JournalDisk;
use super::error::JournalError;
use super::fields::Fields;
use super::segments::REFUSED;

/// What the names of its files end with: what was refused, the same while it is written, and its content.
const ENTRY: &str = ".entry";
const NEW: &str = ".new";
const CONTENT: &str = ".content";
/// The longest name of a file that is saved, so that a number fits behind it.
const NAME_MAX: usize = 240;
/// So many files of one name are saved next to each other.
const COPIES_MAX: u32 = 10_000;

/// What was to be done, and why it was not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RefusedChange {
    /// What was to be done, in a word.
    pub kind: String,
    /// Where.
    pub path: Vec<u8>,
    /// Who wanted it.
    pub caller: String,
    /// Why the server refused it.
    pub reason: String,
    /// When, in seconds since 1970.
    pub time: u64,
    /// What is needed to try it again, in the caller's form.
    pub details: Vec<u8>,
}

/// A change in the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedEntry {
    /// Its number, which no other entry gets while this one is there.
    pub id: u64,
    /// The change. `None`: its file is damaged, but there may be content.
    pub change: Option<RefusedChange>,
    /// Bytes of its content, if it has any.
    pub content: Option<u64>,
}

/// The store, in `refused/` of a disk.
pub struct RefusedStore {
    disk: Arc<dyn JournalDisk>,
    last: Mutex<u64>,
}

fn name(id: u64, suffix: &str) -> String {
    format!("{REFUSED}{id:010}{suffix}")
}

/// The number and the suffix of a file of the store.
fn parts(name: &str) -> Option<(u64, &str)> {
    let (number, _) = name.strip_prefix(REFUSED)?.split_once('.')?;
    let (id, suffix) = (number.parse().ok()?, &name[REFUSED.len() + number.len()..]);
    [ENTRY, NEW, CONTENT].contains(&suffix).then_some((id, suffix))
}

impl RefusedChange {
    fn fields(&self) -> Fields {
        let mut fields = Fields::default();
        let text = [("kind", &self.kind), ("caller", &self.caller), ("reason", &self.reason)];
        text.into_iter().for_each(|(name, value)| fields.set(name, value.as_bytes()));
        fields.set("path", &self.path);
        fields.set("time", self.time.to_string().as_bytes());
        fields.set("details", &self.details);
        fields
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let fields = Fields::parse(bytes)?;
        let text = |name| fields.text(name).map(str::to_owned);
        Some(Self {
            kind: text("kind")?,
            path: fields.bytes("path")?.to_vec(),
            caller: text("caller")?,
            reason: text("reason")?,
            time: fields.text("time")?.parse().ok()?,
            details: fields.bytes("details")?.to_vec(),
        })
    }
}

impl RefusedStore {
    /// The store of a disk.
    ///
    /// # Errors
    /// The disk fails.
    pub fn new(disk: Arc<dyn JournalDisk>) -> Result<Self, JournalError> {
        let store = Self { disk, last: Mutex::new(0) };
        let last = store.names()?.iter().filter_map(|name| parts(name)).map(|(id, _)| id).max();
        *store.last.lock() = last.unwrap_or(0);
        Ok(store)
    }

    /// Keeps a change, durably. Gives its number.
    ///
    /// # Errors
    /// The disk is full or fails: nothing of it is kept.
    pub fn put(&self, change: &RefusedChange, content: Option<&[u8]>) -> Result<u64, JournalError> {
        let mut last = self.last.lock();
        let id = *last + 1;
        let (entry, new, data) = (name(id, ENTRY), name(id, NEW), name(id, CONTENT));
        let write = |name: &str, bytes: &[u8]| {
            let file = self.disk.create(name, bytes.len() as u64)?;
            file.write_at(0, &mut [IoSlice::new(bytes)])?;
            file.sync()
        };
        let put = || {
            content.map_or(Ok(()), |content| write(&data, content))?;
            write(&new, &change.fields().to_bytes())?;
            // On any file system: an entry is not there before its content is.
            self.disk.sync_names()?;
            self.disk.rename(&new, &entry)?;
            self.disk.sync_names()
        };
        let outcome =
            put().map_err(JournalError::disk("keeping a refused change in", &self.disk.path(REFUSED)));
        match outcome {
            Ok(()) => *last = id,
            Err(_) => [entry, new, data].iter().for_each(|name| drop(self.disk.remove(name))),
        }
        outcome.map(|()| id)
    }

    /// All entries, oldest first.
    ///
    /// # Errors
    /// The disk fails.
    pub fn list(&self) -> Result<Vec<RefusedEntry>, JournalError> {
        let names = self.names()?;
        let mut ids: Vec<u64> = names
            .iter()
            .filter_map(|name| parts(name))
            .filter(|(_, suffix)| *suffix == ENTRY)
            .map(|(id, _)| id)
            .collect();
        ids.sort_unstable();
        ids.into_iter().map(|id| self.entry(id)).collect()
    }

    /// An entry.
    ///
    /// # Errors
    /// There is none, or the disk fails.
    pub fn entry(&self, id: u64) -> Result<RefusedEntry, JournalError> {
        let change = RefusedChange::parse(&self.read(&name(id, ENTRY))?);
        let content = self.disk.open(&name(id, CONTENT)).and_then(|file| file.length());
        let content = match content {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            length => {
                Some(length.map_err(JournalError::disk("reading", &self.disk.path(&name(id, CONTENT))))?)
            }
        };
        Ok(RefusedEntry { id, change, content })
    }

    /// The content of an entry that has any.
    ///
    /// # Errors
    /// It has none, or the disk fails.
    pub fn content(&self, id: u64) -> Result<Vec<u8>, JournalError> {
        self.read(&name(id, CONTENT))
    }

    /// Copies the content of an entry into a directory, under the last name of its path and over nothing. Gives the file.
    ///
    /// # Errors
    /// It has no content, or it cannot be read or written.
    pub fn save(&self, id: u64, directory: &Path) -> Result<PathBuf, JournalError> {
        let content = self.content(id)?;
        let path = self.entry(id)?.change.map(|change| change.path).unwrap_or_default();
        let start = file_name(&path, id);
        for copy in 0..COPIES_MAX {
            let mut name = start.clone();
            if copy > 0 {
                name.extend_from_slice(format!(".{copy}").as_bytes());
            }
            let to = directory.join(OsStr::from_bytes(&name));
            let mut file = match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&to) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                file => file.map_err(JournalError::disk("making", &to))?,
            };
            let written = file.write_all(&content).and_then(|()| file.sync_all());
            let written = written.inspect_err(|_| drop(std::fs::remove_file(&to)));
            return written.map(|()| to.clone()).map_err(JournalError::disk("writing", &to));
        }
        let path = directory.join(OsStr::from_bytes(&start));
        Err(JournalError::disk("making", &path)(io::ErrorKind::AlreadyExists.into()))
    }

    /// Removes an entry and its content.
    ///
    /// # Errors
    /// There is none, or the disk fails.
    pub fn remove(&self, id: u64) -> Result<(), JournalError> {
        let content = name(id, CONTENT);
        let has_content = self.names()?.contains(&content);
        let remove = || {
            // Content alone is no entry: whatever happens in between, it does not come back.
            self.disk.remove(&name(id, ENTRY))?;
            self.disk.sync_names()?;
            if has_content { self.disk.remove(&content) } else { Ok(()) }
        };
        remove().map_err(JournalError::disk("removing", &self.disk.path(&name(id, ENTRY))))
    }

    fn names(&self) -> Result<Vec<String>, JournalError> {
        self.disk.list().map_err(JournalError::disk("listing", &self.disk.path(REFUSED)))
    }

    fn read(&self, name: &str) -> Result<Vec<u8>, JournalError> {
        let bytes = self.disk.open(name).and_then(|file| file.read());
        bytes.map_err(JournalError::disk("reading", &self.disk.path(name)))
    }
}

/// A name in a directory for what had this path: one part, which is neither the directory nor the one above.
fn file_name(path: &[u8], id: u64) -> Vec<u8> {
    let last = path.rsplit(|byte| *byte == b'/').find(|part| !part.is_empty()).unwrap_or_default();
    match last {
        b"" | b"." | b".." => format!("refused-{id}").into_bytes(),
        _ if last.contains(&0) => format!("refused-{id}").into_bytes(),
        _ => last[..last.len().min(NAME_MAX)].to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use rustix::io::Errno;

    use super::super::DirectoryDisk;
    use super::super::simulated_disk::SimulatedDisk;
    use super::*;

    fn change(path: &[u8]) -> RefusedChange {
        let text = |text: &str| text.to_owned();
        let (kind, caller, reason) = (text("create"), text("1000"), text("disk quota exceeded\n"));
        RefusedChange {
            kind,
            path: path.to_vec(),
            caller,
            reason,
            time: 1_800_000_000,
            details: vec![0, 255, 7],
        }
    }

    #[test]
    fn what_is_put_is_listed_saved_and_removed_also_by_another_process() {
        let directory = tempfile::tempdir().expect("a directory");
        let disk = Arc::new(DirectoryDisk::open(directory.path()).expect("opens"));
        let store = RefusedStore::new(disk).expect("a store");
        let first = store.put(&change(b"/a/b"), Some(b"content")).expect("kept");
        let second = store.put(&change(b"/a/c\xff"), None).expect("kept");
        let disk = Arc::new(DirectoryDisk::look(directory.path()).expect("opens"));
        let store = RefusedStore::new(disk).expect("a store");
        let entry = |id, path: &[u8], content| RefusedEntry { id, change: Some(change(path)), content };
        let both = [entry(first, b"/a/b", Some(7)), entry(second, b"/a/c\xff", None)];
        assert_eq!(store.list().expect("a list"), both);
        let saved = store.save(first, directory.path()).expect("saved");
        assert_eq!(saved, directory.path().join("b"));
        assert_eq!(std::fs::read(&saved).expect("a file"), b"content");
        assert_eq!(store.save(first, directory.path()).expect("saved"), directory.path().join("b.1"));
        assert!(store.save(second, directory.path()).is_err());
        store.remove(first).expect("removed");
        assert!(store.remove(first).is_err());
        assert_eq!(store.list().expect("a list"), both[1..]);
        assert_eq!(store.put(&change(b"/"), None).expect("kept"), second + 1);
    }

    #[test]
    fn hostile_names_never_leave_the_directory() {
        let directory = tempfile::tempdir().expect("a directory");
        let inside = directory.path().join("inside");
        let store = RefusedStore::new(Arc::new(SimulatedDisk::new(1))).expect("a store");
        std::fs::create_dir(&inside).expect("a directory");
        std::os::unix::fs::symlink(directory.path().join("outside"), inside.join("link")).expect("a link");
        let long = [b'x'; 5000];
        let paths: [&[u8]; 10] =
            [b"..", b"/a/../..", b".", b"", b"/", b"//", b"a\0b", b"../link", b"/etc/passwd", &long];
        for path in paths {
            let id = store.put(&change(path), Some(path)).expect("kept");
            let saved = store.save(id, &inside).expect("saved");
            assert_eq!(saved.parent(), Some(&*inside), "{path:?}");
            assert_eq!(std::fs::read(&saved).expect("a file"), path);
        }
        assert_eq!(std::fs::read_dir(&inside).expect("a directory").count(), paths.len() + 1);
        assert_eq!(std::fs::read_dir(directory.path()).expect("a directory").count(), 1);
    }

    #[test]
    fn a_full_disk_keeps_nothing_of_an_entry() {
        let disk = SimulatedDisk::new(1);
        let store = RefusedStore::new(Arc::new(disk.clone())).expect("a store");
        let first = store.put(&change(b"/a"), Some(&[1; 1000])).expect("kept");
        let used = disk.used();
        for free in [0, 999, 1000, 1100] {
            disk.set_size(used + free);
            assert!(
                matches!(store.put(&change(b"/b"), Some(&[2; 1000])), Err(JournalError::NoSpace)),
                "{free}"
            );
            assert_eq!(disk.used(), used);
        }
        disk.set_size(u64::MAX);
        disk.fail_write(Errno::NOSPC);
        assert!(matches!(store.put(&change(b"/b"), Some(&[2; 1000])), Err(JournalError::NoSpace)));
        let second = store.put(&change(b"/b"), Some(&[2; 1000])).expect("kept");
        assert_eq!(store.content(first).expect("content"), [1; 1000]);
        assert_eq!(store.content(second).expect("content"), [2; 1000]);
    }

    #[test]
    fn an_entry_is_there_whole_or_not_at_all_after_a_crash() {
        for seed in 0..200 {
            for changes in 0..9 {
                let disk = SimulatedDisk::new(seed);
                let store = RefusedStore::new(Arc::new(disk.clone())).expect("a store");
                store.put(&change(b"/first"), Some(&[1; 2000])).expect("kept");
                disk.stop_after(changes);
                let is_kept = store.put(&change(b"/a"), Some(&[2; 2000])).is_ok();
                let store = RefusedStore::new(Arc::new(disk.after_power_cut())).expect("a store");
                let list = store.list().expect("a list");
                assert!(
                    list.len() == 2 || !is_kept && list.len() == 1,
                    "seed {seed}, {changes} changes: {list:?}"
                );
                for (entry, byte) in list.iter().zip([1, 2]) {
                    assert!(entry.change.is_some(), "seed {seed}, {changes} changes");
                    assert_eq!(store.content(entry.id).expect("content"), [byte; 2000], "seed {seed}");
                }
                store.put(&change(b"/again"), Some(b"x")).expect("kept");
            }
        }
    }

    #[test]
    fn a_damaged_entry_is_listed_and_its_content_can_be_saved() {
        let disk = SimulatedDisk::new(1);
        let store = RefusedStore::new(Arc::new(disk.clone())).expect("a store");
        let id = store.put(&change(b"/a"), Some(b"content")).expect("kept");
        assert!(disk.flip(&name(id, ENTRY), 3, 1));
        assert_eq!(store.list().expect("a list"), [RefusedEntry { id, change: None, content: Some(7) }]);
        let directory = tempfile::tempdir().expect("a directory");
        let saved = store.save(id, directory.path()).expect("saved");
        assert_eq!(saved, directory.path().join(format!("refused-{id}")));
    }
}
