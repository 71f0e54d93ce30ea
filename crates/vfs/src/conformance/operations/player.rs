//! Plays operations on one file system, and returns what is seen of each.

use super::operation::{Act, How, Operation, Setting};
use super::seen::{Seen, View, comparable_rights};
use super::universe::{
    DIRECTORY_MODES, FILE_MODES, LENGTHS, NAMES, OFFSETS, OWNERS, SET_GROUP_MODE, SLOTS, STABILITIES,
    TARGETS, caller,
};
use crate::conformance::actor::Actor;
use crate::conformance::bench::Bench;
use crate::conformance::{Abilities, ActsAs, Subject};
use crate::{
    Access, Create, Detail, DeviceNumber, FileKind, FileSystem, FsError, NewAttributes, Node, Result,
    SetTime, SpecialKind, Timestamp,
};

/// A file system and the nodes that were met on it. The model and the subject each have one, and play in step.
pub(super) struct Player<'s> {
    fs: &'s dyn FileSystem,
    acts_as: ActsAs,
    slots: [Node; SLOTS],
}

/// What one operation showed.
pub(super) type Played = Result<Seen>;

impl<'s> Player<'s> {
    /// Makes a directory of its own; all slots hold it at first.
    pub(super) fn new(subject: &'s Subject) -> std::result::Result<Self, String> {
        let home = Bench::new(subject).map_err(|problem| problem.0)?.home;
        Ok(Self::within(subject, home))
    }

    /// Plays in a directory that is there already.
    pub(super) fn within(subject: &'s Subject, home: Node) -> Self {
        Self { fs: &*subject.fs, acts_as: subject.abilities.acts_as.clone(), slots: [home; SLOTS] }
    }

    pub(super) fn home(&self) -> Node {
        self.slots[0]
    }

    pub(super) fn actor(&self, who: usize) -> Actor<'s> {
        let caller = match &self.acts_as {
            ActsAs::Caller => caller(who),
            ActsAs::Always(caller) => caller.clone(),
        };
        Actor { fs: self.fs, caller }
    }

    /// Why the operation should not be played, going by this file system: where kernels, their settings or servers
    /// legitimately differ in what comes of it.
    pub(super) fn objection(&self, operation: &Operation, abilities: &Abilities) -> Option<&'static str> {
        let kind_of = |slot: usize| self.actor(0).attributes(&self.slots[slot]).map(|seen| seen.kind);
        match operation.act {
            Act::Parent { .. } if self.slots[operation.node].handle == self.home().handle => {
                Some("the way out of the directory that all happens in")
            }
            Act::Set(Setting::Mode(_)) if kind_of(operation.node) == Ok(FileKind::SymbolicLink) => {
                Some("whether a symbolic link has a mode differs")
            }
            Act::MakeSpecial { kind, .. } if kind % 4 > 1 && !abilities.device_nodes => Some("no devices"),
            Act::Link { node } => self.objection_to_link(operation, node),
            _ => None,
        }
    }

    /// Linux can be set (`fs.protected_hardlinks`) to let users link to files of their own only.
    fn objection_to_link(&self, operation: &Operation, node: usize) -> Option<&'static str> {
        let actor = self.actor(operation.who);
        let owner = actor.attributes(&self.slots[node]).ok()?.user;
        let owns = actor.caller.user == 0 || actor.caller.user == owner;
        (!owns).then_some("whether others' files may be linked to is a setting of the kernel")
    }

    /// Makes the call. `number` is its own in the list.
    pub(super) fn play(&mut self, number: usize, operation: &Operation) -> Played {
        // Whether COMMIT asks for permission differs, so it is always one who has it.
        let who = if operation.act == Act::Commit { 0 } else { operation.who };
        let actor = self.actor(who);
        let (node, name) = (self.slots[operation.node], NAMES[operation.name]);
        match operation.act {
            Act::Look { into } => {
                let found = actor.look(&node, name);
                self.keep(into, found)
            }
            Act::Parent { into } => {
                let found = actor.parent(&node);
                self.keep(into, found)
            }
            Act::Create { how, mode, into } => {
                let made = create(&actor, &node, name, how, mode, number);
                self.keep(into, made)
            }
            Act::MakeDirectory { mode, into } => {
                let made = actor.make_directory(&node, name, DIRECTORY_MODES[mode % DIRECTORY_MODES.len()]);
                self.keep(into, made)
            }
            Act::MakeLink { target, into } => {
                let made = actor.make_link(&node, name, TARGETS[target]);
                self.keep(into, made)
            }
            Act::MakeSpecial { kind, mode, into } => {
                let mode = FILE_MODES[mode % FILE_MODES.len()];
                let made = actor.make_special(&node, name, special(kind), mode);
                self.keep(into, made)
            }
            Act::Remove => actor.remove(&node, name).map(|()| Seen::Nothing),
            Act::RemoveDirectory => actor.remove_directory(&node, name).map(|()| Seen::Nothing),
            Act::Rename { to, to_name } => {
                actor.rename((&node, name), (&self.slots[to], NAMES[to_name])).map(|()| Seen::Nothing)
            }
            Act::Link { node: linked } => {
                actor.link(&self.slots[linked], &node, name).map(|after| Seen::Node(View::from(&after)))
            }
            act => play_on_node(&actor, &node, act, number),
        }
    }

    fn keep(&mut self, slot: usize, node: Result<Node>) -> Played {
        let node = node?;
        self.slots[slot] = node;
        Ok(Seen::Node(View::from(&node.attributes)))
    }
}

