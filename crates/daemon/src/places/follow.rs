//! Symbolic links at a server: a client follows them itself, and stays within what is mounted.

use std::collections::VecDeque;

use anyhow::{Context, Result, bail, ensure};
use howdah_vfs::{FileKind, FsError, Name, Node, Shown};

use super::{Following, Place, spelled};

/// The most links on the way to one place, as on Linux.
const MOST_LINKS: usize = 40;

/// The way from the root to what is meant.
pub(super) struct Way {
    /// The names. After a name that cannot be looked up they are as typed: the next look-up fails and says why.
    pub(super) path: Vec<Vec<u8>>,
    /// What the last one leads to, if it was looked up.
    pub(super) end: Option<Result<Node, FsError>>,
}

/// The way to a place: links on it are followed, and the last one if that is asked for. `first` is what the first name leads to,
/// if that is known.
pub(super) fn follow(
    place: &Place,
    first: Option<Result<Node, FsError>>,
    following: Following,
) -> Result<Way> {
    let typed = place.path.iter().map(|name| Step { name: name.clone(), is_typed: true });
    let mut walk =
        Walk { place, first, following, way: Vec::new(), left: typed.collect(), links: 0, end: None };
    match (walk.left.len(), following) {
        (0, _) => {}
        // No name is followed then, so that none need be looked up.
        (1, Following::Nothing) => walk.end = walk.first.take(),
        _ => {
            let root =
                place.root().with_context(|| format!("cannot find {}", Shown(&spelled(&place.label))))?;
            while walk.go_on(&root)? {}
        }
    }
    if walk.left.is_empty() {
        walk.end = walk.way.last().map(|(_, node)| Ok(*node));
    }
    let left = walk.left.into_iter().map(|step| step.name);
    let path = walk.way.into_iter().map(|(name, _)| name).chain(left).collect();
    Ok(Way { path, end: walk.end })
}

/// A name to go to, typed or out of a link.
struct Step {
    name: Vec<u8>,
    is_typed: bool,
}

struct Walk<'p> {
    place: &'p Place,
    following: Following,
    /// What the first name leads to, until it is gone to.
    first: Option<Result<Node, FsError>>,
    /// Where it is by now.
    way: Vec<(Vec<u8>, Node)>,
    left: VecDeque<Step>,
    links: usize,
    /// Set where the last name is missing.
    end: Option<Result<Node, FsError>>,
}

impl Walk<'_> {
    /// Goes one step. Says whether there may be another one.
    fn go_on(&mut self, root: &Node) -> Result<bool> {
        let Some(step) = self.left.pop_front() else { return Ok(false) };
        match &step.name[..] {
            b"" | b"." if !step.is_typed => return Ok(true),
            b".." if !step.is_typed => {
                self.way.pop().context("the link leads out of what is mounted: name what it leads to")?;
                return Ok(true);
            }
            _ => {}
        }
        let directory = self.way.last().map_or(*root, |(_, node)| *node);
        let look_up = || {
            let name = Name::parse(&step.name).map_err(|error| error.refusal())?;
            let found = self.place.file_system.lookup(&self.place.caller, &directory.handle, name)?;
            Ok(found.node)
        };
        match self.first.take().unwrap_or_else(look_up) {
            Ok(node) if self.is_followed(&node) => self.enter(&node)?,
            Ok(node) => self.way.push((step.name, node)),
            Err(FsError::NotFound) if !step.is_typed => bail!("the link leads to nothing"),
            Err(refused) => {
                let is_missing = refused == FsError::NotFound && self.left.is_empty();
                self.end = is_missing.then_some(Err(refused));
                self.left.push_front(step);
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn is_followed(&self, node: &Node) -> bool {
        let is_last = self.left.is_empty();
        node.attributes.kind == FileKind::SymbolicLink && (!is_last || self.following == Following::Links)
    }

    /// Puts where a link leads before what is left.
    fn enter(&mut self, link: &Node) -> Result<()> {
        self.links += 1;
        ensure!(self.links <= MOST_LINKS, "more than {MOST_LINKS} symbolic links, one leading to another");
        let mut target = Vec::new();
        let read = self.place.file_system.read_link(&self.place.caller, &link.handle, &mut target);
        read.context("reading the link")?;
        ensure!(
            !target.starts_with(b"/"),
            "the link leads to {}, a path that each machine has its own of: name what is meant",
            Shown(&target)
        );
        for name in target.split(|&byte| byte == b'/').rev() {
            self.left.push_front(Step { name: name.to_vec(), is_typed: false });
        }
        Ok(())
    }
}
