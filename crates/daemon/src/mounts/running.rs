//! What a mount's process shows: its text, and the socket where it is asked.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use howdah_net::LocalListener;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};

use super::asked::{FlushAnswer, MountQuestion};
use super::noted::{Noted, own_place};
use super::status::MountStatus;
use crate::host::{RunningFile, prepare_state, running_servers};

/// What the process in the background says when the mount is there.
pub const READY: &str = "mounted";

/// How long a question may take to arrive.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long to wait after a failed accept.
const AGAIN: Duration = Duration::from_millis(100);

/// How long the log of a process that has ended is kept. It may name lost data.
const KEPT: Duration = Duration::from_secs(7 * 86_400);

/// What is answered to those who ask.
pub trait Answers: Send + Sync {
    /// How it is.
    fn status(&self) -> MountStatus;
    /// Makes all data durable.
    fn flush(&self) -> FlushAnswer;
}

/// The notes of this process, which end with it: the text last, since without it the mount is taken to have ended.
pub struct Notes {
    listener: LocalListener,
    place: PathBuf,
    _text: RunningFile,
}

impl Notes {
    /// Notes a mount down.
    pub fn write(place: Option<&Path>, directory: &Path, source: &str) -> Result<Self> {
        let place =
            std::path::absolute(place.map_or_else(own_place, Path::to_owned)).context("finding --state")?;
        prepare_state(&place)?;
        sweep(&place);
        let process = std::process::id();
        let socket = place.join(format!("{process}.mount"));
        let listener = LocalListener::bind(&socket)
            .with_context(|| format!("making {}, where the mount is asked", socket.display()))?;
        let noted = Noted { directory: directory.to_owned(), source: source.to_owned(), socket, process };
        let mut text = RunningFile::new(&place)?;
        text.show(&serde_json::to_string(&noted).context("writing the mount down")?)?;
        Ok(Self { listener, place, _text: text })
    }

    /// Answers questions about the mount, on its own thread.
    pub fn answer(&self, answers: Arc<dyn Answers>) -> Result<()> {
        let socket = self.listener.socket().context("listening for questions")?;
        let run = move || {
            loop {
                let _ = poll(&mut [PollFd::new(&socket, PollFlags::IN)], None);
                let Ok((stream, _)) = socket.accept() else {
                    // No descriptor is free. The caller waits in the socket's queue.
                    thread::sleep(AGAIN);
                    continue;
                };
                let answers = Arc::clone(&answers);
                // One who flushes may take long.
                let _ =
                    thread::Builder::new().name("answer".into()).spawn(move || answer(&stream, &*answers));
            }
        };
        thread::Builder::new().name("questions".into()).spawn(run).context("starting a thread")?;
        Ok(())
    }

    /// Tells the process that started us that the mount is there, and lets go of its terminal. The log goes to a file.
    pub fn detach(&self) -> Result<()> {
        crate::screen::print(&format!("{READY}\n"));
        let nothing =
            OpenOptions::new().read(true).write(true).open("/dev/null").context("opening /dev/null")?;
        let log = self.log().unwrap_or(nothing.try_clone().context("opening /dev/null")?);
        dup2_stdin(&nothing)
            .and_then(|()| dup2_stdout(&nothing))
            .and_then(|()| dup2_stderr(&log))
            .context("letting go of the terminal")
    }

    fn log(&self) -> Option<File> {
        OpenOptions::new().create(true).append(true).open(self.log_path()).ok()
    }

    fn log_path(&self) -> PathBuf {
        self.place.join(format!("{}.log", std::process::id()))
    }
}

/// Removes what processes left behind that were killed.
fn sweep(place: &Path) {
    let Ok(running) = running_servers(place) else { return };
    let lives = |process: u32| running.iter().any(|mount| mount.process == process);
    for file in std::fs::read_dir(place).into_iter().flatten().flatten() {
        let name = file.file_name();
        let name = name.to_str().unwrap_or_default();
        let process = name.strip_suffix(".mount").or_else(|| name.strip_suffix(".log"));
        let process = process.and_then(|process| process.parse().ok());
        let is_new = || file.metadata().is_ok_and(|log| log.len() > 0 && is_younger(&log, KEPT));
        let is_kept = name.ends_with(".log") && is_new();
        if process.is_some_and(|process| !lives(process)) && !is_kept {
            let _ = std::fs::remove_file(file.path());
        }
    }
}

fn is_younger(file: &Metadata, age: Duration) -> bool {
    let modified = file.modified().ok();
    modified.is_some_and(|time| time.elapsed().is_ok_and(|elapsed| elapsed < age))
}

impl Drop for Notes {
    fn drop(&mut self) {
        let log = self.log_path();
        if log.metadata().is_ok_and(|log| log.len() == 0) {
            let _ = std::fs::remove_file(log);
        }
    }
}

fn answer(stream: &UnixStream, answers: &dyn Answers) {
    let answer = || -> Result<()> {
        stream.set_nonblocking(false)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line)?;
        let mut text = match serde_json::from_str(&line)? {
            MountQuestion::Status => serde_json::to_vec(&answers.status())?,
            MountQuestion::Flush => serde_json::to_vec(&answers.flush())?,
        };
        text.push(b'\n');
        let mut stream = stream;
        Ok(stream.write_all(&text)?)
    };
    if let Err(error) = answer() {
        tracing::debug!(%error, "a question was not answered");
    }
}
