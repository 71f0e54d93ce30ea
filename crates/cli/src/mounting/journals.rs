//! Where mounts that write names behind keep their journals: one for each server, export and user, below one directory.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use howdah_client::url::NfsUrl;
use howdah_layers::this_host;
use howdah_store::journal::{
    DirectoryDisk, DiskJournal, JournalError, JournalIdentity, JournalOptions, JournalSummary, RefusedEntry,
    RefusedStore, ReplayedJournal,
};
use rustix::process::geteuid;
use siphasher::sip::SipHasher13;

use crate::configuration::state_directory;
use crate::places::exported;

/// Below the state directory.
const DIRECTORY: &str = "journals";
/// What the file next to a journal ends with that counts its changes.
const COUNT: &str = "count";
/// What the file next to it ends with that keeps the server's long handles, which the journal has by their numbers.
const HANDLES: &str = "handles";
/// How long to wait for the process of an earlier mount to end, and how often to look.
const PATIENCE: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(50);

/// A journal that is there.
#[derive(Debug, Clone)]
pub struct FoundJournal {
    /// Its directory.
    pub path: PathBuf,
    /// Whose it is, who sends it, and how much.
    pub summary: JournalSummary,
}

/// The directory of all journals of this user.
///
/// # Errors
/// The user has no home.
pub fn journals_directory(named: Option<&Path>) -> Result<PathBuf> {
    match named {
        Some(named) => Ok(named.to_owned()),
        None => state_directory().map(|state| state.join(DIRECTORY)).context(
            "there is no place for a journal: set HOME, or name a directory by the mount option journal=DIR",
        ),
    }
}

/// The journal of an export, and what is in it. It is made if it is not there.
///
/// # Errors
/// A process uses it, it is of another host, or the disk fails.
pub fn open_journal(
    url: &NfsUrl,
    named: Option<&Path>,
    adopt: bool,
) -> Result<(DiskJournal, ReplayedJournal)> {
    let all = journals_directory(named)?;
    let identity = identity(url);
    let path = all.join(name(&identity));
    if fs::symlink_metadata(&path).is_ok_and(|found| !found.is_dir() || found.uid() != geteuid().as_raw()) {
        bail!(
            "{} is not this user's directory: remove it, or name another one by journal=DIR",
            path.display()
        );
    }
    let opened = || -> Result<_> {
        make_private(&all)?;
        make_private(&path)?;
        let count_file = Some(path.with_extension(COUNT));
        let options = JournalOptions { adopt, count_file, ..JournalOptions::default() };
        let give_up = Instant::now() + PATIENCE;
        loop {
            match DiskJournal::open(&path, &identity, options.clone()) {
                // An earlier mount may be about to end.
                Err(JournalError::InUse { .. }) if Instant::now() < give_up => thread::sleep(LOOK),
                Err(error @ JournalError::InUse { .. }) => {
                    return Err(anyhow!(error).context(
                        "another mount of this export writes names behind, or one that was unmounted still sends (howdah sync \
                         waits for it); journal=DIR gives this one a journal of its own",
                    ));
                }
                opened => return Ok(opened?),
            }
        }
    };
    opened().with_context(|| format!("opening the journal in {}", path.display()))
}

/// The file next to an export's journal that keeps long handles of an NFSv4 server. Its directory is made if it is not there.
///
/// # Errors
/// The user has no home, or the directory cannot be used.
pub fn handle_file(url: &NfsUrl, named: Option<&Path>) -> Result<PathBuf> {
    let all = journals_directory(named)?;
    make_private(&all)?;
    Ok(all.join(name(&identity(url))).with_extension(HANDLES))
}

