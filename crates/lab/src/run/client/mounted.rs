//! Programs on a mount of any kind: dd, `ls -lR`, `git status`, or `howdah bench`.

use anyhow::{Context, Result, bail, ensure};

use super::contract::spec;
use super::file;
use super::on_mount::RanOnMount;
use super::streaming::{Direction, Streaming};
use super::walk::{Walk, WalkKind};
use crate::plan::{Cell, ServerKind};
use crate::record::{CommandRecord, unit};
use crate::run::{Measured, Place};

/// What dd moves at once, if the plan does not say.
const USUAL_RECORD: u64 = 1 << 20;
/// What one stream can be told. `--warm-up` is how much it moves before the time counts, of another file.
const STREAM_FLAGS: [&str; 3] = ["--size", "--record", "--warm-up"];
/// What a walk can be told. It is warmed up by reading a file.
const WALK_FLAGS: [&str; 2] = ["--files", "--warm-up"];

/// What a client does on its mount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MountWork {
    /// One stream of dd: `write`, `read`.
    Stream(Streaming),
    /// `ls -lR` of a tree, or `git status`: `list`, `status`.
    Walk(Walk),
    /// Every other workload.
    Bench,
}

impl MountWork {
    /// What a client's workload and options say.
    pub fn of(cell: &Cell, name: &str) -> Result<Self> {
        let client = spec(cell, name)?;
        let (direction, walk) = match client.workload.as_deref() {
            Some("write") => (Some(Direction::Write), None),
            Some("read") => (Some(Direction::Read), None),
            Some("list") => (None, Some(WalkKind::List)),
            Some("status") => (None, Some(WalkKind::Status)),
            _ => return Ok(Self::Bench),
        };
        let flags: &[&str] = if direction.is_some() { &STREAM_FLAGS } else { &WALK_FLAGS };
        if let Some(flag) = client.options.iter().step_by(2).find(|flag| !flags.contains(&flag.as_str())) {
            let what = if direction.is_some() { "one stream" } else { "a walk" };
            bail!("{flag}: {what} of a mount knows {}", flags.join(", "));
        }
        if let Some(kind) = walk {
            ensure!(
                cell.spec.server.kind != ServerKind::Kernel,
                "a tree cannot be put into that server's guest"
            );
            let files = file::size(&client.options, "--files")?.context("a walk needs --files")?;
            return Ok(Self::Walk(Walk { kind, tree: format!("{name}.tree"), files }));
        }
        let bytes = file::size(&client.options, "--size")?.unwrap_or(file::USUAL_SIZE);
        let record = file::size(&client.options, "--record")?.unwrap_or(USUAL_RECORD);
        let direction = direction.context("a stream has a direction")?;
        stream(direction, format!("{name}.stream"), (bytes, "--size"), record).map(Self::Stream)
    }

    /// What it moves before that counts, if anything: the same way, and a walk reads.
    pub fn warm_up(&self, cell: &Cell, name: &str) -> Result<Option<Streaming>> {
        let (direction, record) = match self {
            Self::Stream(streaming) => (streaming.direction, streaming.record),
            Self::Walk(_) => (Direction::Read, USUAL_RECORD),
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
        own.into_iter().chain(warm_up).filter(|streaming| streaming.direction == Direction::Read)
    }

    /// The command below the directory `mounted`; none of `howdah bench`.
    pub fn command(&self, mounted: &str) -> Option<Vec<String>> {
        match self {
            Self::Stream(streaming) => Some(streaming.command(mounted)),
            Self::Walk(walk) => Some(walk.command(mounted)),
            Self::Bench => None,
        }
    }

    /// Programs that it takes.
    pub fn needed(&self) -> &'static [&'static str] {
        match self {
            Self::Walk(Walk { kind: WalkKind::Status, .. }) => &["git"],
            _ => &[],
        }
    }

    /// Makes a tree that is to be walked, and gives the command that the server's host has to run in it.
    pub fn grow(&self, cell: &Cell, place: &Place) -> Result<Option<CommandRecord>> {
        match self {
            Self::Walk(walk) => walk.grow(cell, place),
            _ => Ok(None),
        }
    }

    /// Runs it, a walk a second time, and says what was measured.
    pub fn measure(&self, mut run: impl FnMut() -> Result<RanOnMount>) -> Result<Measured> {
        let mut measured = Measured::default();
        match self {
            Self::Stream(streaming) => {
                let ended = run()?;
                let (bytes, seconds) = streaming.measured(&ended)?;
                measured.add_bytes(bytes as f64, seconds);
                measured.add("clock", ended.clock, unit::PART);
            }
            Self::Walk(walk) => {
                for phase in ["first", "again"] {
                    let ended = run()?;
                    walk.judge(&ended.output)?;
                    measured.add(&format!("{phase}.seconds"), ended.seconds, unit::SECONDS);
                    measured.add("clock", ended.clock, unit::PART);
                }
            }
            Self::Bench => bail!("howdah bench writes its own figures"),
        }
        Ok(measured)
    }
}

fn stream(direction: Direction, file: String, size: (u64, &str), record: u64) -> Result<Streaming> {
    let (bytes, flag) = size;
    ensure!(record > 0 && bytes.is_multiple_of(record), "{flag} must be whole records");
    Ok(Streaming { direction, file, bytes, record })
}
