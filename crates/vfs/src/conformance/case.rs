//! One case of the suite: its name, what it needs, and how it is run.

use std::fmt;

use super::bench::Bench;
use super::verdict::{Problem, Verdict};
use super::{ActsAs, Subject};

/// What a case needs of its subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaseNeed {
    /// Acts as the caller.
    ActsAsCaller,
    /// The main caller is the superuser.
    Superuser,
    /// Makes device nodes.
    DeviceNodes,
    /// Stores holes as holes.
    SparseFiles,
    /// Any bytes in names.
    AnyBytesInNames,
    /// Has calls on ranges of files.
    Ranges,
    /// Has extended attributes.
    Xattrs,
}

impl CaseNeed {
    /// Why this subject does not do, if so.
    pub fn missing(self, subject: &Subject) -> Option<&'static str> {
        let Subject { fs, abilities, .. } = subject;
        let superuser = match &abilities.acts_as {
            ActsAs::Caller => true,
            ActsAs::Always(caller) => caller.user == 0,
        };
        let (there, reason) = match self {
            Self::ActsAsCaller => (abilities.acts_as == ActsAs::Caller, "it cannot act as other users"),
            Self::Superuser => (superuser, "it does not act as the superuser"),
            Self::DeviceNodes => (abilities.device_nodes && superuser, "it cannot make device nodes"),
            Self::SparseFiles => (abilities.sparse_files, "it stores holes as data"),
            Self::AnyBytesInNames => (abilities.any_bytes_in_names, "it restricts the bytes of names"),
            Self::Ranges => (fs.ranges().is_some(), "it has no calls on ranges of files"),
            Self::Xattrs => (fs.xattrs().is_some(), "it has no extended attributes"),
        };
        (!there).then_some(reason)
    }
}

/// One case.
#[derive(Clone, Copy)]
pub struct Case {
    /// What it is about.
    pub topic: &'static str,
    /// What it claims.
    pub name: &'static str,
    /// What the subject must be able to do.
    pub needs: &'static [CaseNeed],
    pub(super) check: fn(&Bench<'_>) -> Verdict,
}

/// How a case ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// As it should.
    Passed,
    /// The subject did something else; with where the case expected what.
    Failed(String),
    /// The subject cannot do what the case needs; with the reason.
    Skipped(String),
}

impl Case {
    /// Runs the case on a subject.
    pub fn run(&self, subject: &Subject) -> Outcome {
        if let Some(reason) = self.needs.iter().find_map(|need| need.missing(subject)) {
            return Outcome::Skipped(reason.to_owned());
        }
        match Bench::new(subject).and_then(|bench| (self.check)(&bench)) {
            Ok(()) => Outcome::Passed,
            Err(Problem(what)) => Outcome::Failed(what),
        }
    }
}

impl fmt::Display for Case {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.topic, self.name)
    }
}

impl fmt::Debug for Case {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}
