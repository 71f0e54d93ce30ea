//! A guest that runs what it is sent: boots, runs scripts one after the other, halts. Commands reach it through its serial
//! line, so that both sides wait for words and never look again and again.

use std::fs::{self, File};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process_group};

use super::kernel::Kernel;
use super::line::{Ended, Said, parse};
use super::share::GuestShare;

/// A guest that has not booted after this long will not: it takes two seconds where nothing else runs.
const BOOT: Duration = Duration::from_secs(90);
/// Nor will one halt that has not within this time; it is killed then.
const HALT: Duration = Duration::from_secs(10);
/// The first script that a share of its own needs: the values of `job.env` say so.
pub const MAIN: (&str, &str) = ("MAIN", "session.sh");

/// A guest that has booted. It is killed, with all of its processes, when this goes.
#[derive(Debug)]
pub struct GuestSession {
    kernel: Child,
    input: ChildStdin,
    output: ChildStdout,
    /// What was read and is no whole line yet.
    unread: Vec<u8>,
    share: GuestShare,
    scripts: u32,
    /// What the host's clock and the guest's showed at the same moment, after it had booted.
    booted: (Instant, Duration),
}

/// What a script did.
#[derive(Debug, Clone, PartialEq)]
pub struct GuestRan {
    /// How it ended, and what it took by the guest's clock.
    pub ended: Ended,
    /// What it took by the host's clock, the exchange over the serial line included.
    pub host_time: Duration,
    /// Seconds of the guest's clock in one of the host's, since it booted: 1, or the guest's clock went wrong.
    pub clock: f64,
    /// What it said.
    pub output: String,
}

impl GuestSession {
    /// Boots a guest. `command` starts the kernel's program where the guest shall be; the share's `job.env` is written,
    /// with [`MAIN`].
    pub fn boot(share: GuestShare, kernel: &Kernel, mut command: Command) -> Result<Self> {
        ensure!(kernel.serial_line, "a session needs the guest's serial line");
        let console = share.log("console.txt");
        let console = File::create(&console).with_context(|| format!("making {}", console.display()))?;
        kernel.configure(&mut command);
        let mut kernel = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(console)
            // Its helpers do not end with it; as a group they can be killed together.
            .process_group(0)
            .spawn()
            .context("starting the guest's kernel")?;
        let input = kernel.stdin.take().context("the guest's serial line")?;
        let output = kernel.stdout.take().context("the guest's serial line")?;
        let booted = (Instant::now(), Duration::ZERO);
        let mut session = Self { kernel, input, output, unread: Vec::new(), share, scripts: 0, booted };
        let give_up = Instant::now() + BOOT;
        loop {
            if let Said::Ready(clock) = session.next(give_up).context("booting a guest")? {
                session.booted = (Instant::now(), clock);
                return Ok(session);
            }
        }
    }

    /// The directory that it shares with the host.
    pub fn share(&self) -> &GuestShare {
        &self.share
    }

    /// An error if it ended by itself.
    pub fn check(&mut self) -> Result<()> {
        match self.kernel.try_wait().context("looking at a guest")? {
            None => Ok(()),
            Some(status) => bail!("the guest ended by itself, {status}; {}", last_words(&self.share)),
        }
    }

    /// Its process group: all of its processes on the host.
    pub fn group(&self) -> Pid {
        Pid::from_child(&self.kernel)
    }

    /// Runs a script (`sh -eu`) to its end; an error if it has not ended by then.
    pub fn run(&mut self, script: &str, give_up: Instant) -> Result<GuestRan> {
        let began = Instant::now();
        let number = self.start(script)?;
        let ended = self.wait(number, give_up)?;
        let (host, guest) = self.booted;
        let clock = ended.clock.1.saturating_sub(guest).as_secs_f64() / host.elapsed().as_secs_f64();
        Ok(GuestRan { ended, host_time: began.elapsed(), clock, output: self.output_of(number)? })
    }

    /// Runs a script that must succeed, and returns what it said.
    pub fn must(&mut self, script: &str, give_up: Instant) -> Result<String> {
        let ran = self.run(script, give_up)?;
        ensure!(ran.ended.code == 0, "{}", why(&ran));
        Ok(ran.output)
    }

    /// Starts a script and returns its number. One runs at a time.
    pub fn start(&mut self, script: &str) -> Result<u32> {
        self.scripts += 1;
        let number = self.scripts;
        self.share.write_script(&format!("{number}.sh"), script)?;
        writeln!(self.input, "run {number}").context("telling the guest what to run")?;
        Ok(number)
    }

    /// Waits for the end of the script of this number.
    pub fn wait(&mut self, number: u32, give_up: Instant) -> Result<Ended> {
        loop {
            if let Said::Ended(ended) = self.next(give_up)?
                && ended.number == number
            {
                return Ok(ended);
            }
        }
    }

    /// What a script has said, its errors too.
    pub fn output_of(&self, number: u32) -> Result<String> {
        let path = self.share.log(&format!("{number}.txt"));
        let bytes = fs::read(&path).with_context(|| format!("reading {}", path.display()))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Halts it and waits; kills it if it does not.
    pub fn halt(mut self) -> Result<()> {
        writeln!(self.input, "halt").context("telling the guest to halt")?;
        let give_up = Instant::now() + HALT;
        loop {
            match self.next_line(give_up)? {
                Some(_) => {}
                None => return Ok(()),
            }
        }
    }

    /// Waits for the next line of the guest; an error if it ended or said nothing until then.
    fn next(&mut self, give_up: Instant) -> Result<Said> {
        match self.next_line(give_up)? {
            Some(line) => Ok(parse(&line)),
            None => bail!("the guest ended by itself; {}", last_words(&self.share)),
        }
    }

    /// The next line, or none at the end.
    fn next_line(&mut self, give_up: Instant) -> Result<Option<String>> {
        loop {
            if let Some(end) = self.unread.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.unread.drain(..=end).collect();
                return Ok(Some(String::from_utf8_lossy(&line).into_owned()));
            }
            ensure!(
                self.readable(give_up)?,
                "the guest had not reported an end when its time was over; {}",
                last_words(&self.share)
            );
            let mut piece = [0; 512];
            match self.output.read(&mut piece) {
                Ok(0) => return Ok(None),
                Ok(length) => self.unread.extend_from_slice(&piece[..length]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error).context("reading from the guest"),
            }
        }
    }

    /// Waits until there is something to read, or until then.
    fn readable(&self, give_up: Instant) -> Result<bool> {
        loop {
            let left = give_up.saturating_duration_since(Instant::now());
            let left = Timespec::try_from(left).context("waiting for the guest")?;
            match poll(&mut [PollFd::new(&self.output, PollFlags::IN)], Some(&left)) {
                Ok(ready) => return Ok(ready > 0),
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error).context("waiting for the guest"),
            }
        }
    }
}

impl Drop for GuestSession {
    fn drop(&mut self) {
        // Nobody is left in it if the guest has halted; its kernel was not waited for, so the group is still its own.
        let _ = kill_process_group(self.group(), Signal::KILL);
        let _ = self.kernel.wait();
    }
}

/// Why a script failed: its last words.
pub fn why(ran: &GuestRan) -> String {
    let said = ran.output.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it said nothing");
    format!("a script in the guest ended with {}: {}", ran.ended.code, said.trim())
}

fn last_words(share: &GuestShare) -> String {
    let text = fs::read(share.log("console.txt")).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let line = text.lines().rev().find(|line| !line.trim().is_empty());
    format!("its console's last line: {}", line.unwrap_or("(empty)").trim())
}
