//! Makes what must be there before a record is played, in a directory of its own.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use anyhow::{Context, Result};
use howdah_capture::Kind;
use howdah_vfs::{
    AddLink, Change, CommitFile, Create, CreateFile, Data, Handle, MakeDirectory, MakeLink, MakeSpecial,
    NewAttributes, SetAttributes, SpecialKind, Stability, WriteFile,
};

use super::super::control::{Control, Interrupted, Turn};
use super::super::crew;
use super::super::performance::Deeds;
use super::super::place::Place;
use super::super::progress::{Progress, Unit};
use super::made::{Made, name};
use super::report::LaidOut;
use super::world::{Node, NodeId, World};
use crate::content::{Generator, Stamp};

/// Permission bits of directories and files: nobody else's business.
const DIRECTORY_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;
/// What one call writes.
const TRANSFER: u64 = 1 << 20;
/// Who writes at once: enough to fill a local network.
const CREW: usize = 16;
/// Files that only make a directory as long as it was, at most: more would take longer to make than most records last.
const FILLERS_MOST: u64 = 100_000;
/// What is written into a symbolic link whose length is not known.
const TARGET: &[u8] = b"elsewhere";

/// Makes it all.
pub(super) struct Layout<'a> {
    pub(super) place: &'a Place,
    pub(super) root: Handle,
    pub(super) world: &'a World,
    pub(super) made: &'a Made,
    pub(super) generator: Generator,
    pub(super) progress: &'a Progress,
    pub(super) asked: &'a AtomicBool,
}

