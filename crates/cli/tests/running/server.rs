//! A howdah that runs for a test and is gone with it.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::str::FromStr;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// The program under test.
pub const HOWDAH: &str = env!("CARGO_BIN_EXE_howdah");

/// How long a line of the log is waited for: a test whose line never comes must fail, not hang.
const PATIENCE: Duration = Duration::from_secs(120);

/// A running server.
pub struct Server {
    child: Child,
    /// Lines of its log, until it ends.
    log: Mutex<Receiver<String>>,
    /// What it printed when it was ready.
    pub screen: String,
}

/// `howdah serve` with its state in `home` and a log that tests can read.
pub fn serve(home: &Path) -> Command {
    let mut command = Command::new(HOWDAH);
    command.arg("serve").arg("--state").arg(home.join("state")).args(["--rpcbind", "off", "--log", "info"]);
    command
}

impl Server {
    /// Starts it and waits until it says that it is ready.
    pub fn start(command: &mut Command) -> Self {
        let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("howdah starts");
        let output = child.stdout.take().expect("piped");
        let errors = BufReader::new(child.stderr.take().expect("piped"));
        let (lines, log) = channel();
        thread::spawn(move || {
            // It reads on when nobody listens any more: a server must not wait for its log.
            errors.lines().map_while(Result::ok).for_each(|line| drop(lines.send(line)));
        });
        let mut screen = String::new();
        for line in BufReader::new(output).lines() {
            let line = line.expect("text");
            screen.push_str(&line);
            screen.push('\n');
            if line.starts_with("Stop: ") {
                return Self { child, log: Mutex::new(log), screen };
            }
        }
        let why: Vec<String> = log.iter().collect();
        let _ = child.wait();
        panic!("howdah ended before it was ready; it printed\n{screen}and said\n{}", why.join("\n"));
    }

    /// Waits for a line of the log that holds this text.
    #[allow(dead_code, reason = "not every test waits for one")]
    pub fn log_line(&mut self, text: &str) -> String {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let log = self.log.get_mut().expect("no test panicked with it");
            match log.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(line) if line.contains(text) => return line,
                Ok(_) => {}
                Err(RecvTimeoutError::Disconnected) => panic!("howdah ended and never said {text:?}"),
                Err(RecvTimeoutError::Timeout) => panic!("howdah has not said {text:?} within {PATIENCE:?}"),
            }
        }
    }

    /// All that is left of the log of one that ends.
    #[allow(dead_code, reason = "not every test reads it")]
    pub fn log_to_the_end(&mut self) -> Vec<String> {
        self.log.get_mut().expect("no test panicked with it").iter().collect()
    }

    /// Its process.
    #[allow(dead_code, reason = "not every test asks")]
    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal.
    #[allow(dead_code, reason = "not every test sends one")]
    pub fn signal(&self, signal: Signal) {
        let id = Pid::from_raw(i32::try_from(self.child.id()).expect("an id")).expect("not 0");
        kill_process(id, signal).expect("it lives");
    }

    /// Stops it until it gets SIGCONT, and waits until all its threads have stopped.
    #[allow(dead_code, reason = "not every test stops one")]
    pub fn freeze(&self) {
        self.signal(Signal::STOP);
        let tasks = format!("/proc/{}/task", self.child.id());
        let has_stopped = |task: std::io::Result<std::fs::DirEntry>| {
            let stat = std::fs::read_to_string(task.expect("listed").path().join("stat")).unwrap_or_default();
            stat.rsplit_once(')').is_none_or(|(_, rest)| rest.trim_start().starts_with('T'))
        };
        while !std::fs::read_dir(&tasks).expect("listed").all(has_stopped) {
            std::thread::yield_now();
        }
    }

    /// Waits for its end.
    #[allow(dead_code, reason = "not every test ends it")]
    pub fn end(&mut self) -> ExitStatus {
        self.child.wait().expect("it ends")
    }

    /// The address in the mount command for Linux over NFSv3, which names the port in any case.
    pub fn address(&self) -> SocketAddr {
        let line = self
            .screen
            .lines()
            .find(|line| line.trim_start().starts_with("Linux, NFSv3"))
            .expect("a mount command");
        let port = after(line, ",port=").split(',').next().expect("a port");
        let host =
            line.split_whitespace().rev().nth(1).expect("a target").rsplit_once(':').expect("a colon").0;
        SocketAddr::from_str(&format!("{host}:{port}")).expect("an address")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn after<'t>(text: &'t str, mark: &str) -> &'t str {
    text.split_once(mark).unwrap_or_else(|| panic!("{mark} in {text}")).1
}

/// Runs a command to its end: exit code, output, errors.
pub fn run(command: &mut Command) -> (Option<i32>, String, String) {
    let output = command.output().expect("it runs");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// A directory to serve, with a file in it, inside a new home.
pub fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().expect("a directory");
    fs::create_dir(home.path().join("data")).expect("made");
    fs::write(home.path().join("data/file"), "hello").expect("written");
    home
}

/// A directory for a cache: in memory where the disk of this machine is too full for one.
#[allow(dead_code, reason = "not every test has a cache")]
pub fn cache_home() -> tempfile::TempDir {
    let disk = rustix::fs::statvfs(std::env::temp_dir()).expect("statvfs");
    match disk.f_bavail < disk.f_blocks / 5 {
        true => tempfile::tempdir_in("/dev/shm"),
        false => tempfile::tempdir(),
    }
    .expect("a directory")
}
