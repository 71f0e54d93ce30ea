//! Asking mounts that run.

use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use anyhow::{Result, anyhow};
use howdah_net::connect_local;
use rustix::fs::{FlockOperation, flock};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::noted::{Noted, running};
use super::status::MountStatus;

/// How long a mount may take to say how it is.
const PATIENCE: Duration = Duration::from_secs(15);

/// A mount that may be asked.
#[derive(Debug, Clone)]
pub struct AskedMount {
    noted: Noted,
    place: PathBuf,
}

/// What a mount is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MountQuestion {
    /// How it is.
    Status,
    /// To make all data durable.
    Flush,
}

/// Files whose data could not be made durable: their numbers, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlushAnswer {
    /// Each with its reason.
    pub failed: Vec<(u64, String)>,
    /// Changes that the server refused after programs were answered, a line for each.
    #[serde(default)]
    pub refused: Vec<String>,
}

/// What the server refused, a line for each change, and what to do about it.
pub fn refused_lines(refused: &[String]) -> Vec<String> {
    let lines = refused.iter().map(|refused| format!("the server refused an earlier change: {refused}"));
    let advice = (!refused.is_empty()).then(|| "howdah refused lists and saves what was refused".to_owned());
    lines.chain(advice).collect()
}

/// What was lost, a line for each file whose data could not be written, and for each change that the server refused.
pub fn lost_lines(answer: &FlushAnswer) -> Vec<String> {
    let failed = answer.failed.iter().map(|(file, why)| {
        format!("data of the file with number {file} (ls -i) could not be written to the server: {why}")
    });
    failed.chain(refused_lines(&answer.refused)).collect()
}

/// All that run.
///
/// # Errors
/// They cannot be listed.
pub fn mounts(place: Option<&Path>) -> Result<Vec<AskedMount>> {
    let noted = running(place)?.into_iter();
    Ok(noted.map(|noted| AskedMount { place: running_file(&noted), noted }).collect())
}

/// That on a directory.
///
/// # Errors
/// They cannot be listed.
pub fn find_mount(directory: &Path, place: Option<&Path>) -> Result<Option<AskedMount>> {
    Ok(mounts(place)?.into_iter().rfind(|mount| mount.noted.directory == directory))
}

/// That which a process keeps, if it keeps one.
pub fn mount_of_process(process: Option<u32>, place: Option<&Path>) -> Option<AskedMount> {
    // What cannot be listed has no name.
    mounts(place).unwrap_or_default().into_iter().find(|mount| Some(mount.noted.process) == process)
}

/// The file that a mount keeps locked as long as it lives.
fn running_file(noted: &Noted) -> PathBuf {
    let place = noted.socket.parent().unwrap_or(Path::new("/"));
    place.join("running").join(noted.process.to_string())
}

impl AskedMount {
    /// How it is.
    ///
    /// # Errors
    /// It does not answer.
    pub fn status(&self) -> Result<MountStatus> {
        self.ask(MountQuestion::Status, Some(PATIENCE))
    }

    /// Makes it write all data to the server, however long that takes.
    ///
    /// # Errors
    /// It does not answer.
    pub fn flush(&self) -> Result<FlushAnswer> {
        self.ask(MountQuestion::Flush, None)
    }

    /// The same for so long at most; `None`: it is still at it, and goes on.
    ///
    /// # Errors
    /// It cannot be asked.
    pub fn flush_within(&self, patience: Duration) -> Result<Option<FlushAnswer>> {
        self.ask_within(MountQuestion::Flush, Some(patience))
    }

    fn ask<T: DeserializeOwned>(&self, question: MountQuestion, patience: Option<Duration>) -> Result<T> {
        let (directory, process) = (self.noted.directory.display(), self.noted.process);
        self.ask_within(question, patience)?.ok_or_else(|| {
            anyhow!("the mount on {directory} (process {process}) does not answer; is that process stopped?")
        })
    }

    /// `None`: it did not answer in time.
    fn ask_within<T: DeserializeOwned>(
        &self,
        question: MountQuestion,
        patience: Option<Duration>,
    ) -> Result<Option<T>> {
        let ask = || -> Result<T> {
            let mut stream = connect_local(&self.noted.socket)?;
            stream.set_read_timeout(patience)?;
            stream.write_all(&[serde_json::to_vec(&question)?, b"\n".to_vec()].concat())?;
            let mut line = String::new();
            BufReader::new(stream).read_line(&mut line)?;
            Ok(serde_json::from_str(&line)?)
        };
        match ask() {
            Ok(answer) => Ok(Some(answer)),
            Err(error) => match error.downcast_ref::<io::Error>().map(io::Error::kind) {
                Some(io::ErrorKind::WouldBlock) => Ok(None),
                _ => {
                    let (directory, process) = (self.noted.directory.display(), self.noted.process);
                    Err(error.context(format!("asking the mount on {directory} (process {process})")))
                }
            },
        }
    }

    /// Waits until its process has ended, at most so long. Whether it has.
    pub fn has_ended_within(&self, patience: Duration) -> bool {
        let Ok(file) = std::fs::File::open(&self.place) else { return true };
        if flock(&file, FlockOperation::NonBlockingLockShared).is_ok() {
            return true;
        }
        let (ended, has_ended) = mpsc::channel();
        std::thread::spawn(move || {
            // The lock ends with the process.
            let _ = flock(&file, FlockOperation::LockShared);
            let _ = ended.send(());
        });
        has_ended.recv_timeout(patience).is_ok()
    }

    /// Where it is.
    pub fn directory(&self) -> &Path {
        &self.noted.directory
    }

    /// Its process.
    pub fn process(&self) -> u32 {
        self.noted.process
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_refused_comes_with_what_to_do_about_it() {
        assert_eq!(refused_lines(&[]), Vec::<String>::new());
        let failed = vec![(7, "no space left on device".to_owned())];
        let lost = lost_lines(&FlushAnswer { failed, refused: Vec::new() });
        assert!(lost.len() == 1 && lost[0].ends_with("to the server: no space left on device"), "{lost:?}");
        let lines = refused_lines(&["make of late: stale file handle".to_owned()]);
        assert_eq!(
            lines,
            [
                "the server refused an earlier change: make of late: stale file handle",
                "howdah refused lists and saves what was refused"
            ]
        );
    }
}
