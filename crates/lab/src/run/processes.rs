//! Programs that a cell runs: each in a process group of its own, with what it says in a file, ended at the latest when the
//! cell is.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

use super::Stop;

/// Last lines of a log that show why a program failed.
const TOLD_LINES: usize = 6;

/// How long a program has to end once it was asked to, before it is killed.
const GRACE: Duration = Duration::from_secs(5);

/// A program that runs. Dropped, it is killed with all that it started.
#[derive(Debug)]
pub struct Running {
    name: String,
    child: Child,
    group: Pid,
    log: PathBuf,
    stop: Stop,
    ended: Option<ExitStatus>,
}

/// A program that ended.
#[derive(Debug, Clone)]
pub struct ProcessRan {
    /// What it wrote to standard output.
    pub output: String,
}

impl Running {
    /// Starts it; standard output and standard error go to `LOGS/NAME.log`.
    pub fn start(name: &str, command: &mut Command, logs: &Path, stop: &Stop) -> Result<Self> {
        let log = logs.join(format!("{name}.log"));
        let file = File::create(&log).with_context(|| format!("making {}", log.display()))?;
        let output = file.try_clone().context("a log for both outputs")?;
        command.stdin(Stdio::null()).stdout(output).stderr(file);
        Self::spawn(name, command, log, stop)
    }

    /// The same, and waits until it says a line in which `mark` is.
    pub fn start_until(
        name: &str,
        command: &mut Command,
        logs: &Path,
        stop: &Stop,
        mark: &'static str,
        deadline: Instant,
    ) -> Result<Self> {
        let log = logs.join(format!("{name}.log"));
        let file = File::create(&log).with_context(|| format!("making {}", log.display()))?;
        let errors = file.try_clone().context("a log for both outputs")?;
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(errors);
        let mut running = Self::spawn(name, command, log, stop)?;
        let said = running.child.stdout.take().context("a piped output")?;
        let ready = follow(said, file, mark)?;
        match ready.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(()) => Ok(running),
            Err(RecvTimeoutError::Timeout) => {
                bail!("{name} did not say \"{mark}\" in time{}", running.last_words())
            }
            Err(RecvTimeoutError::Disconnected) => {
                bail!("{name} ended before it was ready{}", running.last_words())
            }
        }
    }

    fn spawn(name: &str, command: &mut Command, log: PathBuf, stop: &Stop) -> Result<Self> {
        use std::os::unix::process::CommandExt;
        if stop.is_asked() {
            bail!("interrupted");
        }
        let program = command.get_program().to_string_lossy().into_owned();
        let child = command.process_group(0).spawn().with_context(|| format!("starting {program}"))?;
        let group = Pid::from_child(&child);
        stop.add(group);
        Ok(Self { name: name.to_owned(), child, group, log, stop: stop.clone(), ended: None })
    }

    /// Its process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits for its end, at most until the deadline, when it is killed.
    pub fn wait(&mut self, deadline: Instant) -> Result<ExitStatus> {
        if !self.ends_by(deadline)? {
            self.end();
            bail!("{} took longer than the cell may{}", self.name, self.last_words());
        }
        self.reap()
    }

    /// Whether it goes on, as a server should.
    pub fn check(&mut self) -> Result<()> {
        if self.ends_by(Instant::now())? {
            let status = self.reap()?;
            bail!("{} ended by itself, {status}{}", self.name, self.last_words());
        }
        Ok(())
    }

    /// Kills it, with all that it started.
    pub fn kill(&mut self) {
        if self.ended.is_none() {
            let _ = kill_process_group(self.group, Signal::KILL);
            let _ = self.reap();
        }
    }

    /// Asks it to end, waits, and kills it if it does not.
    pub fn end(&mut self) {
        if self.ended.is_some() {
            return;
        }
        let _ = kill_process_group(self.group, Signal::TERM);
        if !self.ends_by(Instant::now() + GRACE).unwrap_or(false) {
            let _ = kill_process_group(self.group, Signal::KILL);
        }
        let _ = self.reap();
    }

    /// The last lines that it said, to follow a sentence.
    pub fn last_words(&self) -> String {
        let text = fs::read(&self.log).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        let last = &lines[lines.len().saturating_sub(TOLD_LINES)..];
        if last.is_empty() {
            "; it said nothing".to_owned()
        } else {
            format!("; it said: {}", last.join(" | "))
        }
    }

    /// Whether it has ended by then. It stays a child that was not waited for.
    fn ends_by(&self, deadline: Instant) -> Result<bool> {
        if self.ended.is_some() {
            return Ok(true);
        }
        let pidfd = pidfd_open(self.group, PidfdFlags::empty()).context("opening a process")?;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let left = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: i64::from(left.subsec_nanos()) };
            match poll(&mut [PollFd::new(&pidfd, PollFlags::IN)], Some(&left)) {
                Ok(ready) => return Ok(ready > 0),
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error).context("waiting for a process"),
            }
        }
    }

    fn reap(&mut self) -> Result<ExitStatus> {
        if let Some(status) = self.ended {
            return Ok(status);
        }
        // What it started and left behind goes with it, while the group's id is still its own.
        let _ = kill_process_group(self.group, Signal::KILL);
        self.stop.remove(self.group);
        let status = self.child.wait().context("waiting for a process")?;
        self.ended = Some(status);
        Ok(status)
    }

    /// What it wrote so far.
    pub fn output(&self) -> String {
        String::from_utf8_lossy(&fs::read(&self.log).unwrap_or_default()).into_owned()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
    }
}

/// Copies what a program says to its log, and signals when the mark came by. The thread ends with the program's output.
fn follow(said: ChildStdout, mut log: File, mark: &'static str) -> Result<Receiver<()>> {
    let (ready, receiver) = channel();
    let copy = move || copy_lines(said, &mut log, mark, ready);
    thread::Builder::new().name("log".to_owned()).spawn(copy).context("starting a thread")?;
    Ok(receiver)
}

fn copy_lines(said: ChildStdout, log: &mut File, mark: &str, ready: Sender<()>) {
    let mut ready = Some(ready);
    for line in BufReader::new(said).split(b'\n').map_while(Result::ok) {
        let _ = log.write_all(&line).and_then(|()| log.write_all(b"\n"));
        if String::from_utf8_lossy(&line).contains(mark)
            && let Some(ready) = ready.take()
        {
            let _ = ready.send(());
        }
    }
}
