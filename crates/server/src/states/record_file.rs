//! The file with the records of clients that must survive a restart. One line a record; a line that was cut off by a crash was
//! never answered for, and is left out.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::locks::Mutex;
use howdah_state::{DurableRecord, Principal, RecoveryRecords, Serial};
use rustix::fs::{FallocateFlags, OFlags, fallocate};

use super::own_rights::OwnRights;
use super::private_files::private_file;
use super::record_line::{line, parse};
use super::record_log::RecordLog;

const NAME: &str = "clients.log";
const NEW_NAME: &str = "clients.log.new";
const DAMAGED_NAME: &str = "clients.log.damaged";

/// The file is written anew when so many bytes were appended: clients that come and go leave two lines each.
const REWRITE_AFTER: usize = 1 << 20;

/// Room behind the end of the file that it has for itself: on a disk that is full some hundred clients can still come and go.
const RESERVE: usize = 64 << 10;

/// After a rewrite failed, calls try no other for so long: each takes all records.
const AGAIN: Duration = Duration::from_secs(1);

/// So many records are kept for a file that cannot be written before those of clients that came and went are left out.
const RECENT: usize = 1 << 10;

/// The file, open to be appended to.
pub struct RecordFile {
    directory: PathBuf,
    rights: OwnRights,
    state: Mutex<State>,
    /// Taken by the thread that makes records durable: others that wait meanwhile find theirs durable then.
    syncing: Mutex<Durable>,
}

/// What is durable.
struct Durable {
    /// Up to this record.
    serial: Serial,
    /// What the file comes to up to there.
    records: RecoveryRecords,
}

struct State {
    /// None before the first one could be opened.
    file: Option<Arc<File>>,
    /// What the file comes to.
    records: RecoveryRecords,
    /// Bytes appended since it was written anew, and bytes that it had then.
    appended: usize,
    compact: usize,
    /// The last record that is written, durable or not.
    written: Serial,
    /// Records that are not known to be durable.
    recent: Vec<(Serial, DurableRecord)>,
    /// How many of them there were when those of clients that came and went were left out.
    recent_kept: usize,
    /// The last error. The file may end in half a line, so the whole file is written again.
    failure: Option<io::ErrorKind>,
    /// When a rewrite failed, and why.
    failed: Option<(Instant, io::ErrorKind)>,
}

impl RecordFile {
    /// Reads what earlier runs left in this directory, and starts a file that comes to the same.
    ///
    /// A damaged one is set aside: nobody reclaims, since the damaged line may say who lost what it had.
    ///
    /// # Errors
    /// It cannot be read, or is damaged and cannot be set aside.
    pub fn open(directory: &Path, rights: OwnRights) -> io::Result<(Self, RecoveryRecords)> {
        let records = match read_records(directory) {
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                fs::rename(directory.join(NAME), directory.join(DAMAGED_NAME)).map_err(|_| error)?;
                let file = directory.join(DAMAGED_NAME);
                tracing::error!(
                    file = %file.display(),
                    "the record of clients is damaged and was set aside: clients of the last run lose their opens and locks"
                );
                RecoveryRecords::default()
            }
            records => records?,
        };
        Ok((Self::begin(directory, &records, rights)?, records))
    }

    /// Starts a file that comes to these records, in the place of the one that is there. If that cannot be done, on a disk that
    /// is full, lines are appended to the one that is there; if not even that, [`RecordLog::look`] says why, and tries again.
    ///
    /// # Errors
    /// The one that is there cannot be read.
    pub fn begin(directory: &Path, records: &RecoveryRecords, rights: OwnRights) -> io::Result<Self> {
        let mut durable = records.clone();
        let (file, compact, failure) = match write(directory, records) {
            Ok((file, compact)) => (Some(file), compact, None),
            Err(error) => {
                durable = read_records(directory)?;
                match (durable == *records).then(|| open_end(directory)) {
                    Some(Ok((file, length))) => (Some(file), length, None),
                    _ => (None, 0, Some(error.kind())),
                }
            }
        };
        let state = State {
            file: file.map(Arc::new),
            records: records.clone(),
            appended: 0,
            compact,
            written: Serial(0),
            recent: Vec::new(),
            recent_kept: 0,
            failure,
            failed: None,
        };
        let durable = Durable { serial: Serial(0), records: durable };
        let (directory, state) = (directory.to_owned(), Mutex::new(state));
        Ok(Self { directory, rights, state, syncing: Mutex::new(durable) })
    }
}

