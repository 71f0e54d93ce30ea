//! What tests need of a machine. A test that does not get it is skipped and says so: `cargo xtask test` counts these lines. Where
//! the machine is known to have it (`HOWDAH_TESTS_HAVE`, which `.ci/run` sets), such a test fails.

use std::fmt::Display;

/// Names what the machine has, by the words of [`Lack`], with commas between them: no test may be skipped for want of that.
pub const HAVE: &str = "HOWDAH_TESTS_HAVE";

/// What a machine may lack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lack {
    /// Its user is not root (`root`).
    Root,
    /// Namespaces cannot be made (`namespaces`).
    Namespaces,
    /// `/dev/fuse` cannot be used (`fuse`).
    Fuse,
    /// A program that is not part of every system is not installed (`programs`).
    Program,
    /// The kernel does not do it, or not for this user (`kernel`).
    Kernel,
}

impl Lack {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Root => "root",
            Self::Namespaces => "namespaces",
            Self::Fuse => "fuse",
            Self::Program => "programs",
            Self::Kernel => "kernel",
        }
    }
}

/// The test that calls this, or a part of it, does not run, since this machine lacks that.
///
/// # Panics
/// The machine is said to have it.
#[track_caller]
#[allow(clippy::print_stdout, reason = "a test that is skipped says so")]
pub fn skipped(lack: Lack, why: impl Display) {
    let have = std::env::var(HAVE).unwrap_or_default();
    assert!(!must_run(&have, lack), "{} must not be skipped here ({HAVE}={have}): {why}", lack.word());
    println!("skipped: {why}");
}

fn must_run(have: &str, lack: Lack) -> bool {
    have.split(',').any(|word| word.trim() == lack.word())
}

#[test]
fn what_the_machine_has_is_no_reason_to_skip() {
    assert!(must_run("root, fuse", Lack::Root) && must_run("root, fuse", Lack::Fuse));
    assert!(!must_run("root, fuse", Lack::Program) && !must_run("", Lack::Root));
}
