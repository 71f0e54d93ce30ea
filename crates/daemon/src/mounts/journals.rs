//! Where mounts that write names behind keep their journals: one for each server, export and user, below one directory.

use std::fmt;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use howdah_client::Remote;
use howdah_client::url::{NfsUrl, NfsVersion};
use howdah_config::state_directory;
use howdah_layers::this_host;
use howdah_store::journal::{
    DirectoryDisk, DiskJournal, JournalError, JournalIdentity, JournalOptions, JournalSummary, RefusedEntry,
    RefusedStore, ReplayedJournal, SyncFirst,
};
use rustix::process::geteuid;
use siphasher::sip::SipHasher13;

use super::asked::{AskedMount, mount_of_process};
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

/// The handles of a client, to which records of a journal refer.
struct HandlesOf(Arc<dyn Remote>);

impl fmt::Debug for HandlesOf {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("HandlesOf")
    }
}

impl SyncFirst for HandlesOf {
    fn sync(&self) -> io::Result<()> {
        self.0.sync_handles()
    }
}

/// The journal of an export, and what is in it. It is made if it is not there. `client`: what sends its changes.
///
/// # Errors
/// A process uses it, it is of another host or another version of NFS, or the disk fails.
pub fn open_journal(
    url: &NfsUrl,
    client: Arc<dyn Remote>,
    named: Option<&Path>,
    adopt: bool,
) -> Result<(DiskJournal, ReplayedJournal)> {
    let all = journals_directory(named)?;
    let identity = JournalIdentity { version: Some(client.program().1), ..identity(url) };
    let path = all.join(name(&identity));
    let sync_first: Arc<dyn SyncFirst> = Arc::new(HandlesOf(client));
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
        let sync_first = Some(Arc::clone(&sync_first));
        let options = JournalOptions { adopt, count_file, sync_first, ..JournalOptions::default() };
        let give_up = Instant::now() + PATIENCE;
        loop {
            match DiskJournal::open(&path, &identity, options.clone()) {
                // An earlier mount may be about to end.
                Err(JournalError::InUse { .. }) if Instant::now() < give_up => thread::sleep(LOOK),
                opened => return Ok(opened?),
            }
        }
    };
    opened().map_err(|error| match error.downcast_ref::<JournalError>() {
        Some(JournalError::InUse { holder, .. }) => {
            let mount = mount_of_process(*holder, None);
            anyhow!(in_use(*holder, mount.as_ref().map(AskedMount::directory)))
        }
        _ => error.context(format!("opening the journal in {}", path.display())),
    })
}

/// Who uses a journal, and what to do: the process, and the directory of its mount if it has one.
fn in_use(process: Option<u32>, directory: Option<&Path>) -> String {
    let process = process.map_or("another process".to_owned(), |process| format!("process {process}"));
    let (user, instead) = match directory {
        Some(directory) => (format!("the mount on {} ({process})", directory.display()), "use that mount"),
        None => (process, "wait for it to end"),
    };
    format!(
        "{user} uses the journal of this export: {instead}, or give this mount another journal (option journal=DIR)"
    )
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

/// The URL of an export with the version of NFS that the changes in its journal were made over: another version need not know the handles
/// in it.
///
/// # Errors
/// The URL names another version.
pub fn with_version_of_journal(url: &NfsUrl, named: Option<&Path>) -> Result<NfsUrl> {
    // One that cannot be read is an error when it is opened.
    let found = find_journal(url, named).ok().flatten().filter(|found| found.summary.changes != Some(0));
    let version = found.as_ref().and_then(|found| found.summary.identity.version);
    let (Some(found), Some(version)) = (found, version) else { return Ok(url.clone()) };
    let meant = if version == 3 { NfsVersion::V3 } else { NfsVersion::V4(None) };
    let mut with_version = url.clone();
    match url.options.version {
        None => with_version.options.version = Some(meant),
        Some(NfsVersion::V3) if meant == NfsVersion::V3 => {}
        Some(NfsVersion::V4(_)) if meant != NfsVersion::V3 => {}
        Some(_) => bail!(
            "the changes in the journal {} were made over NFSv{version}, and another version need not know their files: send them first \
             (howdah sync {}), or leave out the version",
            found.path.display(),
            found.url()
        ),
    }
    Ok(with_version)
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
            Err(error) => crate::screen::complain(&format!("howdah: {}: {error}", path.display())),
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

    /// The start of its name, which differs from all others.
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
    JournalIdentity { server, export, user: geteuid().as_raw().to_string(), host: this_host(), version: None }
}

/// A name that another server, export or user has not. It is one for all versions: a mount must find what an earlier one left.
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

#[cfg(test)]
mod tests {
    use howdah_store::journal::JournalRecord;

    use super::*;

    #[test]
    fn who_uses_a_journal_is_named_by_the_directory_of_its_mount() {
        let said = in_use(Some(68), Some(Path::new("/mnt/data")));
        assert!(
            said.starts_with(
                "the mount on /mnt/data (process 68) uses the journal of this export: use that mount, "
            ),
            "{said}"
        );
        let said = in_use(Some(68), None);
        assert!(
            said.starts_with("process 68 uses the journal of this export: wait for it to end, "),
            "{said}"
        );
    }

    #[test]
    fn changes_are_sent_over_the_version_that_they_were_made_over() {
        let directory = tempfile::tempdir().expect("a directory");
        let url = |options: &str| format!("nfs://far:2049/export{options}").parse::<NfsUrl>().expect("a URL");
        let version = |options: &str| {
            let with_version = with_version_of_journal(&url(options), Some(directory.path()));
            with_version.map(|url| url.options.version).map_err(|error| error.to_string())
        };
        assert_eq!(version(""), Ok(None), "there is no journal");
        let identity = JournalIdentity { version: Some(4), ..identity(&url("")) };
        let options = JournalOptions { segment: 1 << 16, ..JournalOptions::default() };
        let path = directory.path().join(name(&identity));
        fs::create_dir(&path).expect("made");
        let (journal, _) = DiskJournal::open(&path, &identity, options).expect("opens");
        journal.append(&[JournalRecord { kind: 1, change: 1, payload: b"made" }]).expect("appended");
        drop(journal);
        assert_eq!(version(""), Ok(Some(NfsVersion::V4(None))));
        assert_eq!(version("?version=4.1"), Ok(Some(NfsVersion::V4(Some(1)))));
        let refused = version("?version=3").expect_err("another version");
        assert!(refused.contains("howdah sync nfs://far/export"), "{refused}");
    }
}