impl Layout<'_> {
    /// Directories and names first, then data; says how much that was.
    pub(super) fn make(&self) -> Result<LaidOut> {
        let mut laid = LaidOut::default();
        self.names(&mut laid)?;
        self.fillers(&mut laid)?;
        self.data(&mut laid)?;
        Ok(laid)
    }

    /// Nodes without a name stand in the root; the others where their names are, once their directories are there.
    fn names(&self, laid: &mut LaidOut) -> Result<()> {
        let World { nodes, names } = self.world;
        let mut is_named = vec![false; nodes.len()];
        for (_, _, node) in names.iter().filter(|(directory, _, node)| directory != node) {
            is_named[*node] = true;
        }
        let existing = |id: &NodeId| nodes[*id].exists;
        for id in (0..nodes.len()).filter(existing).filter(|id| !is_named[*id]) {
            self.node(&self.root, &format!("node-{id}"), id, laid)?;
        }
        let mut left: Vec<&(NodeId, String, NodeId)> = names.iter().filter(|(.., id)| existing(id)).collect();
        while !left.is_empty() {
            self.heed()?;
            let before = left.len();
            let mut later = Vec::new();
            for entry @ (directory, name, id) in left {
                match self.made.handle(*directory) {
                    Some(directory) => self.node(&directory, name, *id, laid)?,
                    None => later.push(entry),
                }
            }
            if later.len() == before {
                // They name each other in a circle, which a RENAME of somebody else made: one of them stands in the root.
                let id = later[0].2;
                self.node(&self.root, &format!("node-{id}"), id, laid)?;
            }
            left = later;
        }
        Ok(())
    }

    /// A node of that name: made, or linked if it is there already.
    fn node(&self, directory: &Handle, text: &str, id: NodeId, laid: &mut LaidOut) -> Result<()> {
        let Ok(name) = name(text) else { return Ok(()) };
        let (files, caller) = (&self.place.file_system, &self.place.caller);
        let (change, file) = (&mut Change::default(), NewAttributes::with_mode(FILE_MODE));
        let kind = self.world.nodes[id].kind.unwrap_or(Kind::File);
        if let Some(handle) = self.made.handle(id) {
            if kind != Kind::Directory {
                files
                    .link(caller, AddLink::new(&handle, directory, name), change)
                    .with_context(|| format!("linking {text}"))?;
            }
            return Ok(());
        }
        let node = match kind {
            Kind::Directory => {
                let new = NewAttributes::with_mode(DIRECTORY_MODE);
                laid.directories += 1;
                files.make_directory(caller, MakeDirectory::new(directory, name, &new), change)
            }
            Kind::Link => {
                let length =
                    self.world.nodes[id].size.map_or(TARGET.len(), |size| size.clamp(1, 1000) as usize);
                laid.files += 1;
                files.make_link(caller, MakeLink::new(directory, name, &vec![b'x'; length], &file), change)
            }
            Kind::Special => {
                laid.files += 1;
                files.make_special(
                    caller,
                    MakeSpecial::new(directory, name, SpecialKind::Fifo, &file),
                    change,
                )
            }
            Kind::File => {
                laid.files += 1;
                files.create(caller, CreateFile::new(directory, name, &Create::Guarded(file)), change)
            }
        };
        self.made.set(id, node.with_context(|| format!("making {text}"))?.handle);
        Ok(())
    }

    /// Directories get as long as they were listed.
    fn fillers(&self, laid: &mut LaidOut) -> Result<()> {
        let mut left = FILLERS_MOST;
        let mut names = HashMap::<NodeId, u64>::new();
        self.world.names.iter().for_each(|(directory, ..)| *names.entry(*directory).or_default() += 1);
        for (id, node) in self.world.nodes.iter().enumerate().filter(|(_, node)| node.exists) {
            let Some(directory) = self.made.handle(id).filter(|_| node.entries > 0) else { continue };
            // `.` and `..` are entries too.
            let there = 2 + names.get(&id).copied().unwrap_or_default();
            let wanted = node.entries.saturating_sub(there);
            laid.fillers_left_out += wanted.saturating_sub(left);
            for number in 0..wanted.min(left) {
                self.heed()?;
                let filler = format!("filler-{number:06}");
                let how = Create::Guarded(NewAttributes::with_mode(FILE_MODE));
                let name = name(&filler).context("a name of our own")?;
                let (files, caller) = (&self.place.file_system, &self.place.caller);
                files
                    .create(caller, CreateFile::new(&directory, name, &how), &mut Change::default())
                    .with_context(|| format!("making {filler}"))?;
                laid.fillers += 1;
            }
            left -= wanted.min(left);
        }
        Ok(())
    }

    /// What is read gets data, what is beyond is a hole; all of it is committed.
    fn data(&self, laid: &mut LaidOut) -> Result<()> {
        let is_file = |node: &Node| node.exists && matches!(node.kind, None | Some(Kind::File));
        let files = self.world.nodes.iter().enumerate().filter(|(_, node)| is_file(node));
        let sized: Vec<_> = files.filter(|(_, node)| node.size.unwrap_or_default() > 0).collect();
        let total = sized.iter().flat_map(|(_, node)| node.data()).map(|(start, end)| end - start).sum();
        laid.bytes = total;
        self.progress.begin("replay laying out".to_owned(), Unit::Bytes, total, None);
        let next = AtomicUsize::new(0);
        let control = Control::new(self.asked, None);
        let job = |_: usize, turn: &Turn<'_>, _: &mut Deeds| {
            let mut buffer = Vec::new();
            while !turn.is_over() {
                let Some((id, node)) = sized.get(next.fetch_add(1, Ordering::Relaxed)) else { break };
                self.fill(*id, node, &mut buffer, turn).with_context(|| format!("filling file {id}"))?;
            }
            Ok(())
        };
        crew::run(&control, CREW.min(sized.len().max(1)), &job, || ())?;
        self.progress.end();
        self.heed()
    }

    fn fill(&self, id: NodeId, node: &Node, buffer: &mut Vec<u8>, turn: &Turn<'_>) -> Result<()> {
        let Some(handle) = self.made.handle(id) else { return Ok(()) };
        let (files, caller) = (&self.place.file_system, &self.place.caller);
        let ranges = node.data();
        let mut change = Change::default();
        for (start, end) in &ranges {
            let mut offset = *start;
            while offset < *end && !turn.is_over() {
                let length = (end - offset).min(TRANSFER);
                buffer.resize(length as usize, 0);
                self.generator.fill(Stamp { file: id as u64, generation: 1 }, offset, buffer);
                write_all(self.place, &handle, offset, buffer)?;
                self.progress.add(length);
                offset += length;
            }
        }
        let size = node.size.unwrap_or_default();
        if ranges.last().is_none_or(|(_, end)| *end < size) {
            files.set_attributes(
                caller,
                SetAttributes::new(&handle, &NewAttributes::with_size(size), None),
                &mut change,
            )?;
        }
        if !ranges.is_empty() {
            files.commit(caller, CommitFile::new(&handle, 0, 0), &mut change)?;
        }
        Ok(())
    }

    fn heed(&self) -> Result<()> {
        if self.asked.load(Ordering::Relaxed) { Err(Interrupted.into()) } else { Ok(()) }
    }
}

fn write_all(place: &Place, handle: &Handle, mut offset: u64, mut data: &[u8]) -> Result<()> {
    while !data.is_empty() {
        let mut change = Change::default();
        let (files, caller) = (&place.file_system, &place.caller);
        let written = files.write(
            caller,
            WriteFile::new(handle, offset, Data::Bytes(data), Stability::Unstable),
            &mut change,
        )?;
        anyhow::ensure!(written.count > 0, "nothing more can be written");
        offset += written.count as u64;
        data = &data[written.count..];
    }
    Ok(())
}