/// Makes a directory that only this user may use. One that is there must be of this user; only in a directory with the sticky bit may
/// others make names.
fn make_private(directory: &Path) -> Result<()> {
    let shown = directory.display();
    if let Some(above) = directory.parent() {
        fs::create_dir_all(above).with_context(|| format!("making {}", above.display()))?;
    }
    match DirBuilder::new().mode(0o700).create(directory) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            return Err(anyhow!(error).context(format!("making {shown}")));
        }
        _ => {}
    }
    let found = fs::symlink_metadata(directory).with_context(|| format!("looking at {shown}"))?;
    let is_ours = found.is_dir() && found.uid() == geteuid().as_raw() && found.mode() & 0o022 == 0;
    let is_shared = found.is_dir() && found.mode() & 0o1000 != 0;
    if !is_ours && !is_shared {
        bail!(
            "{shown} is no directory of this user alone: another user could put changes into a journal there"
        );
    }
    Ok(())
}

/// Whether there is a journal of an export.
///
/// # Errors
/// The user has no home.
pub fn find_journal(url: &NfsUrl, named: Option<&Path>) -> Result<Option<FoundJournal>> {
    let path = journals_directory(named)?.join(name(&identity(url)));
    if !path.is_dir() {
        return Ok(None);
    }
    let summary =
        JournalSummary::of(&path).with_context(|| format!("reading the journal in {}", path.display()))?;
    Ok(Some(FoundJournal { path, summary }))
}

/// All journals of this user; those that cannot be read are reported, and left out.
///
/// # Errors
/// Their directory cannot be read.
pub fn found_journals(named: Option<&Path>) -> Result<Vec<FoundJournal>> {
    let Ok(all) = journals_directory(named) else { return Ok(Vec::new()) };
    let entries = match fs::read_dir(&all) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.with_context(|| format!("listing {}", all.display()))?,
    };
    let mut found = Vec::new();
    let directories = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir());
    for path in directories {
        match JournalSummary::of(&path) {
            Ok(summary) => found.push(FoundJournal { path, summary }),
            Err(error) => crate::report::complain(&format!("howdah: {}: {error}", path.display())),
        }
    }
    found.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(found)
}

impl FoundJournal {
    /// What can be mounted to send it.
    pub fn url(&self) -> String {
        let identity = &self.summary.identity;
        let (host, port) = identity.server.rsplit_once(':').unwrap_or((&identity.server, "2049"));
        let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
        let encode = |byte: u8| match byte {
            b'/' | b'.' | b'_' | b'~' | b'-' => char::from(byte).to_string(),
            byte if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
            byte => format!("%{byte:02X}"),
        };
        let export: String = identity.export.bytes().map(encode).collect();
        let port = if port == "2049" { String::new() } else { format!(":{port}") };
        format!("nfs://{host}{port}{export}")
    }

    /// The start of its name, which tells it from others.
    pub fn short_name(&self) -> String {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        name.chars().take(4).collect()
    }

    /// What the server refused of it.
    ///
    /// # Errors
    /// The disk fails.
    pub fn refused(&self) -> Result<(RefusedStore, Vec<RefusedEntry>)> {
        let shown = || format!("reading what was refused in {}", self.path.display());
        let disk = DirectoryDisk::look(&self.path).with_context(shown)?;
        let store = RefusedStore::new(Arc::new(disk)).with_context(shown)?;
        let entries = store.list().with_context(shown)?;
        Ok((store, entries))
    }
}

fn identity(url: &NfsUrl) -> JournalIdentity {
    let (server, export) = exported(url);
    JournalIdentity { server, export, user: geteuid().as_raw().to_string(), host: this_host() }
}

/// A name that another server, export or user has not.
fn name(identity: &JournalIdentity) -> String {
    let whole = [&identity.server, &identity.export, &identity.user].map(|part| part.as_str()).join("\0");
    format!("{:016x}", SipHasher13::new().hash(whole.as_bytes()))
}

/// Where a mount option names a directory of journals.
///
/// # Errors
/// It is no absolute path.
pub fn named_directory(value: &str) -> Result<PathBuf> {
    if !value.starts_with('/') {
        bail!("the mount option journal cannot be \"{value}\": expected on, off, or a directory from / on");
    }
    Ok(PathBuf::from(value))
}
