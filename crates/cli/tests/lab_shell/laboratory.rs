//! `howdah lab` as a program, and what there is of it: every process that it starts carries a mark.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// Longer than anything here takes, also on a busy machine.
pub const LIMIT: Duration = Duration::from_secs(60);
/// How often something is looked at that gives no event.
const LOOK: Duration = Duration::from_millis(10);

/// Runs `howdah lab`, with its temporary files in a directory of the test's own.
pub struct Laboratory {
    home: TempDir,
    mark: String,
    /// What everybody could see before.
    before: Traces,
    program: PathBuf,
    /// Words before the program, to be somebody else.
    prefix: Vec<String>,
}

/// What a network might leave where everybody sees it.
#[derive(Debug, PartialEq, Eq)]
struct Traces {
    interfaces: Vec<String>,
    namespaces: Vec<String>,
    mounts: Vec<String>,
}

impl Laboratory {
    /// As who we are.
    pub fn new(test: &str) -> Self {
        let home = tempfile::tempdir().expect("a directory");
        let mark = format!("HOWDAH_LAB_TEST={test}-{}", std::process::id());
        let program = PathBuf::from(env!("CARGO_BIN_EXE_howdah"));
        Self { home, mark, before: Traces::now(), program, prefix: Vec::new() }
    }

    /// As an ordinary user who may open /dev/net/tun or may not, which takes the superuser.
    pub fn of_nobody(test: &str, tun: &str) -> Self {
        let mut laboratory = Self::new(test);
        let home = laboratory.home.path();
        let copy = home.join("howdah");
        // By another process: what a test starts meanwhile would have our copy open for writing, and such a file does not run.
        let copied = Command::new("cp").arg(&laboratory.program).arg(&copy).status().expect("coreutils");
        assert!(copied.success());
        // A mount namespace in which that file has other rights; nobody else sees it.
        let script = format!(
            "mount -t tmpfs howdah /mnt && mknod -m {tun} /mnt/tun c 10 200 && mount --bind /mnt/tun /dev/net/tun && \
             exec setpriv --reuid=65534 --regid=65534 --clear-groups -- \"$@\""
        );
        laboratory.prefix =
            ["unshare", "--mount", "--", "sh", "-c", &script, "sh"].map(str::to_owned).to_vec();
        std::os::unix::fs::chown(home, Some(65534), Some(65534)).expect("giving nobody a home");
        laboratory.program = copy;
        laboratory
    }

    /// Why it cannot work for us here, if it cannot.
    pub fn why_not(&self) -> Option<String> {
        let output = self.output(&["--quiet", "--", "true"]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let reason = ["/dev/net/tun", "namespaces", "/proc"].iter().any(|thing| said.contains(thing));
        assert!(output.status.success() || reason, "{said}");
        (!output.status.success()).then_some(said)
    }

    /// `howdah lab shell` with these arguments.
    pub fn shell(&self, arguments: &[&str]) -> Command {
        self.lab(&[&["shell"], arguments].concat())
    }

    /// `howdah lab` with these arguments.
    pub fn lab(&self, arguments: &[&str]) -> Command {
        let mut command = match self.prefix.split_first() {
            Some((first, rest)) => {
                let mut command = Command::new(first);
                command.args(rest).arg(&self.program);
                command
            }
            None => Command::new(&self.program),
        };
        let (name, value) = self.mark.split_once('=').expect("a mark");
        command.arg("lab").args(arguments).env(name, value).env("TMPDIR", self.home.path());
        command.stdin(Stdio::null());
        command
    }

    /// Runs it to its end.
    pub fn output(&self, arguments: &[&str]) -> Output {
        end_of(&mut self.shell(arguments))
    }

    /// Starts it, and reads its standard output until a line of that beginning; gives the rest of the line.
    pub fn start(&self, arguments: &[&str], until: &str) -> (Child, String) {
        let mut child = self.shell(arguments).stdout(Stdio::piped()).spawn().expect("starting howdah");
        let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        let (tell, found) = channel();
        let beginning = until.to_owned();
        let find = move |line: String| line.strip_prefix(&beginning).map(str::to_owned);
        thread::spawn(move || tell.send(lines.map_while(Result::ok).find_map(find)));
        let Ok(Some(rest)) = found.recv_timeout(LIMIT) else {
            let _ = child.kill();
            panic!("it never said {until:?}: {:?}", child.wait());
        };
        (child, rest)
    }

    /// Where its temporary files are.
    pub fn directory(&self) -> &Path {
        self.home.path()
    }

    /// Its directories of runs.
    pub fn runs(&self) -> Vec<PathBuf> {
        let users = fs::read_dir(self.home.path()).expect("listing").flatten().map(|entry| entry.path());
        let users = users.filter(|path| path.file_name().is_some_and(|name| name != "howdah"));
        users
            .flat_map(|user| fs::read_dir(user).into_iter().flatten().flatten().map(|run| run.path()))
            .collect()
    }

    /// Its processes.
    pub fn processes(&self) -> Vec<String> {
        let all = fs::read_dir("/proc").expect("listing processes").flatten();
        let marked = all.filter(|entry| {
            let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|variable| variable == self.mark.as_bytes())
        });
        let described = marked.map(|entry| {
            let command = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            format!(
                "{} {}",
                entry.file_name().display(),
                String::from_utf8_lossy(&command).replace('\0', " ")
            )
        });
        described.collect()
    }

    /// Waits until it has no process any more.
    pub fn wait_for_its_end(&self) {
        let start = Instant::now();
        while !self.processes().is_empty() {
            assert!(start.elapsed() < LIMIT, "still there: {:?}", self.processes());
            thread::sleep(LOOK);
        }
    }

    /// Nothing is left: no process, so that no namespace is held by one; no interface, name or mount that others see; no file.
    pub fn assert_nothing_left(&self) {
        assert_eq!(self.processes(), Vec::<String>::new());
        assert_eq!(Traces::now(), self.before);
        let mut files: Vec<_> =
            fs::read_dir(self.home.path()).expect("listing").flatten().map(|file| file.path()).collect();
        files.retain(|file| *file != self.program);
        assert_eq!(files, Vec::<PathBuf>::new());
    }
}

impl Traces {
    fn now() -> Self {
        let list = |directory: &str| {
            let names = fs::read_dir(directory).into_iter().flatten().flatten();
            names.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect::<Vec<_>>()
        };
        let mut interfaces = list("/sys/class/net");
        // Others may come and go meanwhile; ours have this name, and hosts have these.
        interfaces.retain(|name| name.starts_with("path"));
        let mut namespaces = list("/run/netns");
        namespaces.retain(|name| ["client", "server"].contains(&name.as_str()));
        let mounts = fs::read_to_string("/proc/self/mountinfo").expect("reading mounts");
        let ours = |line: &&str| {
            line.contains("netns") || line.contains("/etc/hosts") || line.contains("howdah-lab")
        };
        let mounts = mounts.lines().filter(ours).map(str::to_owned).collect();
        Self { interfaces, namespaces, mounts }
    }
}

/// Runs a command to its end, within the limit. What it says is less than a pipe holds.
pub fn end_of(command: &mut Command) -> Output {
    let started = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = started.expect("starting howdah");
    ended(&mut child);
    child.wait_with_output().expect("what it said")
}

/// Waits for its end.
pub fn ended(child: &mut Child) -> ExitStatus {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().expect("waiting") {
            return status;
        }
        if start.elapsed() > LIMIT {
            let _ = child.kill();
            panic!("process {} did not end", child.id());
        }
        thread::sleep(LOOK);
    }
}
