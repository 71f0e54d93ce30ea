//! Sources that are read once and have no known length: `-`, `/dev/stdin`, `<(command)`, pipes and devices.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::os::fd::AsFd;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use howdah_copy::{StopSign, StreamCopy, Tally, source_id};
use howdah_daemon::places::{Location, Opener, Place, spelled, umask};
use howdah_vfs::{FileKind, FsError, Name, Node, Shown};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::arguments::CpArguments;

/// How often a stream that brings nothing looks whether to stop.
const LOOK: Duration = Duration::from_millis(100);

/// The source, if it is a stream.
pub fn is_stream(location: &Location) -> bool {
    let Location::Local(path) = location else { return false };
    let is_special = |path: &Path| {
        path.metadata().is_ok_and(|found| {
            let kind = found.file_type();
            kind.is_fifo() || kind.is_char_device() || kind.is_block_device() || kind.is_socket()
        })
    };
    path.as_os_str() == "-" || is_special(path)
}

/// An open stream, which a signal stops also while nothing comes.
pub struct PipedInput {
    file: File,
    stop: StopSign,
}

impl PipedInput {
    fn open(path: &Path, stop: StopSign) -> Result<Self> {
        let file = match path.as_os_str() == "-" {
            true => File::from(io::stdin().as_fd().try_clone_to_owned().context("opening standard input")?),
            false => File::open(path).with_context(|| format!("cannot read {}", path.display()))?,
        };
        Ok(Self { file, stop })
    }
}

impl Read for PipedInput {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let wait = Timespec::try_from(LOOK).expect("it is short");
        while !self.stop.is_set() {
            if poll(&mut [PollFd::new(&self.file, PollFlags::IN)], Some(&wait))? > 0 {
                return self.file.read(buffer);
            }
        }
        Err(ErrorKind::TimedOut.into())
    }
}

/// A copy of a stream, ready to run.
pub struct StreamPlan {
    /// What goes where.
    pub copy: StreamCopy,
    /// What becomes of it.
    pub task: StreamTask,
    /// The server's side, if it goes to one.
    pub destination: Place,
}

/// What becomes of a stream.
pub enum StreamTask {
    /// It is read and copied.
    Copy(PipedInput),
    /// Not opened: a dry run only reports what it would do.
    DryRun,
    /// It is not opened: what is at the destination stays, as `--no-clobber` wants.
    Keep,
}

/// Finds out what is meant.
pub fn stream_plan(
    arguments: &CpArguments,
    tally: std::sync::Arc<Tally>,
    stop: StopSign,
) -> Result<StreamPlan> {
    let [from, to] = &arguments.places[..] else {
        bail!("a pipe, a device or - is copied alone: name one source and its copy");
    };
    let Location::Local(path) = from else { bail!("{from} is no stream") };
    let destination = Opener::default().open_to_write(to)?;
    let there = match destination.node() {
        Ok(node) => Some(node),
        Err(FsError::NotFound) => None,
        Err(refused) => return Err(refused).with_context(|| format!("cannot find {to}")),
    };
    let (directory, name) = target(from, to, &destination, there, arguments.no_target_directory)?;
    let target_path = match there.filter(|node| node.attributes.kind == FileKind::Directory) {
        Some(_) => [&destination.label[..], b"/", &name].concat(),
        None => destination.label.clone(),
    };
    let copy = StreamCopy {
        destination: destination.side(),
        directory: directory.handle,
        name,
        path: from.as_bytes().to_vec(),
        target_path,
        // No other run resumes it.
        id: source_id(format!("stream {}", std::process::id()).as_bytes()),
        mode: 0o666 & !umask(),
        rate: arguments.run.rate,
        sync: !arguments.run.no_sync,
        stop: stop.clone(),
        tally,
    };
    let task = match arguments.select.dry_run {
        _ if arguments.existing.no_clobber && is_taken(&copy)? => StreamTask::Keep,
        true => StreamTask::DryRun,
        false => StreamTask::Copy(PipedInput::open(path, stop)?),
    };
    Ok(StreamPlan { copy, task, destination })
}

/// Whether something has the name of the copy.
fn is_taken(copy: &StreamCopy) -> Result<bool> {
    let (side, name) = (&copy.destination, Name::parse(&copy.name).map_err(|error| error.refusal()));
    match name.and_then(|name| side.file_system.lookup(&side.caller, &copy.directory, name)) {
        Ok(_) => Ok(true),
        Err(FsError::NotFound) => Ok(false),
        Err(refused) => {
            Err(refused).with_context(|| format!("cannot look up {}", Shown(&spelled(&copy.target_path))))
        }
    }
}

/// The directory that it goes into, and its name there.
fn target(
    from: &Location,
    to: &Location,
    destination: &Place,
    there: Option<Node>,
    is_exact: bool,
) -> Result<(Node, Vec<u8>)> {
    match there {
        Some(node) if node.attributes.kind == FileKind::Directory => {
            if is_exact {
                bail!("cannot copy {from} as {to}: a directory is in the way");
            }
            let name = from.last_name().filter(|name| name != b"-");
            let name =
                name.ok_or_else(|| anyhow!("standard input has no name: name the copy, as in {to}/NAME"))?;
            Ok((node, name))
        }
        Some(_) if to.means_directory() => bail!("{to} is not a directory"),
        None if to.means_directory() => {
            bail!("there is no directory {to}: create it first, or leave out the slash")
        }
        _ if destination.leads_to_special() => {
            bail!("cannot copy {from} to {to}: that is a device, a pipe or a socket")
        }
        _ => {
            let parent =
                destination.parent().with_context(|| format!("cannot find the directory of {to}"))?;
            let (directory, name) = parent;
            let name = name.with_context(|| format!("cannot copy to {to}: it is not a directory"))?;
            Ok((directory, name.to_vec()))
        }
    }
}
