//! A howdah that measures, while a test watches it.

use std::io::{BufRead, BufReader, Lines, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};
use std::thread::JoinHandle;
use std::{fs, thread};

use rustix::process::{Pid, Signal, kill_process};

use super::server::HOWDAH;

/// A running measurement.
pub struct Bench {
    child: Child,
    output: Option<JoinHandle<String>>,
    errors: Lines<BufReader<ChildStderr>>,
}

impl Bench {
    /// Starts it.
    pub fn start(arguments: &[&str]) -> Self {
        let mut command = Command::new(HOWDAH);
        command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("howdah starts");
        let output = child.stdout.take().expect("piped");
        let errors = BufReader::new(child.stderr.take().expect("piped")).lines();
        Self { child, output: Some(thread::spawn(move || read_all(output))), errors }
    }

    /// Waits until it says that it is at something.
    pub fn progress(&mut self, wanted: impl Fn(&str) -> bool) -> String {
        let mut said = Vec::new();
        let line = self.next_line(|line| {
            said.push(line.to_owned());
            wanted(line)
        });
        line.unwrap_or_else(|| panic!("it ended, and said only\n{}", said.join("\n")))
    }

    /// The next line of this kind; none if it has ended.
    pub fn next_line(&mut self, mut wanted: impl FnMut(&str) -> bool) -> Option<String> {
        self.errors.by_ref().map(|line| line.expect("text")).find(|line| wanted(line))
    }

    /// Sends a signal.
    pub fn signal(&self, signal: Signal) {
        let id = Pid::from_raw(i32::try_from(self.child.id()).expect("an id")).expect("not 0");
        kill_process(id, signal).expect("it lives");
    }

    /// Waits for its end: exit code, output, and what else it said.
    pub fn end(mut self) -> (Option<i32>, String, String) {
        let errors: Vec<String> = self.errors.by_ref().map(|line| line.expect("text")).collect();
        let output = self.output.take().expect("asked once").join().expect("read");
        let status = self.child.wait().expect("it ends");
        (status.code(), output, errors.join("\n"))
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read_all(mut output: ChildStdout) -> String {
    let mut text = String::new();
    output.read_to_string(&mut text).expect("text");
    text
}

/// Makes a directory that everybody may write to, if it is not there.
pub fn open_to_all(directory: &Path) {
    fs::create_dir_all(directory).expect("made");
    fs::set_permissions(directory, fs::Permissions::from_mode(0o777)).expect("set");
}
