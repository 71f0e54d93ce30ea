//! Which process is a head of a cluster: `heads/HEAD/running`. Two processes with one copied state directory would be one head to all
//! others, write one record of clients, and each believe that it serves what the other one serves.

use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::locks::Mutex;

use super::private_files::{is_full, is_unwritable, private_file};

pub(super) const NAME: &str = "running";

/// How long the record of another process must stay as it is to be that of a dead one: several beats.
const SILENCE: Duration = Duration::from_secs(4);

/// How often it is looked at meanwhile.
const LOOK: Duration = Duration::from_millis(100);

/// The record of this process, which it writes anew as long as it lives.
#[derive(Debug)]
pub struct HeadRun {
    path: PathBuf,
    process: Process,
    beats: AtomicU64,
    /// Why the last beat could not be written.
    unwritten: Mutex<Option<ErrorKind>>,
}

/// A process, as no other one is.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Process {
    /// The run of its host, and the namespace of its number.
    host: String,
    number: u32,
    /// When it began, in the host's clock ticks.
    began: u64,
}

/// Whether a process lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Life {
    Alive,
    Dead,
    /// It is of another host, or of an earlier run of this one.
    Unknown,
}

impl HeadRun {
    /// This process is the head from now on, whose directory this is.
    ///
    /// # Errors
    /// Another process that lives is the head, or its record cannot be read or written.
    pub fn begin(directory: &Path) -> io::Result<Self> {
        Self::begin_as(directory, Process::own()?, SILENCE)
    }

    fn begin_as(directory: &Path, process: Process, silence: Duration) -> io::Result<Self> {
        let run = Self {
            path: directory.join(NAME),
            process,
            beats: AtomicU64::new(0),
            unwritten: Mutex::default(),
        };
        let give_up = Instant::now() + silence;
        let found = run.read()?;
        while let Some(before) = run.read()? {
            let life = Process::parse(&before).map_or(Life::Dead, |process| process.life());
            if life == Life::Alive || Some(&before) != found.as_ref() {
                return Err(run.refusal());
            }
            if life == Life::Dead || Instant::now() >= give_up {
                break;
            }
            std::thread::sleep(LOOK);
        }
        // A head of which nothing can be written serves NFSv3 all the same; NFSv4 once it can.
        match run.note(run.write()) {
            Err(error) if !is_unwritable(&error) => Err(error),
            _ => Ok(run),
        }
    }

    /// This process still lives, and is the head.
    ///
    /// # Errors
    /// Another process has become the head, or it cannot be read or written.
    pub fn beat(&self) -> io::Result<()> {
        let found = self.read()?;
        if found.as_deref().and_then(Process::parse).is_some_and(|process| process != self.process) {
            return Err(self.refusal());
        }
        match self.note(self.write()) {
            Err(error) if !is_full(&error) => Err(error),
            _ => Ok(()),
        }
    }

    /// Whether the last beat was written.
    ///
    /// # Errors
    /// Why not.
    pub fn written(&self) -> io::Result<()> {
        self.unwritten.lock().map_or(Ok(()), |kind| Err(kind.into()))
    }

    /// On a full disk another process cannot become this head either, and once it can, this one reads of it. Viewers of the
    /// cluster see this head as silent.
    fn note(&self, written: io::Result<()>) -> io::Result<()> {
        *self.unwritten.lock() = written.as_ref().err().map(io::Error::kind);
        written
    }

    fn read(&self) -> io::Result<Option<String>> {
        match fs::read_to_string(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            text => text.map(Some),
        }
    }

    /// Not made durable: after a crash of the host nobody lives.
    fn write(&self) -> io::Result<()> {
        let Process { host, number, began } = &self.process;
        let new = self.path.with_extension(number.to_string());
        let beat = self.beats.fetch_add(1, Ordering::Relaxed);
        writeln!(private_file(&new)?, "{host} {number} {began} {beat}")?;
        fs::rename(new, &self.path)
    }

    fn refusal(&self) -> io::Error {
        let what = format!(
            "another howdah that runs has the identity of this head ({}): the state directory was copied. Give each head its own, empty at \
             its first start",
            self.path.display()
        );
        io::Error::new(ErrorKind::AlreadyExists, what)
    }
}

