//! Long handles in a file, so that their numbers are valid after a restart: a header with the key of the numbers, then a record for each.

use std::fs::{self, File, OpenOptions};
use std::hash::Hasher;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;
use rustix::process::geteuid;
use rustix::rand::{GetRandomFlags, getrandom};
use siphasher::sip128::{Hasher128, SipHasher24};

/// The longest handle of NFSv4, in bytes (RFC 8881 3.1, `NFS4_FHSIZE`).
pub(super) const LONGEST: usize = 128;
/// Bytes of a record: the length of the handle, the handle, and a checksum. All are of one size, so that a damaged one costs only itself.
const RECORD: usize = 144;
const HANDLE: usize = 8;
const CHECKSUM: usize = RECORD - 8;
/// What the header begins with, and where the key is in it.
const FORMAT: &[u8] = b"howdah long handles, format 1\n";
const ANY_FORMAT: &[u8] = b"howdah long handles, format ";
const KEY: usize = 64;
const KEY_LENGTH: usize = 16;

/// The most damaged files that are kept aside. A further one takes the place of the last.
const ASIDE_MAX: u32 = 9;

type Record = [u8; RECORD];

/// A file of handles, 144 bytes each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandleFileUse {
    /// The file.
    pub path: PathBuf,
    /// Whether each handle must be in the file before its caller has it, or may follow once the disk has room.
    pub at_once: bool,
}

/// Where long handles are kept. One process at a time has it open.
pub(super) struct HandleFile {
    file: Arc<File>,
    end: u64,
    /// Where what is durable ends.
    synced: u64,
    hasher: SipHasher24,
}

impl HandleFile {
    /// Opens or makes the file, and gives each handle in it to `sink`. Damaged records are left out: their handles are stale then. A file
    /// whose header is damaged is put aside, for a person who can read it.
    ///
    /// # Errors
    /// Another process uses it ([`ErrorKind::WouldBlock`](io::ErrorKind::WouldBlock)), it is of another user or of a newer version, or it
    /// cannot be read or written.
    pub(super) fn open(path: &Path, sink: &mut dyn FnMut(&[u8])) -> io::Result<Self> {
        let mut file = open_locked(path)?;
        let records = file.metadata()?.len() / RECORD as u64;
        let Some(hasher) = (records > 0).then(|| header(&file)).transpose()?.flatten() else {
            if records > 0 {
                let aside = put_aside(path)?;
                tracing::error!(
                    "the file of long handles {} is damaged, and was put aside as {}: clients get ESTALE for those handles",
                    path.display(),
                    aside.display()
                );
                file = open_locked(path)?;
            }
            return begin(file);
        };
        file.seek(SeekFrom::Start(RECORD as u64))?;
        let mut reader = BufReader::with_capacity(1 << 20, &file);
        let (mut record, mut damaged) = ([0; RECORD], 0_u64);
        for _ in 1..records {
            reader.read_exact(&mut record)?;
            match handle(&record, &hasher) {
                Some(handle) => sink(handle),
                None => damaged += 1,
            }
        }
        if damaged > 0 {
            tracing::error!(
                damaged,
                "records in {} are damaged: clients get ESTALE for those handles",
                path.display()
            );
        }
        drop(reader);
        // A record that was cut off is written over.
        Ok(Self { file: Arc::new(file), end: records * RECORD as u64, synced: 0, hasher })
    }

    /// What the numbers of handles are made with.
    pub(super) fn hasher(&self) -> SipHasher24 {
        self.hasher
    }

    /// The file, and where it ends, if not all of it is durable.
    pub(super) fn unsynced(&self) -> Option<(Arc<File>, u64)> {
        (self.synced < self.end).then(|| (Arc::clone(&self.file), self.end))
    }

    /// What is before this is durable.
    pub(super) fn synced(&mut self, end: u64) {
        self.synced = self.synced.max(end);
    }

    /// Uses another file, and gives the one of before.
    #[cfg(test)]
    pub(super) fn swap(&mut self, file: Arc<File>) -> Arc<File> {
        std::mem::replace(&mut self.file, file)
    }

