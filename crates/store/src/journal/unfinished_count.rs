//! How many changes a journal has that are not finished, in a file elsewhere: if the journal is lost, this says what was lost.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::fields::Fields;

/// How often the file is written at most.
const EVERY: Duration = Duration::from_secs(1);

/// A journal that was not there when it was opened, though it had changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MissingJournal {
    /// So many changes may be lost.
    pub changes: u64,
    /// When there were so many.
    pub counted: SystemTime,
}

/// The file.
pub(super) struct UnfinishedCount {
    path: PathBuf,
    journal: [u8; 16],
    written: Option<(u64, Instant)>,
}

impl UnfinishedCount {
    /// The file of a journal with this id.
    pub(super) fn new(path: PathBuf, journal: [u8; 16]) -> Self {
        Self { path, journal, written: None }
    }

    /// What the file says of a journal that is not this one, or was not empty.
    pub(super) fn missing(&self, is_empty: bool) -> Option<MissingJournal> {
        let fields = Fields::parse(&fs::read(&self.path).ok()?)?;
        let number = |name| fields.text(name)?.parse::<u64>().ok();
        let is_ours = fields.bytes("journal") == Some(&self.journal[..]);
        let counted = UNIX_EPOCH.checked_add(Duration::from_secs(number("counted")?))?;
        let changes = number("changes").filter(|changes| *changes > 0)?;
        (is_empty || !is_ours).then_some(MissingJournal { changes, counted })
    }

    /// When to write the file next, if there are so many changes.
    pub(super) fn due(&self, changes: u64) -> Option<Instant> {
        match self.written {
            Some((before, _)) if before == changes => None,
            Some((_, at)) => Some(at + EVERY),
            None => Some(Instant::now()),
        }
    }

    /// Writes the file if that is due, or at once.
    pub(super) fn write(&mut self, changes: u64, at_once: bool) {
        let Some(due) = self.due(changes) else { return };
        if !at_once && due > Instant::now() {
            return;
        }
        self.written = Some((changes, Instant::now()));
        if let Err(error) = self.replace(changes) {
            tracing::warn!(path = %self.path.display(), %error, "cannot write the count of unfinished changes");
        }
    }

    fn replace(&self, changes: u64) -> io::Result<()> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let mut fields = Fields::default();
        fields.set("journal", &self.journal);
        fields.set("changes", changes.to_string().as_bytes());
        fields.set("counted", now.to_string().as_bytes());
        let mut new = self.path.clone().into_os_string();
        new.push(".new");
        fs::write(&new, fields.to_bytes())?;
        fs::rename(&new, &self.path)
    }
}

#[test]
fn a_journal_is_missed_if_it_had_changes_and_is_empty_or_another_one() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("count");
    let count = |id| UnfinishedCount::new(path.clone(), [id; 16]);
    assert_eq!(count(1).missing(true), None);
    count(1).write(7, false);
    assert_eq!(count(1).missing(false), None);
    assert_eq!(count(1).missing(true).map(|missing| missing.changes), Some(7));
    assert_eq!(count(2).missing(false).map(|missing| missing.changes), Some(7));
    count(1).write(0, false);
    assert_eq!(count(2).missing(true), None);
    fs::write(&path, "journal 12").expect("written");
    assert_eq!(count(2).missing(true), None);
}

#[test]
fn the_file_is_written_once_a_second() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("count");
    let mut count = UnfinishedCount::new(path.clone(), [1; 16]);
    count.write(1, false);
    let written = fs::read(&path).expect("the file");
    count.write(2, false);
    assert_eq!(fs::read(&path).expect("the file"), written);
    assert!(count.due(2) > Some(Instant::now()) && count.due(1).is_none());
    count.write(2, true);
    assert_ne!(fs::read(&path).expect("the file"), written);
}
