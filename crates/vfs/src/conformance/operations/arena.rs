//! Many threads at once in one directory: what each call answers is open, but what is left must make sense.
//!
//! This floor starts no threads: the test calls [`Arena::work`] on as many as it likes, then [`Arena::check`].

use std::collections::{HashMap, HashSet};

use super::player::Player;
use super::{Operation, from_bytes};
use crate::conformance::Subject;
use crate::conformance::actor::{Actor, Listed};
use crate::{Detail, FileKind, FsError, Handle, NewAttributes, Node};
use howdah_random::Random;

/// What no call may answer, no matter what others do meanwhile.
const NEVER: [FsError; 6] = [
    FsError::Io,
    FsError::ServerFault,
    FsError::BadHandle,
    FsError::BadCookie,
    FsError::NoDevice,
    FsError::CrossDevice,
];

/// A directory that several threads work in.
pub struct Arena {
    home: Node,
}

/// How many names each node has that is not a directory, and one of them.
type Names = HashMap<Handle, (u32, String)>;

impl Arena {
    /// A new directory in a subject.
    pub fn new(subject: &Subject) -> Result<Self, String> {
        Ok(Self { home: Player::new(subject)?.home() })
    }

    /// Makes `count` calls that follow from `seed`. `subject` is the one that the arena lies in, or another way to
    /// the same file system whose handles are the same: another connection.
    pub fn work(&self, subject: &Subject, seed: u64, count: usize) -> Result<(), String> {
        let mut player = Player::within(subject, self.home);
        let mut random = Random::new(seed);
        let bytes: Vec<u8> = (0..count).flat_map(|_| random.number().to_le_bytes()).collect();
        for (number, operation) in from_bytes(&bytes).iter().enumerate() {
            self.step(&mut player, subject, number, operation).map_err(|error| {
                format!("seed {seed:#x}, call {number}, {operation:?}: {error:?} is no answer to it")
            })?;
        }
        Ok(())
    }

    fn step(
        &self,
        player: &mut Player<'_>,
        subject: &Subject,
        number: usize,
        operation: &Operation,
    ) -> Result<(), FsError> {
        if player.objection(operation, &subject.abilities).is_some() {
            return Ok(());
        }
        match player.play(number, operation) {
            Err(error) if NEVER.contains(&error) => Err(error),
            _ => Ok(()),
        }
    }

    /// Looks at all that is left when nobody works any more, and removes it.
    pub fn check(&self, subject: &Subject) -> Result<(), String> {
        let actor = Actor { fs: &*subject.fs, caller: subject.main_caller() };
        let mut names = Names::new();
        check_directory(&actor, &self.home, "", &mut names)?;
        for (handle, (count, path)) in &names {
            let node = actor.node(*handle).map_err(|error| format!("{path}: {error}"))?;
            if node.attributes.links != *count {
                return Err(format!("{path} has {count} names and {} links", node.attributes.links));
            }
        }
        empty(&actor, &self.home).map_err(|error| format!("removing all that is left: {error}"))?;
        match names.iter().find(|(handle, _)| actor.node(**handle) != Err(FsError::Stale)) {
            Some((_, (_, path))) => Err(format!("{path} is removed, and its handle still names something")),
            None => Ok(()),
        }
    }
}

/// The entries but `.` and `..`.
fn entries(actor: &Actor<'_>, directory: &Node) -> Result<Vec<Listed>, FsError> {
    let mut entries = actor.list_by(directory, usize::MAX, Detail::Nodes)?;
    entries.retain(|entry| !matches!(&entry.name[..], b"." | b".."));
    Ok(entries)
}

fn check_directory(actor: &Actor<'_>, directory: &Node, path: &str, names: &mut Names) -> Result<(), String> {
    let mut seen = HashSet::new();
    // Its owner must be able to look, whatever the calls left of its mode.
    let open = actor.set(directory, NewAttributes::with_mode(0o700)).and_then(|()| entries(actor, directory));
    for entry in open.map_err(|error| format!("listing {path}/: {error}"))? {
        let path = format!("{path}/{}", entry.name.escape_ascii());
        if !seen.insert(entry.name.clone()) {
            return Err(format!("{path} is listed twice"));
        }
        let node = actor.look(directory, &entry.name).map_err(|error| format!("{path}: {error}"))?;
        if entry.node.is_some_and(|listed| listed.handle != node.handle) {
            return Err(format!("{path} is listed with the handle of another node"));
        }
        if node.attributes.kind != FileKind::Directory {
            names.entry(node.handle).or_insert((0, path)).0 += 1;
            continue;
        }
        check_directory(actor, &node, &path, names)?;
        let parent = actor.parent(&node).map_err(|error| format!("{path}/..: {error}"))?;
        if parent.handle != directory.handle {
            return Err(format!("{path}/.. is another directory"));
        }
    }
    Ok(())
}

fn empty(actor: &Actor<'_>, directory: &Node) -> Result<(), FsError> {
    for entry in entries(actor, directory)? {
        let node = actor.look(directory, &entry.name)?;
        if node.attributes.kind == FileKind::Directory {
            empty(actor, &node)?;
            actor.remove_directory(directory, &entry.name)?;
        } else {
            actor.remove(directory, &entry.name)?;
        }
    }
    Ok(())
}