impl Drop for HeadRun {
    fn drop(&mut self) {
        // Else the next start finds out that this process is dead.
        if self.read().ok().flatten().as_deref().and_then(Process::parse).as_ref() == Some(&self.process) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

impl Process {
    fn own() -> io::Result<Self> {
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id")?;
        let space = fs::read_link("/proc/self/ns/pid")?;
        let number = std::process::id();
        let began = began(number).ok_or_else(|| io::Error::other("/proc does not show this process"))?;
        Ok(Self { host: format!("{}/{}", boot.trim(), space.display()), number, began })
    }

    fn parse(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace();
        let host = words.next()?.to_owned();
        Some(Self { host, number: words.next()?.parse().ok()?, began: words.next()?.parse().ok()? })
    }

    fn life(&self) -> Life {
        match Self::own() {
            Ok(own) if own.host == self.host => {
                let is_alive = own != *self && began(self.number) == Some(self.began);
                if is_alive { Life::Alive } else { Life::Dead }
            }
            _ => Life::Unknown,
        }
    }
}

/// When a process of this host began; `None` if there is none.
fn began(process: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name in parentheses may hold spaces and parentheses (proc_pid_stat(5)).
    let (_, fields) = text.rsplit_once(')')?;
    // A zombie serves nobody.
    let mut fields = fields.split_whitespace();
    if matches!(fields.next()?, "Z" | "X") {
        return None;
    }
    fields.nth(18)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO_TIME: Duration = Duration::ZERO;
    const LONG: Duration = Duration::from_secs(3_600);

    fn elsewhere(number: u32) -> Process {
        Process { host: "another/host".into(), number, began: 5 }
    }

    #[test]
    fn a_head_that_ended_or_fell_silent_is_followed() {
        let home = tempfile::tempdir().expect("a directory");
        drop(HeadRun::begin(home.path()).expect("it is the first"));
        assert!(!home.path().join(NAME).exists());
        std::mem::forget(HeadRun::begin_as(home.path(), elsewhere(1), LONG).expect("nobody was there"));
        let next = HeadRun::begin_as(home.path(), elsewhere(2), NO_TIME).expect("that one is silent");
        next.beat().expect("it is the head");
    }

    #[test]
    fn a_full_disk_takes_the_head_from_nobody() {
        let home = tempfile::tempdir().expect("a directory");
        let run = HeadRun::begin_as(home.path(), elsewhere(1), LONG).expect("nobody was there");
        let _ = run.note(Err(ErrorKind::StorageFull.into()));
        assert!(run.written().is_err());
        run.beat().expect("there is room again");
        run.written().expect("it was written");
        // The records of one whose file system became read-only may be old.
        fs::create_dir(home.path().join("running.1")).expect("in the way");
        assert!(run.beat().is_err());
    }

    #[test]
    fn a_process_of_this_host_is_looked_for() {
        let home = tempfile::tempdir().expect("a directory");
        let mut child = std::process::Command::new("sleep").arg("3600").spawn().expect("it starts");
        let number = child.id();
        let process =
            Process { number, began: began(number).expect("it runs"), ..Process::own().expect("own") };
        std::mem::forget(HeadRun::begin_as(home.path(), process, LONG).expect("nobody was there"));
        let refused = HeadRun::begin(home.path()).expect_err("it runs");
        assert!(refused.to_string().contains("the state directory was copied"), "{refused}");
        child.kill().expect("killed");
        child.wait().expect("gone");
        HeadRun::begin_as(home.path(), Process::own().expect("own"), LONG).expect("at once");
    }

    #[test]
    fn a_copy_elsewhere_is_noticed_by_both() {
        let home = tempfile::tempdir().expect("a directory");
        let first = HeadRun::begin_as(home.path(), elsewhere(1), LONG).expect("nobody was there");
        std::thread::scope(|scope| {
            let second = scope.spawn(|| HeadRun::begin_as(home.path(), elsewhere(2), LONG).map(drop));
            while !second.is_finished() {
                first.beat().expect("it is the head");
                std::thread::yield_now();
            }
            assert!(second.join().expect("it ends").is_err());
        });
        // One that was silent for too long.
        let second = HeadRun::begin_as(home.path(), elsewhere(2), NO_TIME).expect("it was silent");
        assert!(first.beat().is_err());
        drop(first);
        second.beat().expect("the record is its own");
    }
}
