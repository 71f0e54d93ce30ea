//! What a running server holds, written down for those who ask later: a text in its state directory, under a lock that ends
//! with the process, so that a text left behind by a crash is never taken for a server; and beside it the admin socket.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use howdah_server::states::private_file;
use rustix::fs::{FlockOperation, flock};
use serde_json::Value;

use super::living::{ADMIN, DRAFT, sweep};
use super::{is_full_or_read_only, part_of_state};

const DIRECTORY: &str = "running";

/// Separates the text for people from the same for machines: ASCII's record separator, which JSON escapes.
const SEPARATOR: char = '\x1e';

/// The text of this process.
#[derive(Debug)]
pub struct RunningFile {
    directory: PathBuf,
    /// Locked as long as it is open; none before the first text.
    shown: Option<File>,
}

impl RunningFile {
    /// This process's place in a state directory. What processes that are gone left there is removed. Where it cannot be made because
    /// the file system is full or read-only, nothing can be shown.
    pub fn new(state: &Path) -> Result<Self> {
        let directory = match part_of_state(state, DIRECTORY) {
            Err(error) if is_full_or_read_only(&error) => state.join(DIRECTORY),
            made => made?,
        };
        sweep(&directory);
        let file = Self { directory, shown: None };
        // Of a process that had our id and was killed.
        let _ = fs::remove_file(file.admin());
        Ok(file)
    }

    /// Shows this text from now on. Readers see the old one or the new one, never a part, never without a lock.
    pub fn show(&mut self, text: &str) -> Result<()> {
        let (draft, path) = (self.directory.join(format!("{DRAFT}{}", std::process::id())), self.path());
        let write = || -> io::Result<File> {
            let mut file = private_file(&draft)?;
            flock(&file, FlockOperation::NonBlockingLockExclusive)?;
            file.write_all(text.as_bytes())?;
            fs::rename(&draft, &path)?;
            Ok(file)
        };
        self.shown = Some(write().with_context(|| format!("writing {}", path.display()))?);
        Ok(())
    }

    /// Shows this text for people, and the same as JSON.
    pub fn show_both(&mut self, text: &str, json: &Value) -> Result<()> {
        self.show(&format!("{text}{SEPARATOR}{json}"))
    }

    /// Where this process's admin socket is looked for.
    pub fn admin(&self) -> PathBuf {
        self.directory.join(format!("{}{ADMIN}", std::process::id()))
    }

    /// Says that the admin socket is elsewhere.
    pub fn show_admin_at(&self, path: &Path) -> Result<()> {
        let link = self.admin();
        let _ = fs::remove_file(&link);
        match symlink(path, &link).with_context(|| format!("making {}", link.display())) {
            // It is found by its path.
            Err(error) if is_full_or_read_only(&error) => Ok(()),
            made => made,
        }
    }

    fn path(&self) -> PathBuf {
        self.directory.join(std::process::id().to_string())
    }
}

impl Drop for RunningFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(self.path());
        let _ = fs::remove_file(self.admin());
    }
}

/// A server that runs with a state directory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FoundServer {
    /// Its process.
    pub process: u32,
    /// What it wrote down for people.
    pub text: String,
    /// The same as JSON; a relay writes none, nor does a server of an older version.
    pub json: Option<String>,
    /// Its admin socket, if it has one.
    pub admin: Option<PathBuf>,
}

/// The servers that run with this state directory, by process.
pub fn running_servers(state: &Path) -> Result<Vec<FoundServer>> {
    let directory = state.join(DIRECTORY);
    sweep(&directory);
    let files = match fs::read_dir(&directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        read => read.with_context(|| format!("reading {}", directory.display()))?,
    };
    let mut servers = Vec::new();
    for file in files {
        let file = file.with_context(|| format!("reading {}", directory.display()))?;
        // A text is named by its process, and nothing else here is.
        let Some(process) = file.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        let path = file.path();
        if let Some(text) = text_of_living(&path).with_context(|| format!("reading {}", path.display()))? {
            let admin = directory.join(format!("{process}{ADMIN}"));
            let admin = fs::symlink_metadata(&admin).is_ok().then_some(admin);
            let (text, json) = match text.rsplit_once(SEPARATOR) {
                Some((text, json)) => (text.to_owned(), Some(json.to_owned())),
                None => (text, None),
            };
            servers.push(FoundServer { process, text, json, admin });
        }
    }
    servers.sort();
    Ok(servers)
}

/// Whether this is the name of an admin socket in a state directory.
pub fn is_admin_socket(path: &str) -> bool {
    let path = Path::new(path);
    let process = path.file_name().and_then(|name| name.to_str()?.strip_suffix(ADMIN)?.parse::<u32>().ok());
    process.is_some() && path.parent().is_some_and(|directory| directory.ends_with(DIRECTORY))
}

/// The text, unless its server is gone, as a free lock shows; then the file goes too.
fn text_of_living(path: &Path) -> io::Result<Option<String>> {
    loop {
        let mut file = match File::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened?,
        };
        if flock(&file, FlockOperation::NonBlockingLockShared).is_err() {
            let mut text = String::new();
            file.read_to_string(&mut text)?;
            return Ok(Some(text));
        }
        // A living process may have put another text in the place of the one that was opened.
        if is_at(&file, path)? {
            let _ = fs::remove_file(path);
            return Ok(None);
        }
    }
}

/// Whether the path still leads to an open file.
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let there = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        there => there?,
    };
    let here = file.metadata()?;
    Ok((here.dev(), here.ino()) == (there.dev(), there.ino()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_text_that_was_replaced_is_not_the_one_that_was_opened() {
        let state = tempfile::tempdir().expect("a directory");
        let mut file = RunningFile::new(state.path()).expect("made");
        file.show("old").expect("written");
        let opened = File::open(file.path()).expect("opened");
        assert!(is_at(&opened, &file.path()).expect("looked"));
        file.show("new").expect("replaced");
        assert!(!is_at(&opened, &file.path()).expect("looked"));
        let path = file.path();
        drop(file);
        assert!(!is_at(&opened, &path).expect("looked"));
    }

    #[test]
    fn only_the_living_are_shown() {
        let state = tempfile::tempdir().expect("a directory");
        assert!(running_servers(state.path()).expect("none yet").is_empty());
        let mut file = RunningFile::new(state.path()).expect("made");
        file.show("a long text").expect("written");
        file.show("a text").expect("replaced");
        fs::write(state.path().join(DIRECTORY).join("1"), "of a crash").expect("written");
        let alone =
            FoundServer { process: std::process::id(), text: "a text".to_owned(), json: None, admin: None };
        assert_eq!(running_servers(state.path()).expect("one"), std::slice::from_ref(&alone));
        file.show_admin_at(Path::new("/elsewhere")).expect("made");
        let with_socket = FoundServer { admin: Some(file.admin()), ..alone };
        assert_eq!(running_servers(state.path()).expect("one"), std::slice::from_ref(&with_socket));
        file.show_both("a text", &json!({ "a": 1 })).expect("replaced");
        let with_json = FoundServer { json: Some("{\"a\":1}".to_owned()), ..with_socket };
        assert_eq!(running_servers(state.path()).expect("one"), [with_json]);
        drop(file);
        assert!(running_servers(state.path()).expect("none again").is_empty());
        assert_eq!(fs::read_dir(state.path().join(DIRECTORY)).expect("listed").count(), 0);
    }
}
