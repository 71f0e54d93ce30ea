//! `howdah lab shell` on a terminal, as a person has it; script(1), of the package bsdutils, is the terminal.

use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};

use crate::laboratory::Laboratory;

/// A terminal on which it runs.
pub struct Terminal {
    child: Child,
    said: String,
}

impl Terminal {
    /// With these arguments, as a shell reads them.
    pub fn start(laboratory: &Laboratory, arguments: &[&str]) -> Self {
        let shell = laboratory.shell(arguments);
        let words = shell.get_args().map(|word| word.to_string_lossy().into_owned());
        let words: Vec<String> = words.collect();
        // script(1) drops what it has not read when its command ends, so that the command ends a little later than howdah.
        let command =
            format!("{} {}; code=$?; sleep 0.5; exit $code", shell.get_program().display(), words.join(" "));
        // What hangs ends, so that the test fails.
        let mut script = Command::new("timeout");
        script.args([
            "--kill-after=5",
            "60",
            "script",
            "--quiet",
            "--return",
            "--command",
            &command,
            "/dev/null",
        ]);
        script.envs(shell.get_envs().filter_map(|(name, value)| Some((name, value?))));
        script.env("SHELL", "/bin/bash").env("HOME", laboratory.directory()).env("HISTFILE", "");
        script.stdin(Stdio::piped()).stdout(Stdio::piped());
        let child = script.spawn().expect("script, of the package bsdutils");
        Self { child, said: String::new() }
    }

    /// Types something.
    pub fn enter(&mut self, keys: &str) {
        self.child.stdin.as_mut().expect("a pipe").write_all(keys.as_bytes()).expect("typing");
    }

    /// Reads until it says this.
    pub fn wait_for(&mut self, word: &str) {
        let mut buffer = [0; 1024];
        while !self.said.contains(word) {
            let length = self.child.stdout.as_mut().expect("a pipe").read(&mut buffer).expect("reading");
            assert!(length > 0, "it ended: {}", self.said);
            self.said.push_str(&String::from_utf8_lossy(&buffer[..length]));
        }
    }

    /// Reads until it ends; gives its code and all that it said.
    pub fn end(mut self) -> (Option<i32>, String) {
        let mut rest = Vec::new();
        self.child.stdout.as_mut().expect("a pipe").read_to_end(&mut rest).expect("reading");
        self.said.push_str(&String::from_utf8_lossy(&rest));
        (self.child.wait().expect("its end").code(), self.said)
    }
}
