//! Looking up, making and setting: what is answered here, and on what grounds.

use std::time::Duration;

use howdah_vfs::layer::Layer;
use howdah_vfs::{
    Access, Attributes, Caller, Change, FileKind, FileSystem, Found, FsError, Handle, Name, NewAttributes,
    Node, Result, SetAttributes, SetTime,
};

use super::NamesBehind;
use super::grounds::{granted, is_lock_like};
use super::shared::NodeSide;
use super::tree::{MadeNode, Whereabouts};

const SET_ID: u32 = 0o6000;
/// For how long the server's word on free space counts.
const SPACE_KNOWN: Duration = Duration::from_secs(2);
/// With so many bytes of files that were refused, no more is answered early.
const REFUSED_MAX: usize = 256 << 20;
/// Free space is ample if it is so many times what is wanted: then an older word counts.
const AMPLE: u64 = 4;

/// Where a name leads, as far as is known here; else the server's handle of the directory.
type LookedUp = std::result::Result<Found, Handle>;

impl NamesBehind {
    /// Looks a name up in what is pending.
    pub(super) fn look_up_here(
        &self,
        caller: &Caller,
        directory: &Handle,
        name: Name<'_>,
    ) -> Result<LookedUp> {
        self.settle_attributes(directory, |new| new.mode.is_some());
        let is_overlaid = {
            let log = self.shared.log.lock();
            let id = log.tree.find(directory);
            id.is_some_and(|id| log.tree.name(id, name.as_bytes()).is_some())
                || matches!(self.shared.side(&log, directory)?, NodeSide::Here(_))
        };
        let is_ours = self.is_ours(directory);
        if is_overlaid || is_ours {
            // The kernel does not judge who may look a name up.
            let (granted, seen) = Layer::access(self, caller, directory, Access::LOOKUP)?;
            if seen.kind != FileKind::Directory {
                return Err(FsError::NotDirectory);
            }
            if !granted.contains(Access::LOOKUP) {
                return Err(FsError::AccessDenied);
            }
        }
        let shown = {
            let log = self.shared.log.lock();
            let side = self.shared.side(&log, directory)?;
            let id = log.tree.find(directory);
            let overlaid = id.and_then(|id| log.tree.name(id, name.as_bytes())).map(|overlaid| overlaid.node);
            // Nobody else uses it yet.
            let owned = || id.filter(|_| is_ours).and_then(|id| log.tree.owned(id, name.as_bytes()));
            let overlaid = overlaid.or_else(owned);
            if let NodeSide::Here(id) = side {
                let coming =
                    log.tree.get(id).and_then(|known| known.coming.as_ref()).ok_or(FsError::Stale)?;
                if coming.what != MadeNode::Directory {
                    return Err(FsError::NotDirectory);
                }
            }
            match (overlaid, side) {
                (Some(node), _) => {
                    let node = node.ok_or(FsError::NotFound)?;
                    log.tree.get(node).ok_or(FsError::Stale)?.shown
                }
                // What the server has of a directory that is not finished was made here.
                (None, NodeSide::Here(id)) => match log.tree.get(id).map(|known| known.at) {
                    Some(Whereabouts::There(real)) => return Ok(Err(real)),
                    _ => return Err(FsError::NotFound),
                },
                (None, NodeSide::There(real)) => return Ok(Err(real)),
            }
        };
        let relisted = self.relisted(caller, (directory, name), &shown);
        let attributes = relisted.map_or_else(|| self.attributes_of(caller, &shown), Ok)?;
        Ok(Ok(Found { node: Node { handle: shown, attributes }, directory: None }))
    }