/// What runs of a server left in this directory.
///
/// # Errors
/// It cannot be read, or is no such file.
pub fn read_records(directory: &Path) -> io::Result<RecoveryRecords> {
    match fs::read_to_string(directory.join(NAME)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(RecoveryRecords::default()),
        text => read(&text?),
    }
}

/// Writes a file that comes to these records in the place of the one that is there. Its length in bytes.
fn write(directory: &Path, records: &RecoveryRecords) -> io::Result<(File, usize)> {
    let new = directory.join(NEW_NAME);
    let mut file = private_file(&new)?;
    let lines: String = records.compact().iter().map(line).collect();
    file.write_all(lines.as_bytes())?;
    reserve(&file, lines.len());
    file.sync_all()?;
    fs::rename(&new, directory.join(NAME))?;
    File::open(directory)?.sync_all()?;
    Ok((file, lines.len()))
}

/// The file that is there, to append to, without a line that was cut off. Its length in bytes.
fn open_end(directory: &Path) -> io::Result<(File, usize)> {
    let path = directory.join(NAME);
    let no_link = OFlags::NOFOLLOW.bits().cast_signed();
    let file = OpenOptions::new().append(true).custom_flags(no_link).open(&path)?;
    let text = fs::read_to_string(path)?;
    let length = whole_lines(&text).len();
    // It takes the room behind the end away.
    if length < text.len() {
        file.set_len(length as u64)?;
        reserve(&file, length);
    }
    Ok((file, length))
}

/// Takes room behind the end of the file. Without it all goes on until the disk is full.
fn reserve(file: &File, end: usize) {
    let _ = fallocate(file, FallocateFlags::KEEP_SIZE, end as u64, RESERVE as u64);
}

/// The lines that are not cut off.
fn whole_lines(text: &str) -> &str {
    text.rfind('\n').map_or("", |end| &text[..=end])
}

impl State {
    fn append(&mut self, directory: &Path, rights: OwnRights, record: &DurableRecord) -> io::Result<()> {
        self.records.apply(record);
        let Some(file) = self.file.clone().filter(|_| self.failure.is_none()) else {
            return self.write_anew(directory, rights);
        };
        if self.appended >= REWRITE_AFTER.max(self.compact) {
            if self.write_anew(directory, rights).is_ok() {
                return Ok(());
            }
            // The one that is there goes on for as long again.
            self.compact += std::mem::take(&mut self.appended);
        }
        let line = line(record);
        (&*file).write_all(line.as_bytes())?;
        let before = self.appended;
        self.appended += line.len();
        if before / (RESERVE / 2) != self.appended / (RESERVE / 2) {
            reserve(&file, self.compact + self.appended);
        }
        Ok(())
    }

    /// Writes all records into a new file, durably. If that failed a moment ago, it fails again without a try.
    fn write_anew(&mut self, directory: &Path, rights: OwnRights) -> io::Result<()> {
        if let Some((_, kind)) = self.failed.filter(|(at, _)| at.elapsed() < AGAIN) {
            return Err(kind.into());
        }
        let written = rights.run(|| write(directory, &self.records));
        self.failed = written.as_ref().err().map(|error| (Instant::now(), error.kind()));
        let (file, compact) = written?;
        (self.file, self.compact, self.appended, self.failure) = (Some(Arc::new(file)), compact, 0, None);
        Ok(())
    }