/// The calls that need no name.
fn play_on_node(actor: &Actor<'_>, node: &Node, act: Act, number: usize) -> Played {
    match act {
        Act::Attributes => actor.attributes(node).map(|seen| Seen::Node(View::from(&seen))),
        Act::Access => {
            let kind = actor.attributes(node)?.kind;
            Ok(Seen::Rights(actor.access(node, Access::ALL)? & comparable_rights(kind)))
        }
        Act::ReadLink => actor.read_link(node).map(Seen::Target),
        Act::Read { offset, length } => {
            actor.read(node, OFFSETS[offset], LENGTHS[length]).map(|(data, end)| Seen::Data(data, end))
        }
        Act::Write { offset, length, stability } => {
            let data: Vec<u8> = (0..LENGTHS[length]).map(|at| (number + at) as u8).collect();
            let written = actor.write(node, OFFSETS[offset], &data, STABILITIES[stability])?;
            if written.stability < STABILITIES[stability] {
                return Err(FsError::ServerFault);
            }
            Ok(Seen::Count(written.count))
        }
        Act::Set(setting) => set(actor, node, setting),
        Act::List { pages } => list(actor, node, if pages { 2 } else { usize::MAX }),
        Act::Commit => actor.commit(node, 0, 0).map(|_| Seen::Nothing),
        _ => Ok(Seen::Nothing),
    }
}

fn create(
    actor: &Actor<'_>,
    directory: &Node,
    name: &[u8],
    how: How,
    mode: usize,
    number: usize,
) -> Result<Node> {
    let new = NewAttributes::with_mode(FILE_MODES[mode % FILE_MODES.len()]);
    match how {
        How::Unchecked => actor.create_how(directory, name, Create::Unchecked(new)),
        How::Truncating => {
            actor.create_how(directory, name, Create::Unchecked(NewAttributes { size: Some(0), ..new }))
        }
        How::Guarded => actor.create_how(directory, name, Create::Guarded(new)),
        How::Exclusive => {
            let verifier = Create::Exclusive((number as u64 + 1).to_be_bytes());
            let first = actor.create_how(directory, name, verifier)?;
            let again = actor.create_how(directory, name, verifier)?;
            if again.handle != first.handle {
                // No answer to CREATE, so it differs from all others.
                return Err(FsError::NotSynchronised);
            }
            actor.set(&again, new)?;
            actor.look(directory, name)
        }
    }
}

fn special(kind: usize) -> SpecialKind {
    let device = DeviceNumber { major: 1, minor: 3 };
    match kind % 4 {
        0 => SpecialKind::Fifo,
        1 => SpecialKind::Socket,
        2 => SpecialKind::CharacterDevice(device),
        _ => SpecialKind::BlockDevice(device),
    }
}

fn set(actor: &Actor<'_>, node: &Node, setting: Setting) -> Played {
    let nothing = NewAttributes::default();
    let new = match setting {
        Setting::Mode(mode) => NewAttributes::with_mode(mode_for(actor, node, mode)),
        Setting::Size(size) => NewAttributes::with_size(OFFSETS[size]),
        Setting::User(user) => NewAttributes { user: Some(OWNERS[user]), ..nothing },
        Setting::Group(group) => NewAttributes { group: Some(OWNERS[group]), ..nothing },
        Setting::TimesTo(seconds) => {
            let time = SetTime::To(Timestamp { seconds, nanoseconds: 0 });
            NewAttributes { accessed: time, modified: time, ..nothing }
        }
        Setting::TimesNow => NewAttributes { accessed: SetTime::Now, modified: SetTime::Now, ..nothing },
    };
    actor.set(node, new)?;
    actor.attributes(node).map(|after| Seen::Node(View::from(&after)))
}

/// A mode out of the universe that belongs to the kind of node.
fn mode_for(actor: &Actor<'_>, node: &Node, choice: usize) -> u32 {
    match actor.attributes(node).map(|seen| seen.kind) {
        Ok(FileKind::Directory) if choice % 9 == 8 => SET_GROUP_MODE,
        Ok(FileKind::Directory) => DIRECTORY_MODES[choice % DIRECTORY_MODES.len()],
        _ => FILE_MODES[choice % FILE_MODES.len()],
    }
}

fn list(actor: &Actor<'_>, directory: &Node, most: usize) -> Played {
    let listed = actor.list_by(directory, most, Detail::Nodes)?;
    let view = |name: &[u8], node: Option<Node>| match name {
        // Whether these come with their nodes differs.
        b"." | b".." => None,
        _ => node.map(|node| View::from(&node.attributes)),
    };
    let mut entries: Vec<_> =
        listed.into_iter().map(|entry| (view(&entry.name, entry.node), entry.name)).collect();
    entries.sort_by(|one, other| one.1.cmp(&other.1));
    Ok(Seen::Entries(entries.into_iter().map(|(view, name)| (name, view)).collect()))
}
