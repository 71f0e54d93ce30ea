//! Programs on a mount of any kind: dd, `ls -lR`, `git status`, programs that make or remove many names, or `howdah bench`.

use anyhow::{Context, Result, bail, ensure};

use super::contract::spec;
use super::file;
use super::names::{NamesKind, NamesWork};
use super::on_mount::RanOnMount;
use super::streaming::{StreamDirection, Streaming};
use super::walk::{Walk, WalkKind};
use crate::plan::{Cell, ServerKind};
use crate::record::{CommandRecord, unit};
use crate::run::{Measured, Place};

/// What dd moves at once, if the plan does not say.
const USUAL_RECORD: u64 = 1 << 20;
/// The flags of a stream. `--warm-up` is how much it moves before the time counts, of another file.
const STREAM_FLAGS: [&str; 3] = ["--size", "--record", "--warm-up"];
/// The flags of a walk. It is warmed up by reading a file.
const WALK_FLAGS: [&str; 2] = ["--files", "--warm-up"];

/// What a client does on its mount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MountWork {
    /// One stream of dd: `write`, `read`.
    Stream(Streaming),
    /// `ls -lR` of a tree, or `git status`: `list`, `status`.
    Walk(Walk),
    /// Many names made or removed: `untar`, `clone`, `init`, `rsync`, `remove`, `temporaries`.
    Names(NamesWork),
    /// Every other workload.
    Bench,
}

impl MountWork {
    /// What a client's workload and options say.
    pub fn of(cell: &Cell, place: &Place, name: &str) -> Result<Self> {
        let client = spec(cell, name)?;
        let workload = client.workload.as_deref().unwrap_or_default();
        let direction = match workload {
            "write" => Some(StreamDirection::Write),
            "read" => Some(StreamDirection::Read),
            _ => None,
        };
        let walk = match workload {
            "list" => Some(WalkKind::List),
            "status" => Some(WalkKind::Status),
            _ => None,
        };
        let names = NamesKind::of(workload);
        if direction.is_none() && walk.is_none() && names.is_none() {
            return Ok(Self::Bench);
        }
        let (flags, what): (&[&str], _) = match (direction, names) {
            (Some(_), _) => (&STREAM_FLAGS, "one stream of a mount"),
            (None, Some(NamesKind::Init)) => (&WALK_FLAGS[1..], "git init on a mount"),
            (None, Some(_)) => (&WALK_FLAGS, "work with names on a mount"),
            (None, None) => (&WALK_FLAGS, "a walk of a mount"),
        };
        if let Some(flag) = client.options.iter().step_by(2).find(|flag| !flags.contains(&flag.as_str())) {
            bail!("{flag}: {what} knows {}", flags.join(", "));
        }
        let size = |flag| file::size(&client.options, flag);
        if let Some(direction) = direction {
            let bytes = size("--size")?.unwrap_or(file::USUAL_SIZE);
            let record = size("--record")?.unwrap_or(USUAL_RECORD);
            return stream(direction, format!("{name}.stream"), (bytes, "--size"), record).map(Self::Stream);
        }
        ensure!(cell.spec.server.kind != ServerKind::Kernel, "a tree cannot be put into that server's guest");
        let (files, tree) = (size("--files")?, format!("{name}.tree"));
        let some_files = || files.with_context(|| format!("{what} needs --files"));
        Ok(match (walk, names) {
            (_, Some(kind)) => {
                let files = if kind == NamesKind::Init { 0 } else { some_files()? };
                Self::Names(NamesWork {
                    kind,
                    tree,
                    source: place.temporary.join(format!("{name}.source")),
                    files,
                })
            }
            (Some(kind), None) => Self::Walk(Walk { kind, tree, files: some_files()? }),
            (None, None) => Self::Bench,
        })
    }