    /// Leaves out the recent records of clients that came and went by themselves, if there are many: of them the file knows nothing, and
    /// nothing rests on them. Clients that come and go on a full disk take no memory.
    fn leave_out_gone(&mut self, durable: &RecoveryRecords) {
        if self.recent.len() < RECENT + 2 * self.recent_kept {
            return;
        }
        let mut ends = HashMap::new();
        for (serial, record) in &self.recent {
            if let Some((name, true)) = named(record)
                && !durable.knows(record)
            {
                ends.insert(name, *serial);
            }
        }
        let stays = |(serial, record): &(Serial, DurableRecord)| {
            named(record).and_then(|(name, _)| ends.get(&name)).is_none_or(|end| serial > end)
        };
        let stays: Vec<bool> = self.recent.iter().map(stays).collect();
        let mut stays = stays.into_iter();
        self.recent.retain(|_| stays.next().unwrap_or(true));
        self.recent_kept = self.recent.len();
    }
}

/// A client with its principal, or a host.
type Named<'r> = (&'r [u8], Option<&'r Principal>);

/// The client that a record adds or removes, and whether it removes.
fn named(record: &DurableRecord) -> Option<(Named<'_>, bool)> {
    match record {
        DurableRecord::AddClient { owner, principal, .. } => Some(((owner, Some(principal)), false)),
        DurableRecord::RemoveClient { owner, principal, .. } => Some(((owner, Some(principal)), true)),
        DurableRecord::AddHost { host } => Some(((host, None), false)),
        DurableRecord::RemoveHost { host } => Some(((host, None), true)),
        _ => None,
    }
}

impl RecordLog for RecordFile {
    fn append(&self, serial: Serial, record: &DurableRecord) {
        let mut state = self.state.lock();
        let appended = state.append(&self.directory, self.rights, record);
        // Also after a failure: the next rewrite of the file includes this record.
        state.written = serial;
        state.recent.push((serial, record.clone()));
        if let Err(error) = appended {
            state.failure = Some(error.kind());
        }
    }

    fn wait(&self, serial: Serial, own: Serial) -> io::Result<()> {
        let mut durable = self.syncing.lock();
        if durable.serial >= serial {
            return Ok(());
        }
        self.sync(&mut durable).or_else(|error| {
            let mut state = self.state.lock();
            state.leave_out_gone(&durable.records);
            let missing: Vec<_> = state.recent.iter().take_while(|(number, _)| *number <= serial).collect();
            let own = missing.iter().find(|(number, _)| *number == own);
            let is_known = own.is_none_or(|(_, record)| durable.records.covers(record));
            let can_go_on = is_known && durable.records.can_lose(missing.iter().map(|(_, record)| record));
            if can_go_on { Ok(()) } else { Err(error) }
        })
    }

    fn look(&self) -> io::Result<()> {
        let mut state = self.state.lock();
        if state.failure.is_none() {
            return Ok(());
        }
        state.failed = None;
        drop(state);
        self.sync(&mut self.syncing.lock())
    }
}

impl RecordFile {
    /// Writes and syncs what is not durable yet.
    fn sync(&self, durable: &mut Durable) -> io::Result<()> {
        let (written, file) = {
            let mut state = self.state.lock();
            // There may be room again.
            if state.failure.is_some() {
                state.write_anew(&self.directory, self.rights)?;
            }
            (state.written, state.file.clone())
        };
        if let Some(Err(error)) = file.map(|file| file.sync_data()) {
            self.state.lock().failure = Some(error.kind());
            return Err(error);
        }
        durable.serial = written;
        let mut state = self.state.lock();
        let count = state.recent.iter().take_while(|(number, _)| *number <= written).count();
        state.recent.drain(..count).for_each(|(_, record)| durable.records.apply(&record));
        Ok(())
    }
}

