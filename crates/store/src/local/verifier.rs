//! The write verifier: changes when, and only when, data that was not committed may have been lost.
//!
//! Such data lies in the kernel's page cache. It survives the process, so a restart alone must not change the
//! verifier; it does not survive the machine, so the kernel's boot id is in it; and it is lost when writing it back
//! fails, so a nonce is in it that is replaced then. Where a process holds such data (FUSE), which may end without a
//! word, each server process has a verifier of its own.

use std::fs;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use rustix::fs::{Advice, fadvise};
use siphasher::sip::SipHasher13;

use super::identity::Identity;
use super::open_error::OpenError;

/// Where the kernel says which boot this is.
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

/// The nonce, in the state directory.
const FILE: &str = "write-verifier";

/// The write verifier.
pub(super) struct Verifier {
    value: AtomicU64,
    /// Held while the verifier is replaced, so that file and memory agree.
    replacing: Mutex<()>,
    boot: Vec<u8>,
    file: Option<PathBuf>,
}

impl Verifier {
    /// The verifier that the state directory knows, or a new one. Without a state directory each process has
    /// its own: clients may then send data again that was not lost, and never the other way.
    pub(super) fn open(state: Option<&Path>) -> Result<Self, OpenError> {
        let boot = fs::read(BOOT_ID).unwrap_or_else(|_| random().to_le_bytes().to_vec());
        let verifier = Self {
            value: AtomicU64::new(0),
            replacing: Mutex::new(()),
            boot,
            file: state.map(|state| state.join(FILE)),
        };
        let nonce = match &verifier.file {
            None => random(),
            Some(file) => {
                match fs::read(file).map(<[u8; 8]>::try_from) {
                    Ok(Ok(nonce)) => u64::from_le_bytes(nonce),
                    // A torn or missing file: nothing was promised under it that this would break.
                    Ok(Err(_)) => verifier.begin(),
                    Err(error) if error.kind() == std::io::ErrorKind::NotFound => verifier.begin(),
                    Err(error) => return Err(OpenError::new("reading", file, error)),
                }
            }
        };
        verifier.set(nonce);
        Ok(verifier)
    }

    /// A new nonce. One that cannot be written is this process's own: after a restart clients write again what was not lost.
    fn begin(&self) -> u64 {
        let nonce = random();
        self.keep(nonce).unwrap_or_else(|error| {
            tracing::warn!(%error, "the write verifier will not survive a restart");
            nonce
        })
    }

    /// The verifier of now.
    pub(super) fn current(&self) -> [u8; 8] {
        self.value.load(Ordering::Acquire).to_be_bytes()
    }

    /// Data may have been lost: another verifier from here on.
    fn replace(&self) {
        let _turn = self.replacing.lock();
        let nonce = random();
        self.set(nonce);
        if let Err(error) = self.keep(nonce) {
            tracing::warn!(%error, "the new write verifier will not survive a restart");
            // Then a restart must not come back to the old one.
            if let Some(file) = &self.file {
                let _ = fs::remove_file(file);
            }
        }
    }

    /// Data was lost that was answered as written.
    pub(super) fn on_loss(&self, file: &OwnedFd) {
        // Pages that could not be written count as clean, and ext4 takes their places for written: what is written
        // there again would be zeros once it is read from the disk. So nothing of them is kept.
        let _ = fadvise(file, 0, None, Advice::DontNeed);
        // The state directory is ours, not the caller's. If it cannot be written the verifier still changes in memory.
        let _ = Identity::as_root(|| self.replace());
    }

    fn set(&self, nonce: u64) {
        let mut hasher = SipHasher13::new_with_keys(nonce, 0);
        hasher.write(&self.boot);
        self.value.store(hasher.finish(), Ordering::Release);
    }

    /// Writes the nonce beside and moves it into place, so that it is whole or not there.
    fn keep(&self, nonce: u64) -> std::io::Result<u64> {
        if let Some(file) = &self.file {
            let beside = file.with_extension("new");
            // For the server alone: the process may have no umask.
            let mut options = fs::OpenOptions::new();
            let mut new = options.write(true).create(true).truncate(true).mode(0o600).open(&beside)?;
            new.write_all(&nonce.to_le_bytes())?;
            new.sync_all()?;
            fs::rename(&beside, file)?;
        }
        Ok(nonce)
    }
}

fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_restart_keeps_it_and_a_loss_changes_it() {
        let state = tempfile::tempdir().expect("a directory");
        let first = Verifier::open(Some(state.path())).expect("opens");
        let value = first.current();
        assert_eq!(Verifier::open(Some(state.path())).expect("opens").current(), value);
        first.replace();
        let replaced = first.current();
        assert_ne!(replaced, value);
        assert_eq!(Verifier::open(Some(state.path())).expect("opens").current(), replaced);
    }

    #[test]
    fn one_that_cannot_be_written_is_the_process_s_own() {
        let state = tempfile::tempdir().expect("a directory");
        fs::create_dir(state.path().join(FILE).with_extension("new")).expect("in the way");
        let open = || Verifier::open(Some(state.path())).expect("opens").current();
        assert_ne!(open(), open());
    }

    #[test]
    fn of_losses_at_the_same_time_the_file_has_the_last() {
        let state = tempfile::tempdir().expect("a directory");
        let verifier = Verifier::open(Some(state.path())).expect("opens");
        for _ in 0..20 {
            std::thread::scope(|scope| (0..4).for_each(|_| _ = scope.spawn(|| verifier.replace())));
            let kept = Verifier::open(Some(state.path())).expect("opens").current();
            assert_eq!(kept, verifier.current());
        }
    }

    #[test]
    fn another_boot_changes_it() {
        let state = tempfile::tempdir().expect("a directory");
        let mut verifier = Verifier::open(Some(state.path())).expect("opens");
        let value = verifier.current();
        verifier.boot = b"another boot".to_vec();
        let nonce = fs::read(state.path().join(FILE)).expect("the nonce");
        verifier.set(u64::from_le_bytes(nonce.try_into().expect("8 bytes")));
        assert_ne!(verifier.current(), value);
    }

    #[test]
    fn without_state_each_process_has_its_own() {
        let open = || Verifier::open(None).expect("opens").current();
        assert_ne!(open(), open());
    }
}
