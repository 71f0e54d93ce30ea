//! What a call may be answered on without the server: what new nodes are like, and who may do what with them.

use std::collections::HashMap;

use howdah_vfs::{Access, Attributes, Caller, FileKind};

/// The most answers that are remembered.
const LEARNT_MAX: usize = 4096;
const SET_GROUP: u32 = 0o2000;
const STICKY: u32 = 0o1000;

/// How the server makes nodes, by what it made: whom it takes callers for, whose group it gives, which permissions it leaves out.
#[derive(Debug, Default)]
pub struct Grounds {
    learnt: HashMap<Question, Learnt>,
}

/// On what the attributes of a new node depend.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Question {
    user: u32,
    group: u32,
    kind: FileKind,
    parent: (u64, u32, u32),
}

#[derive(Debug, Clone, Copy)]
struct Learnt {
    user: u32,
    group: u32,
    added: u32,
    left_out: u32,
    file_system: u64,
    links: u32,
    size: u64,
    used: u64,
}

/// A new node, as far as its maker's call and its directory decide.
#[derive(Debug, Clone, Copy)]
pub struct ExpectedNode {
    pub user: u32,
    pub group: u32,
    pub mode: u32,
    pub file_system: u64,
    pub links: u32,
    /// Of a directory, what an empty one takes.
    pub size: u64,
    pub used: u64,
}

impl Question {
    fn new(caller: &Caller, kind: FileKind, parent: &Attributes) -> Self {
        let parent = (parent.file_system, parent.group, parent.mode & SET_GROUP);
        Self { user: caller.user, group: caller.group, kind, parent }
    }
}

impl Grounds {
    /// The server made a node of this mode for a caller.
    pub fn learn(&mut self, caller: &Caller, parent: &Attributes, mode: u32, made: &Attributes) {
        if self.learnt.len() >= LEARNT_MAX {
            self.learnt.clear();
        }
        let learnt = Learnt {
            user: made.user,
            group: made.group,
            added: made.mode & !mode & 0o7777,
            left_out: mode & !made.mode & 0o7777,
            file_system: made.file_system,
            links: made.links,
            size: made.size,
            used: made.used,
        };
        self.learnt.insert(Question::new(caller, made.kind, parent), learnt);
    }

    /// What a new node will be like, if the server has made one such before.
    pub fn expect(
        &self,
        caller: &Caller,
        parent: &Attributes,
        mode: u32,
        kind: FileKind,
    ) -> Option<ExpectedNode> {
        let learnt = self.learnt.get(&Question::new(caller, kind, parent))?;
        Some(ExpectedNode {
            user: learnt.user,
            group: learnt.group,
            mode: (mode & !learnt.left_out | learnt.added) & 0o7777,
            file_system: learnt.file_system,
            links: learnt.links,
            size: learnt.size,
            used: learnt.used,
        })
    }
}

/// What a caller may do with a node that was made here: only the permission bits are known, so they decide. A
/// caller that the server takes for somebody else (root, mostly) owns what it makes.
pub fn granted(caller: &Caller, attributes: &Attributes, is_maker: bool) -> Access {
    let is_directory = attributes.kind == FileKind::Directory;
    let owns = caller.user == attributes.user || is_maker;
    let digit = if owns {
        attributes.mode >> 6
    } else if caller.is_member(attributes.group) {
        attributes.mode >> 3
    } else {
        attributes.mode
    };
    let is_root = caller.user == 0 && attributes.user == 0;
    let may = |bit: u32| digit & bit != 0;
    let (reads, writes) = (may(4) || is_root, may(2) || is_root);
    let executes = may(1) || is_root && (is_directory || attributes.mode & 0o111 != 0);
    let when = |is_so: bool, rights: Access| if is_so { rights } else { Access::NONE };
    when(reads, Access::READ)
        | when(writes, Access::MODIFY | Access::EXTEND)
        | when(writes && is_directory, Access::DELETE)
        | when(executes, if is_directory { Access::LOOKUP } else { Access::EXECUTE })
}

/// Whether the sticky bit may forbid a caller to take names of others out of a directory.
pub fn is_sticky_for(caller: &Caller, directory: &Attributes, node: &Attributes) -> bool {
    directory.mode & STICKY != 0 && caller.user != directory.user && caller.user != node.user
}

/// Whether a name looks like that of a lock: a program that makes it relies on nobody else having made it, on any host.
pub fn is_lock_like(name: &[u8]) -> bool {
    let lower = name.to_ascii_lowercase();
    let has = |part: &[u8]| lower.windows(part.len()).any(|window| window == part);
    let is_swap = lower.len() > 4 && lower[lower.len() - 4..].starts_with(b".sw");
    has(b"lock")
        || has(b"lck")
        || lower.ends_with(b".pid")
        || is_swap
        || lower.starts_with(b".#")
        || lower.starts_with(b".~")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_locks_are_known() {
        for name in [
            &b"index.lock"[..],
            b"HEAD.LOCK",
            b".#file",
            b".~lock.x#",
            b".x.swp",
            b"x.pid",
            b"lockdir",
            b"wlock",
        ] {
            assert!(is_lock_like(name), "{}", name.escape_ascii());
        }
        for name in [&b"index"[..], b"a.swift", b"rapid", b"cloud", b"file#"] {
            assert!(!is_lock_like(name), "{}", name.escape_ascii());
        }
    }
}
