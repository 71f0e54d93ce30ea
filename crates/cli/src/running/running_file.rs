//! What a running server holds, written down for `howdah exports`: a text in its state directory, under a lock
//! that ends with the process, so that a text left behind by a crash is never taken for a server.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use rustix::fs::{FlockOperation, flock};

use super::part_of_state;

const DIRECTORY: &str = "running";

/// Where a text is written before it is shown; readers skip it.
const DRAFT: &str = ".draft-";

/// The text of this process.
#[derive(Debug)]
pub struct RunningFile {
    directory: PathBuf,
    /// Locked as long as it is open; none before the first text.
    shown: Option<File>,
}

impl RunningFile {
    /// This process's place in a state directory.
    pub fn new(state: &Path) -> Result<Self> {
        Ok(Self { directory: part_of_state(state, DIRECTORY)?, shown: None })
    }

    /// Shows this text from now on. Readers see the old one or the new one, never a part, never without a lock.
    pub fn show(&mut self, text: &str) -> Result<()> {
        let (draft, path) = (self.directory.join(format!("{DRAFT}{}", std::process::id())), self.path());
        let write = || -> io::Result<File> {
            let mut file =
                OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
            flock(&file, FlockOperation::NonBlockingLockExclusive)?;
            file.write_all(text.as_bytes())?;
            fs::rename(&draft, &path)?;
            Ok(file)
        };
        self.shown = Some(write().with_context(|| format!("writing {}", path.display()))?);
        Ok(())
    }

    fn path(&self) -> PathBuf {
        self.directory.join(std::process::id().to_string())
    }
}

impl Drop for RunningFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(self.path());
    }
}

/// The texts of the servers that run with this state directory.
pub fn running_servers(state: &Path) -> Result<Vec<String>> {
    let directory = state.join(DIRECTORY);
    let files = match fs::read_dir(&directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        read => read.with_context(|| format!("reading {}", directory.display()))?,
    };
    let mut texts = Vec::new();
    for file in files {
        let file = file.with_context(|| format!("reading {}", directory.display()))?;
        if file.file_name().as_encoded_bytes().starts_with(DRAFT.as_bytes()) {
            continue;
        }
        let path = file.path();
        if let Some(text) = text_of_living(&path).with_context(|| format!("reading {}", path.display()))? {
            texts.push(text);
        }
    }
    texts.sort();
    Ok(texts)
}

/// The text, unless its server is gone, which a lock that is free tells; then the file goes too.
fn text_of_living(path: &Path) -> io::Result<Option<String>> {
    let mut file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    if flock(&file, FlockOperation::NonBlockingLockShared).is_ok() {
        let _ = fs::remove_file(path);
        return Ok(None);
    }
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    Ok(Some(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_living_are_shown() {
        let state = tempfile::tempdir().expect("a directory");
        assert!(running_servers(state.path()).expect("none yet").is_empty());
        let mut file = RunningFile::new(state.path()).expect("made");
        file.show("a long text").expect("written");
        file.show("a text").expect("replaced");
        fs::write(state.path().join(DIRECTORY).join("1"), "of a crash").expect("written");
        assert_eq!(running_servers(state.path()).expect("one"), ["a text"]);
        drop(file);
        assert!(running_servers(state.path()).expect("none again").is_empty());
        assert_eq!(fs::read_dir(state.path().join(DIRECTORY)).expect("listed").count(), 0);
    }
}
