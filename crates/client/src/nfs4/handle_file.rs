//! Long handles in a file, so that their numbers are valid after a restart: a header with the key of the numbers, then a record for each.

use std::fs::{File, OpenOptions};
use std::hash::Hasher;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;
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
const KEY: usize = 64;
const KEY_LENGTH: usize = 16;

type Record = [u8; RECORD];

/// Where long handles are kept. One process at a time has it open.
pub(super) struct HandleFile {
    file: File,
    end: u64,
    hasher: SipHasher24,
}

impl HandleFile {
    /// Opens or makes the file, and gives each handle in it to `sink`. Damaged records are left out: their handles are stale then. A file
    /// whose header is damaged is emptied.
    ///
    /// # Errors
    /// Another process uses it ([`ErrorKind::WouldBlock`](io::ErrorKind::WouldBlock)), or it cannot be read or written.
    pub(super) fn open(path: &Path, sink: &mut dyn FnMut(&[u8])) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        // Another user could have put a link there where others may make names.
        options.custom_flags(OFlags::NOFOLLOW.bits().cast_signed());
        let mut file = options.read(true).write(true).create(true).truncate(false).mode(0o600).open(path)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) => {
                return Err(io::Error::new(io::ErrorKind::WouldBlock, "another mount or relay uses it"));
            }
            outcome => outcome?,
        }
        let records = file.metadata()?.len() / RECORD as u64;
        let Some(hasher) = (records > 0).then(|| header(&file)).transpose()?.flatten() else {
            if file.metadata()?.len() > 0 {
                tracing::error!(
                    "the file of long handles {} is damaged: clients get ESTALE for those handles",
                    path.display()
                );
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
        Ok(Self { file, end: records * RECORD as u64, hasher })
    }

    /// What the numbers of handles are made with.
    pub(super) fn hasher(&self) -> SipHasher24 {
        self.hasher
    }

    /// Adds a handle. It is there when this process is killed; when the host loses power, the newest may not be.
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

/// Empties the file, and writes a header with a key of its own.
fn begin(file: File) -> io::Result<HandleFile> {
    let mut header = [0; RECORD];
    header[..FORMAT.len()].copy_from_slice(FORMAT);
    getrandom(&mut header[KEY..KEY + KEY_LENGTH], GetRandomFlags::empty())?;
    let hasher = hasher_of(&header);
    seal(&mut header, &hasher);
    file.set_len(0)?;
    file.write_all_at(&header, 0)?;
    file.sync_all()?;
    Ok(HandleFile { file, end: RECORD as u64, hasher })
}

/// The hasher with the key of the header, if that is whole.
fn header(file: &File) -> io::Result<Option<SipHasher24>> {
    let mut header = [0; RECORD];
    file.read_exact_at(&mut header, 0)?;
    let hasher = hasher_of(&header);
    Ok((header.starts_with(FORMAT) && is_whole(&header, &hasher)).then_some(hasher))
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