fn read(text: &str) -> io::Result<RecoveryRecords> {
    let mut records = RecoveryRecords::default();
    for (number, line) in whole_lines(text).lines().enumerate() {
        let record = parse(line).ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::InvalidData,
                format!(
                    "{NAME}, line {}: no record of a client; remove the file to start without records",
                    number + 1
                ),
            )
        })?;
        records.apply(&record);
    }
    Ok(records)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::super::record_line::tests::records;
    use super::*;

    #[test]
    fn what_was_waited_for_is_there_in_the_next_run() {
        let directory = tempfile::tempdir().expect("a directory");
        let mut expected = RecoveryRecords::default();
        let (file, before) = RecordFile::open(directory.path(), OwnRights::always()).expect("a new file");
        assert_eq!(before, expected);
        for (record, serial) in records().iter().zip(1..) {
            file.append(Serial(serial), record);
            expected.apply(record);
            file.wait(Serial(serial), Serial(serial)).expect("durable");
        }
        // A crash in the middle of a line.
        file.state.lock().file.as_deref().expect("open").write_all(b"client 6f6e").expect("written");
        drop(file);
        let (_, found) = RecordFile::open(directory.path(), OwnRights::always()).expect("the file");
        assert_eq!(found.compact(), expected.compact());
    }

    /// A file to which nothing can be written.
    fn full() -> Arc<File> {
        Arc::new(OpenOptions::new().write(true).open("/dev/full").expect("it is there"))
    }

    fn add(owner: u8) -> DurableRecord {
        DurableRecord::AddClient { owner: [owner].into(), principal: Principal(Box::new([1])), server: None }
    }

    /// The records of a run with these clients, in a directory where no new file can be made.
    fn stuck(clients: &[u8]) -> tempfile::TempDir {
        let directory = tempfile::tempdir().expect("a directory");
        let (file, _) = RecordFile::open(directory.path(), OwnRights::always()).expect("a file");
        clients.iter().zip(1..).for_each(|(owner, serial)| file.append(Serial(serial), &add(*owner)));
        file.wait(Serial(clients.len() as u64), Serial(0)).expect("durable");
        fs::create_dir(directory.path().join(NEW_NAME)).expect("in the way");
        directory
    }

    #[test]
    fn a_damaged_file_is_set_aside_and_nobody_reclaims() {
        let directory = tempfile::tempdir().expect("a directory");
        let (file, _) = RecordFile::open(directory.path(), OwnRights::always()).expect("a file");
        file.append(Serial(1), &add(1));
        file.wait(Serial(1), Serial(1)).expect("durable");
        drop(file);
        let path = directory.path().join(NAME);
        let text = fs::read(&path).expect("there");
        let damaged = [&text[..], b"no-\0lient\n", &text[..]].concat();
        fs::write(&path, &damaged).expect("written");
        let (_, found) = RecordFile::open(directory.path(), OwnRights::always()).expect("it starts");
        assert_eq!(found, RecoveryRecords::default());
        assert_eq!(fs::read(directory.path().join(DAMAGED_NAME)).expect("set aside"), damaged);
    }

    #[test]
    fn where_no_file_can_be_made_lines_go_to_the_one_that_is_there() {
        let directory = stuck(&[1]);
        let path = directory.path().join(NAME);
        OpenOptions::new().append(true).open(&path).expect("there").write_all(b"client 6f").expect("written");
        let (file, _) = RecordFile::open(directory.path(), OwnRights::always()).expect("appended");
        file.append(Serial(1), &add(2));
        file.wait(Serial(1), Serial(1)).expect("durable");
        let found = read_records(directory.path()).expect("whole lines");
        assert_eq!(found.present_clients().collect::<Vec<_>>(), [[1], [2]]);
    }

    #[test]
    fn a_server_that_starts_where_nothing_can_be_written_serves_those_who_are_recorded() {
        let directory = stuck(&[1, 2]);
        // Not even the file that is there: its directory is read-only, say.
        let path = directory.path().join(NAME);
        let text = fs::read(&path).expect("there");
        fs::remove_file(&path).expect("removed");
        std::os::unix::fs::symlink("elsewhere", &path).expect("made");
        fs::write(directory.path().join("elsewhere"), text).expect("written");
        let (file, found) = RecordFile::open(directory.path(), OwnRights::always()).expect("read");
        assert_eq!(found.present_clients().count(), 2);
        assert!(file.look().is_err());
        file.append(Serial(1), &DurableRecord::Start { epoch: 2 });
        file.append(Serial(2), &add(1));
        file.wait(Serial(2), Serial(2)).expect("it reclaims");
        file.append(Serial(3), &add(3));
        assert!(file.wait(Serial(3), Serial(3)).is_err(), "a new one");
        file.append(Serial(4), &add(2));
        file.append(Serial(5), &DurableRecord::EndGrace);
        file.wait(Serial(5), Serial(2)).expect("all came back");
        fs::remove_dir(directory.path().join(NEW_NAME)).expect("there is room again");
        file.look().expect("written");
        drop(file);
        let (_, found) = RecordFile::open(directory.path(), OwnRights::always()).expect("the file");
        assert_eq!(found.present_clients().collect::<Vec<_>>(), [[1], [2], [3]]);
    }

    #[test]
    fn while_the_disk_is_full_those_who_are_recorded_go_on() {
        let directory = tempfile::tempdir().expect("a directory");
        let (file, _) = RecordFile::open(directory.path(), OwnRights::always()).expect("a file");
        let principal = Principal(Box::new([1]));
        let remove = |owner: u8| DurableRecord::RemoveClient {
            owner: [owner].into(),
            principal: principal.clone(),
            by_itself: false,
        };
        file.append(Serial(1), &add(1));
        file.append(Serial(2), &add(2));
        file.wait(Serial(2), Serial(2)).expect("durable");
        // Nothing can be written any more: neither behind what is there, nor anew.
        file.state.lock().file = Some(full());
        fs::create_dir(directory.path().join(NEW_NAME)).expect("in the way");
        file.append(Serial(3), &add(3));
        assert!(file.wait(Serial(3), Serial(3)).is_err(), "the new one waits");
        file.wait(Serial(3), Serial(1)).expect("a client that is recorded");
        file.wait(Serial(3), Serial(0)).expect("one of an earlier run");
        file.append(Serial(4), &add(4));
        file.append(Serial(5), &remove(3));
        file.wait(Serial(5), Serial(1)).expect("the new one gave up, and another came");
        file.append(Serial(6), &DurableRecord::EndGrace);
        file.wait(Serial(6), Serial(1)).expect("nobody was waited for");
        file.append(Serial(7), &remove(2));
        assert!(
            file.wait(Serial(7), Serial(1)).is_err(),
            "after a crash it would reclaim what others got since"
        );
        assert!(file.look().is_err());
        fs::remove_dir(directory.path().join(NEW_NAME)).expect("there is room again");
        file.look().expect("tried again");
        file.wait(Serial(7), Serial(4)).expect("there is room again");
        drop(file);
        let (_, found) = RecordFile::open(directory.path(), OwnRights::always()).expect("the file");
        assert_eq!(found.present_clients().collect::<Vec<_>>(), [[1], [4]]);
    }

    #[test]
    fn clients_that_come_and_go_while_the_disk_is_full_take_no_memory_and_no_tries() {
        static TRIES: AtomicUsize = AtomicUsize::new(0);
        let rights = OwnRights::by(|work| {
            TRIES.fetch_add(1, Ordering::Relaxed);
            work();
            Ok(())
        });
        let directory = tempfile::tempdir().expect("a directory");
        let (file, _) = RecordFile::open(directory.path(), rights).expect("a file");
        file.append(Serial(1), &add(1));
        file.wait(Serial(1), Serial(1)).expect("durable");
        file.state.lock().file = Some(full());
        fs::create_dir(directory.path().join(NEW_NAME)).expect("in the way");
        let remove = DurableRecord::RemoveClient {
            owner: [2].into(),
            principal: Principal(Box::new([1])),
            by_itself: true,
        };
        const ROUNDS: u64 = 10_000;
        let began = Instant::now();
        for round in 1..=ROUNDS {
            file.append(Serial(2 * round), &add(2));
            assert!(file.wait(Serial(2 * round), Serial(2 * round)).is_err(), "it is not recorded");
            file.append(Serial(2 * round + 1), &remove);
            file.wait(Serial(2 * round + 1), Serial(1)).expect("one that is recorded");
        }
        let kept = file.state.lock().recent.len();
        assert!(kept <= 4 * RECENT, "{kept} records");
        let most = 2 + began.elapsed().as_secs();
        assert!(TRIES.load(Ordering::Relaxed) as u64 <= most, "more than one try in a second");
        // One that came and stays.
        file.append(Serial(2 * ROUNDS + 2), &add(3));
        fs::remove_dir(directory.path().join(NEW_NAME)).expect("there is room again");
        file.look().expect("tried again");
        file.wait(Serial(2 * ROUNDS + 2), Serial(2 * ROUNDS + 2)).expect("durable");
        drop(file);
        let (_, found) = RecordFile::open(directory.path(), OwnRights::always()).expect("the file");
        assert_eq!(found.present_clients().collect::<Vec<_>>(), [[1], [3]]);
    }

    #[test]
    fn a_full_disk_that_has_room_again_costs_no_record() {
        let directory = tempfile::tempdir().expect("a directory");
        let (file, mut expected) = RecordFile::open(directory.path(), OwnRights::always()).expect("a file");
        let [first, second, third, ..] = records();
        // Half a line, and no room for the rest.
        let whole = file.state.lock().file.replace(full());
        whole.as_deref().expect("open").write_all(b"client 6f6e").expect("written");
        file.append(Serial(1), &first);
        file.state.lock().file = whole;
        file.append(Serial(2), &second);
        file.wait(Serial(2), Serial(2)).expect("durable");
        file.append(Serial(3), &third);
        file.wait(Serial(3), Serial(3)).expect("durable");
        drop(file);
        [first, second, third].iter().for_each(|record| expected.apply(record));
        let (_, found) = RecordFile::open(directory.path(), OwnRights::always()).expect("the file");
        assert_eq!(found.compact(), expected.compact());
    }

    #[test]
    fn clients_that_come_and_go_do_not_fill_the_disk() {
        let directory = tempfile::tempdir().expect("a directory");
        static REWRITES: AtomicUsize = AtomicUsize::new(0);
        // The thread acts as somebody's user when it is time to write the file anew.
        let rights = OwnRights::by(|work| {
            REWRITES.fetch_add(1, Ordering::Relaxed);
            work();
            Ok(())
        });
        let (file, mut expected) = RecordFile::open(directory.path(), rights).expect("a new file");
        let principal = Principal(Box::new([1, 0, 0, 0, 7]));
        let mut serial = 0;
        for number in 0..20_000_u32 {
            let owner: Box<[u8]> = format!("a client with a long name {number}").into_bytes().into();
            let (add, owner_of) = (owner.clone(), principal.clone());
            let come = DurableRecord::AddClient { owner: add, principal: owner_of, server: None };
            let go = DurableRecord::RemoveClient { owner, principal: principal.clone(), by_itself: true };
            // The last one stays.
            for record in [Some(come), (number < 19_999).then_some(go)].into_iter().flatten() {
                serial += 1;
                file.append(Serial(serial), &record);
                expected.apply(&record);
            }
        }
        file.wait(Serial(serial), Serial(serial)).expect("durable");
        let length = fs::metadata(directory.path().join(NAME)).expect("a file").len();
        assert!(length < 2 * REWRITE_AFTER as u64, "{length} bytes");
        assert!(REWRITES.load(Ordering::Relaxed) > 0);
        drop(file);
        let (_, found) = RecordFile::open(directory.path(), OwnRights::always()).expect("the file");
        assert_eq!(found.compact(), expected.compact());
    }
}
