//! The directory that is exported: on tmpfs where there is one, with what the rows need, made when a row asks for it.

use std::fs::{self, DirBuilder, File};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};

use anyhow::Context;
use tempfile::TempDir;

/// Where tmpfs is usually found.
const TMPFS: &str = "/dev/shm";
/// `f_type` of tmpfs.
const TMPFS_MAGIC: rustix::fs::FsWord = 0x0102_1994;
/// Data carries its own offset at the start of every such block, so that a reader can check that it got the right one.
const STAMP_EVERY: u64 = 4096;

/// The exported directory; gone when dropped, if it was ours.
#[derive(Debug)]
pub struct Export {
    path: PathBuf,
    _ours: Option<TempDir>,
}

/// The user of the calls and owner of the files: an ordinary user where we may choose.
pub fn user() -> u32 {
    let own = rustix::process::geteuid();
    if own.is_root() { 1000 } else { own.as_raw() }
}

impl Export {
    /// In `directory` if given, else a new one on tmpfs.
    pub fn make(directory: Option<&Path>) -> anyhow::Result<Self> {
        if let Some(path) = directory {
            return Ok(Self { path: path.to_owned(), _ours: None });
        }
        let parent = if is_tmpfs(Path::new(TMPFS)) { PathBuf::from(TMPFS) } else { std::env::temp_dir() };
        let ours = tempfile::Builder::new().prefix("howdah-bench-").tempdir_in(&parent);
        let ours = ours.with_context(|| format!("making an export in {}", parent.display()))?;
        let path = ours.path().to_owned();
        own(&path)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))
            .context("opening the export to its user")?;
        Ok(Self { path, _ours: Some(ours) })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether its data stays in memory.
    pub fn on_tmpfs(&self) -> bool {
        is_tmpfs(&self.path)
    }

    /// A directory of `count` empty files named by `file_name`, with nothing else in it.
    pub fn directory(&self, name: &str, count: u64) -> anyhow::Result<PathBuf> {
        let path = self.path.join(name);
        DirBuilder::new().recursive(true).mode(0o755).create(&path)?;
        own(&path)?;
        let step = || format!("filling {}", path.display());
        for entry in fs::read_dir(&path).with_context(step)? {
            fs::remove_file(entry?.path()).with_context(step)?;
        }
        for number in 0..count {
            let file = path.join(file_name(number));
            File::create(&file).and_then(|_| own(&file).map_err(std::io::Error::other)).with_context(step)?;
        }
        Ok(path)
    }

    /// The same, left as it is if it is there already.
    pub fn lasting_directory(&self, name: &str, count: u64) -> anyhow::Result<PathBuf> {
        let path = self.path.join(name);
        if path.exists() { Ok(path) } else { self.directory(name, count) }
    }

    /// A file of `size` bytes, stamped, left as it is if it is there already.
    pub fn lasting_file(&self, name: &str, size: u64) -> anyhow::Result<PathBuf> {
        let path = self.path.join(name);
        if fs::metadata(&path).is_ok_and(|metadata| metadata.len() == size) {
            return Ok(path);
        }
        let step = || format!("filling {}", path.display());
        let mut file = File::create(&path).with_context(step)?;
        let mut block = vec![0x61; STAMP_EVERY as usize];
        for offset in (0..size).step_by(block.len()) {
            block[..8].copy_from_slice(&offset.to_be_bytes());
            file.write_all(&block).with_context(step)?;
        }
        own(&path)?;
        Ok(path)
    }
}

/// The name of a file in a directory of many.
pub fn file_name(number: u64) -> String {
    format!("file-{number:08}")
}

fn own(path: &Path) -> anyhow::Result<()> {
    if rustix::process::geteuid().is_root() {
        chown(path, Some(user()), Some(user())).with_context(|| format!("giving away {}", path.display()))?;
    }
    Ok(())
}

fn is_tmpfs(path: &Path) -> bool {
    rustix::fs::statfs(path).is_ok_and(|figures| figures.f_type == TMPFS_MAGIC)
}