    /// The attributes of a node that has a name at the server, if what is remembered of them is old. They are asked for by the name: after
    /// several such names, the whole directory is listed at once.
    fn relisted(&self, caller: &Caller, place: (&Handle, Name<'_>), node: &Handle) -> Option<Attributes> {
        let (directory, real) = {
            let log = self.shared.log.lock();
            let id = log.tree.find(place.0)?;
            if log.tree.name(id, place.1.as_bytes()).is_some() {
                return None;
            }
            match (self.shared.side(&log, place.0).ok()?, self.shared.side(&log, node).ok()?) {
                (NodeSide::There(directory), NodeSide::There(real)) => (directory, real),
                _ => return None,
            }
        };
        if self.shared.consistency.is_believed(&real) {
            return None;
        }
        let since = self.shared.since();
        let found = self.shared.inner.lookup(caller, &directory, place.1).ok()?;
        let is_it = found.node.handle == real;
        is_it.then(|| self.shared.presented(caller, since, node, found.node.attributes))
    }

    /// Whether only this mount uses a node, as far as is known.
    pub(super) fn is_ours(&self, shown: &Handle) -> bool {
        let (now, is_alone) = (self.shared.now(), self.shared.consistency.is_alone());
        let log = self.shared.log.lock();
        let is_ours = |id| is_alone && log.tree.is_own(shown) || log.is_ours(now, id);
        log.tree.find(shown).is_some_and(is_ours)
    }

    /// Whether a name must be made by the server, since other hosts may rely on it, too.
    pub(super) fn is_lock(&self, directory: &Handle, name: Name<'_>) -> bool {
        is_lock_like(name.as_bytes()) && !self.shared.consistency.is_alone() && !self.is_ours(directory)
    }

    /// What a caller may do with a node that was made here and is not all there, or that nobody else uses yet. Where the
    /// permission bits refuse another user than its maker, the server may know that user better.
    pub(super) fn own_rights(
        &self,
        caller: &Caller,
        node: &Handle,
        wanted: Access,
    ) -> Result<Option<(Access, Attributes)>> {
        {
            let log = self.shared.log.lock();
            let Some(id) = log.tree.find(node) else { return Ok(None) };
            let known = log.tree.get(id).ok_or(FsError::Stale)?;
            if let Some(coming) = &known.coming {
                let is_maker = coming.caller.user == caller.user;
                let granted = granted(caller, &coming.attributes, is_maker);
                let is_known = is_maker || granted.contains(wanted);
                return Ok(is_known.then_some((granted, coming.attributes)));
            }
        }
        if !self.is_ours(node) {
            return Ok(None);
        }
        let attributes = self.attributes_of(caller, node)?;
        let owns = attributes.user == caller.user;
        Ok(owns.then(|| (granted(caller, &attributes, true), attributes)))
    }

    /// Makes a node under a name that is free, if there are grounds for that. `None`: the server is to be asked.
    pub(super) fn make_behind(
        &self,
        caller: &Caller,
        (directory, name): (&Handle, Name<'_>),
        what: MadeNode,
        new: &NewAttributes,
    ) -> Result<Option<Node>> {
        let kind = match what {
            MadeNode::File => FileKind::Regular,
            MadeNode::Directory => FileKind::Directory,
            MadeNode::Link(_) => FileKind::SymbolicLink,
        };
        let mode = new.mode.unwrap_or(if kind == FileKind::Directory { 0o777 } else { 0o666 });
        let only_mode = NewAttributes { mode: None, ..*new } == NewAttributes::default();
        if !only_mode || mode & SET_ID != 0 {
            return Ok(None);
        }
        let mode = if kind == FileKind::SymbolicLink { 0o777 } else { mode };
        let now = self.shared.now();
        if self.is_lock(directory, name) {
            return Ok(None);
        }
        self.shared.admit(0)?;
        // What is to be refused, the server refuses.
        let Ok(parent) = self.may_change_names(caller, directory) else { return Ok(None) };
        if self.lookup_any(caller, directory, name) != Err(FsError::NotFound) {
            return Ok(None);
        }
        if !self.has_room(caller, 0) {
            return Ok(None);
        }
        let size = if let MadeNode::Link(target) = &what { target.len() as u64 } else { 0 };
        let mut log = self.shared.log.lock();
        let Some(expected) = log.expected(caller, &parent, mode, kind, size) else { return Ok(None) };
        // Where it was removed meanwhile, the server is to say so.
        let Ok(side) = self.shared.side(&log, directory) else { return Ok(None) };
        let id = match side {
            NodeSide::Here(id) => id,
            NodeSide::There(_) => log.tree.enter(directory),
        };
        if log.is_careful(now, id) {
            log.tree.forget(id);
            return Ok(None);
        }
        if log.tree.name(id, name.as_bytes()).is_some_and(|overlaid| overlaid.node.is_some()) {
            return Err(FsError::Exists);
        }
        let (handle, attributes) = log.make(now, caller, (id, name.as_bytes(), &parent), what, expected);
        let make = log.last();
        self.shared.keep(log, make);
        Ok(Some(Node { handle, attributes }))
    }

    /// Makes a node at the server, and learns how it makes such.
    pub(super) fn make_through(
        &self,
        caller: &Caller,
        (directory, name): (&Handle, Name<'_>),
        new: Option<&NewAttributes>,
        change: &mut Change,
        run: impl FnOnce(&dyn FileSystem, &Handle, &mut Change) -> Result<Node>,
    ) -> Result<Node> {
        self.shared.settle(&[], &[(directory, name.as_bytes())]);
        self.shared.sync_journal();
        let real = self.shared.real(directory)?;
        let parent = self.attributes_of(caller, directory);
        let since = self.shared.since();
        let outcome = run(&*self.shared.inner, &real, change);
        self.present((caller, since), directory, change);
        self.disown(directory, name);
        let made = outcome?;
        {
            let now = self.shared.now();
            let mut log = self.shared.log.lock();
            log.answered(now);
            log.saw(now, made.attributes.changed);
            let asked = match made.attributes.kind {
                FileKind::SymbolicLink => Some(0o777),
                _ => new.and_then(|new| new.mode),
            };
            if made.attributes.kind == FileKind::Directory {
                // The kernel does not look up what it made.
                log.found_directory(directory, name.as_bytes(), made.handle);
                if let Some(id) = log.tree.find(directory) {
                    log.tree.recount(id, 1);
                }
            }
            if let (Ok(parent), Some(mode)) = (&parent, asked) {
                log.grounds.learn(caller, parent, mode, &made.attributes);
            }
        }
        Ok(self.shared.shown(caller, since, made))
    }

    /// A node was renamed at the server. What is in it comes along.
    pub(super) fn disown_name(&self, directory: &Handle, name: Name<'_>) {
        let mut log = self.shared.log.lock();
        if let Some(id) = log.tree.find(directory) {
            log.tree.disown_name(id, name.as_bytes());
        }
    }

    /// A name was changed at the server.
    pub(super) fn disown(&self, directory: &Handle, name: Name<'_>) {
        let mut log = self.shared.log.lock();
        if let Some(id) = log.tree.find(directory) {
            log.tree.disown_in(id, name.as_bytes());
            log.tree.disown_name(id, name.as_bytes());
        }
    }

    /// The attributes of a directory in which a caller may make and remove names.
    pub(super) fn may_change_names(&self, caller: &Caller, directory: &Handle) -> Result<Attributes> {
        let now = self.shared.now();
        if let Some(seen) = self.vouched.get(now, directory, caller) {
            let log = self.shared.log.lock();
            let id = log.tree.find(directory);
            let known = id.and_then(|id| log.tree.get(id)).filter(|known| known.gone.is_none());
            let names = id.and_then(|id| log.tree.names(id));
            // Each reply to a change in it makes what is known below old: the server is not asked after each.
            if let (Some(known), Some(names)) = (known, names) {
                return Ok(known.pending(seen, Some(names)));
            }
        }
        let needed = Access::MODIFY | Access::EXTEND;
        let (granted, attributes) = Layer::access(self, caller, directory, needed | Access::LOOKUP)?;
        if attributes.kind != FileKind::Directory {
            return Err(FsError::NotDirectory);
        }
        if !granted.contains(needed) {
            return Err(FsError::AccessDenied);
        }
        self.vouched.put(now, directory, caller, attributes);
        Ok(attributes)
    }

    /// Where a name leads, here or at the server.
    pub(super) fn lookup_any(&self, caller: &Caller, directory: &Handle, name: Name<'_>) -> Result<Node> {
        Ok(Layer::lookup(self, caller, directory, name)?.node)
    }

    /// Whether the server has room for so many bytes beside all that is pending. It is asked now and then, while nobody waits; only where
    /// little is left, this waits.
    pub(super) fn has_room(&self, caller: &Caller, bytes: u64) -> bool {
        let now = self.shared.now();
        let known = {
            let mut log = self.shared.log.lock();
            if log.refused_bytes > REFUSED_MAX {
                return false;
            }
            let wanted = bytes + log.bytes() as u64;
            let space = log.space;
            let is_old = space.is_none_or(|(at, _)| now.saturating_sub(at) >= SPACE_KNOWN);
            log.wants_space |= is_old && !log.space_is_asked;
            let is_ample = |(_, available): (_, u64)| wanted.saturating_mul(AMPLE) <= available;
            space.filter(|space| !is_old || is_ample(*space)).map(|(_, available)| wanted < available)
        };
        match known {
            Some(has_room) => {
                self.shared.work.notify_one();
                has_room
            }
            None => {
                self.shared.ask_for_room(caller);
                let log = self.shared.log.lock();
                log.space.is_none_or(|(_, available)| bytes + (log.bytes() as u64) < available)
            }
        }
    }

    /// Sets attributes of a node, if there are grounds for that. `None`: the server is to be asked.
    pub(super) fn set_behind(&self, caller: &Caller, set: &SetAttributes<'_>) -> Option<Result<()>> {
        let new = *set.new;
        if set.guard.is_some() || new.mode.is_some_and(|mode| mode & SET_ID != 0) {
            return None;
        }
        if let Err(error) = self.shared.admit(0) {
            return Some(Err(error));
        }
        let attributes = self.attributes_of(caller, set.node).ok()?;
        // A caller that has a node already need not be given it.
        let keeps_owner = new.user.is_none_or(|user| user == attributes.user)
            && new.group.is_none_or(|group| group == attributes.group);
        let owns = caller.user == attributes.user;
        if !keeps_owner || !owns || attributes.mode & SET_ID != 0 {
            return None;
        }
        let is_now = new.accessed == SetTime::Now || new.modified == SetTime::Now;
        if is_now && !self.shared.log.lock().knows_time() {
            return None;
        }
        let new = NewAttributes { user: None, group: None, ..new };
        if new == NewAttributes::default() {
            return Some(Ok(()));
        }
        let new =
            NewAttributes { accessed: self.timed(new.accessed), modified: self.timed(new.modified), ..new };
        let now = self.shared.now();
        let mut log = self.shared.log.lock();
        let side = match self.shared.side(&log, set.node) {
            Ok(side) => side,
            Err(error) => return Some(Err(error)),
        };
        let id = match side {
            NodeSide::Here(id) => id,
            NodeSide::There(_) => log.tree.enter(set.node),
        };
        let directory =
            log.tree.get(id).and_then(|known| known.place.as_ref()).map(|(directory, _)| *directory);
        let is_careful =
            log.is_synchronous || directory.is_some_and(|directory| log.is_careful(now, directory));
        let set = if is_careful { None } else { log.set(now, caller, (id, &attributes), &new) };
        log.tree.forget(id);
        self.shared.keep(log, set);
        set.map(|_| Ok(()))
    }

    /// "Now" is when the program said it, and not when the server hears of it.
    fn timed(&self, time: SetTime) -> SetTime {
        match time {
            SetTime::Now => {
                let now = self.shared.now();
                SetTime::To(self.shared.log.lock().time(now))
            }
            other => other,
        }
    }
}