    /// Adds a handle. It is there when this process is killed; when the host loses power, only if it was synced.
    ///
    /// # Errors
    /// It cannot be written. Then nothing was added.
    pub(super) fn append(&mut self, handle: &[u8]) -> io::Result<()> {
        let mut record = [0; RECORD];
        record[0] = handle.len() as u8;
        record[HANDLE..HANDLE + handle.len()].copy_from_slice(handle);
        seal(&mut record, &self.hasher);
        self.file.write_all_at(&record, self.end)?;
        self.end += RECORD as u64;
        Ok(())
    }
}

/// Opens or makes the file, and locks it.
fn open_locked(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    // Another user could have put a link there where others may make names.
    options.custom_flags(OFlags::NOFOLLOW.bits().cast_signed());
    options.read(true).write(true).create(true).truncate(false).mode(0o600);
    loop {
        let file = options.open(path)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) => {
                return Err(io::Error::new(io::ErrorKind::WouldBlock, "another mount or relay uses it"));
            }
            outcome => outcome?,
        }
        let found = file.metadata()?;
        if !found.is_file() || found.uid() != geteuid().as_raw() || found.mode() & 0o022 != 0 {
            let why = "it is no file of this user alone, so another user could give clients other files: move it away";
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
        }
        // One that was put aside before it was locked is another file.
        if fs::symlink_metadata(path).is_ok_and(|there| there.ino() == found.ino()) {
            return Ok(file);
        }
    }
}

/// Gives a damaged file a name of its own.
fn put_aside(path: &Path) -> io::Result<PathBuf> {
    let name = |number: u32| {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".damaged-{number}"));
        PathBuf::from(name)
    };
    let is_free = |path: &PathBuf| fs::symlink_metadata(path).is_err();
    let aside = (1..ASIDE_MAX).map(name).find(is_free).unwrap_or_else(|| name(ASIDE_MAX));
    fs::rename(path, &aside)?;
    Ok(aside)
}

/// A header of this format, with a key of its own.
pub(super) fn header_of(format: &[u8]) -> io::Result<Record> {
    let mut header = [0; RECORD];
    header[..format.len()].copy_from_slice(format);
    getrandom(&mut header[KEY..KEY + KEY_LENGTH], GetRandomFlags::empty())?;
    let hasher = hasher_of(&header);
    seal(&mut header, &hasher);
    Ok(header)
}

/// Empties the file, and writes a header.
fn begin(file: File) -> io::Result<HandleFile> {
    let header = header_of(FORMAT)?;
    let hasher = hasher_of(&header);
    file.set_len(0)?;
    file.write_all_at(&header, 0)?;
    file.sync_all()?;
    Ok(HandleFile { file: Arc::new(file), end: RECORD as u64, synced: RECORD as u64, hasher })
}

/// The hasher with the key of the header, if that is whole.
fn header(file: &File) -> io::Result<Option<SipHasher24>> {
    let mut header = [0; RECORD];
    file.read_exact_at(&mut header, 0)?;
    let hasher = hasher_of(&header);
    match (is_whole(&header, &hasher), header.starts_with(FORMAT)) {
        (true, true) => Ok(Some(hasher)),
        // All formats begin with this, and their headers end with the same checksum.
        (true, false) if header.starts_with(ANY_FORMAT) => {
            let why = "a newer version of howdah wrote it: use that version";
            Err(io::Error::new(io::ErrorKind::Unsupported, why))
        }
        _ => Ok(None),
    }
}

fn hasher_of(header: &Record) -> SipHasher24 {
    let key = header[KEY..KEY + KEY_LENGTH].try_into().expect("as long as a key");
    SipHasher24::new_with_key(&key)
}

fn handle<'r>(record: &'r Record, hasher: &SipHasher24) -> Option<&'r [u8]> {
    let length = usize::from(record[0]);
    (length <= LONGEST && is_whole(record, hasher)).then(|| &record[HANDLE..HANDLE + length])
}

fn seal(record: &mut Record, hasher: &SipHasher24) {
    let checksum = checksum(record, hasher);
    record[CHECKSUM..].copy_from_slice(&checksum);
}

fn is_whole(record: &Record, hasher: &SipHasher24) -> bool {
    record[CHECKSUM..] == checksum(record, hasher)
}

fn checksum(record: &Record, hasher: &SipHasher24) -> [u8; RECORD - CHECKSUM] {
    let mut hasher = *hasher;
    hasher.write(&record[..CHECKSUM]);
    hasher.finish128().h1.to_be_bytes()
}