    /// What it moves before that counts, if anything: a stream the same way, all other work reads.
    pub fn warm_up(&self, cell: &Cell, name: &str) -> Result<Option<Streaming>> {
        let (direction, record) = match self {
            Self::Stream(streaming) => (streaming.direction, streaming.record),
            Self::Walk(_) | Self::Names(_) => (StreamDirection::Read, USUAL_RECORD),
            Self::Bench => return Ok(None),
        };
        let bytes = file::size(&spec(cell, name)?.options, "--warm-up")?;
        let warm = |bytes| stream(direction, format!("{name}.warm"), (bytes, "--warm-up"), record);
        bytes.map(warm).transpose()
    }

    /// The files that must be in the export before it begins.
    pub fn files_to_read<'s>(
        &'s self,
        warm_up: Option<&'s Streaming>,
    ) -> impl Iterator<Item = &'s Streaming> {
        let own = match self {
            Self::Stream(streaming) => Some(streaming),
            _ => None,
        };
        own.into_iter().chain(warm_up).filter(|streaming| streaming.direction == StreamDirection::Read)
    }

    /// The command below the directory `mounted`; none of `howdah bench`.
    pub fn command(&self, mounted: &str) -> Option<Vec<String>> {
        match self {
            Self::Stream(streaming) => Some(streaming.command(mounted)),
            Self::Walk(walk) => Some(walk.command(mounted)),
            Self::Names(names) => Some(names.command(mounted)),
            Self::Bench => None,
        }
    }

    /// The command after which what it changed is safe on the server, if that takes one.
    pub fn safe_command(&self, mounted: &str) -> Option<Vec<String>> {
        match self {
            Self::Names(names) => Some(names.safe_command(mounted)),
            _ => None,
        }
    }

    /// The command that fails, on the server's host, unless the tree there is as it should be.
    pub fn check(&self, cell: &Cell, place: &Place) -> Option<CommandRecord> {
        match self {
            Self::Names(names) => Some(names.check(cell, place)),
            _ => None,
        }
    }

    /// Programs that it takes.
    pub fn needed(&self) -> &'static [&'static str] {
        match self {
            Self::Walk(Walk { kind: WalkKind::Status, .. }) => &["git"],
            Self::Names(names) => names.kind.needed(),
            _ => &[],
        }
    }

    /// Makes a tree that is to be worked with, and gives the command that completes it on the server's host.
    pub fn grow(&self, cell: &Cell, place: &Place) -> Result<Option<CommandRecord>> {
        match self {
            Self::Walk(walk) => walk.grow(cell, place),
            Self::Names(names) => names.grow(cell, place),
            _ => Ok(None),
        }
    }

    /// Runs it below the directory `mounted`, a walk a second time, and says what was measured.
    pub fn measure(
        &self,
        mounted: &str,
        mut run: impl FnMut(&[String]) -> Result<RanOnMount>,
    ) -> Result<Measured> {
        let mut measured = Measured::default();
        let command = self.command(mounted).context("howdah bench writes its own figures")?;
        match self {
            Self::Stream(streaming) => {
                let ended = run(&command)?;
                let (bytes, seconds) = streaming.measured(&ended)?;
                measured.add_bytes(bytes as f64, seconds);
                measured.add("clock", ended.clock, unit::PART);
            }
            Self::Walk(walk) => {
                for phase in ["first", "again"] {
                    let ended = run(&command)?;
                    walk.judge(&ended.output)?;
                    measured.add(&format!("{phase}.seconds"), ended.seconds, unit::SECONDS);
                    measured.add("clock", ended.clock, unit::PART);
                }
            }
            Self::Names(names) => {
                let (returned, safe) = (run(&command)?, run(&names.safe_command(mounted))?);
                measured.add("returned.seconds", returned.seconds, unit::SECONDS);
                measured.add("safe.seconds", returned.seconds + safe.seconds, unit::SECONDS);
                measured.add("clock", returned.clock, unit::PART);
            }
            Self::Bench => {}
        }
        Ok(measured)
    }
}

fn stream(direction: StreamDirection, file: String, size: (u64, &str), record: u64) -> Result<Streaming> {
    let (bytes, flag) = size;
    ensure!(record > 0 && bytes.is_multiple_of(record), "{flag} must be whole records");
    Ok(Streaming { direction, file, bytes, record })
}
