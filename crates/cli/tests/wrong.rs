//! Wrong commands, as people type them: each answer names what failed, why and what to do, in two lines at most, without a word of
//! the program's inside. The cases are data in `tests/wrong/commands.txt`.

#[path = "running/server.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod server;
#[path = "wrong/world.rs"]
mod world;

use std::collections::VecDeque;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;

use server::{HOWDAH, run};
use world::World;

/// Words of Rust, of the system and of libraries that no user should read.
const FORBIDDEN: [&str; 22] = [
    "os error",
    "invalid type",
    "invalid value",
    "unknown field",
    "unknown variant",
    "missing field",
    "expected one of `",
    "untagged enum",
    "struct ",
    "invalid digit",
    "in string",
    "is not in ",
    "..=",
    "unexpected argument",
    "the following required",
    "For more information",
    "panicked",
    "RUST_BACKTRACE",
    "utf-8 sequence",
    "expected value at",
    "Err(",
    "Some(",
];

/// Commands that run at once.
const AT_ONCE: usize = 4;

/// One line of the table.
struct Case {
    /// The exit code.
    code: i32,
    /// Only root is refused so.
    needs_root: bool,
    command: String,
    /// What the answer holds.
    parts: Vec<String>,
}

impl Case {
    /// `CODE[r] COMMAND => PART | PART`, with the world's names in braces.
    fn parse(line: &str, world: &World) -> Self {
        let (typed, parts) = line.split_once(" => ").unwrap_or_else(|| panic!("no => in {line}"));
        let (code, command) = typed.split_once(' ').expect("a code and a command");
        let digits = code.trim_end_matches('r');
        Self {
            code: digits.parse().expect("an exit code"),
            needs_root: digits != code,
            command: world.named(command),
            parts: world.named(parts).split(" | ").map(str::to_owned).collect(),
        }
    }

    /// What is wrong with the answer.
    fn complaint(&self) -> Option<String> {
        let words = self.command.split(' ').filter(|word| !word.is_empty());
        let mut command = Command::new(HOWDAH);
        command.args(words).env("COLUMNS", "100").stdin(Stdio::null());
        let (code, output, errors) = run(&mut command);
        // Where something stands in a file is shown besides.
        let lines: Vec<_> = errors.lines().filter(|line| !is_excerpt(line)).collect();
        let mut wrong = Vec::new();
        if code != Some(self.code) {
            wrong.push(format!("exit code {code:?}, not {}", self.code));
        }
        if lines.is_empty() || lines.len() > 2 {
            wrong.push(format!("{} lines, not 1 or 2", lines.len()));
        }
        let missing = self.parts.iter().filter(|part| !errors.contains(part.as_str()));
        wrong.extend(missing.map(|part| format!("\"{part}\" is missing")));
        let inside = FORBIDDEN.iter().filter(|word| errors.contains(**word));
        wrong.extend(inside.map(|word| format!("\"{word}\" is no word for users")));
        let transcript = || format!("$ howdah {}\n{output}{errors}  -> {}\n", self.command, wrong.join("; "));
        (!wrong.is_empty()).then(transcript)
    }
}

/// A line that shows a place in a file, or marks it.
fn is_excerpt(line: &str) -> bool {
    let start = line.trim_start_matches(|letter: char| letter == ' ' || letter.is_ascii_digit());
    line.starts_with(' ') && start.starts_with('|')
}

#[test]
fn a_hundred_wrong_commands_are_answered_in_two_lines() {
    let world = World::new();
    let lines =
        include_str!("wrong/commands.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let is_root = rustix::process::geteuid().is_root();
    let cases = lines.map(|line| Case::parse(line, &world)).filter(|case| is_root || !case.needs_root);
    let left: Mutex<VecDeque<Case>> = Mutex::new(cases.collect());
    let count = left.lock().expect("not poisoned").len();
    assert!(count >= 100, "only {count} commands");
    let wrong = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(case) = { left.lock().expect("not poisoned").pop_front() } {
                    wrong.lock().expect("not poisoned").extend(case.complaint());
                }
            });
        }
    });
    let wrong = wrong.into_inner().expect("not poisoned");
    assert!(wrong.is_empty(), "{} of {count} commands:\n\n{}", wrong.len(), wrong.join("\n"));
}
