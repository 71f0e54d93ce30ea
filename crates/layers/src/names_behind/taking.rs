//! Removing, renaming and linking: what is answered here, and on what grounds.

use howdah_vfs::{
    AddLink, Attributes, Caller, Change, FileKind, FileSystem, FsError, Handle, Name, Node, Result,
};

use super::NamesBehind;
use super::grounds::is_sticky_for;
use super::log::Log;
use super::order::NodeNumber;
use super::shared::NodeSide;

impl NamesBehind {
    /// Removes a name, if there are grounds for that. `None`: the server is to be asked.
    pub(super) fn remove_behind(
        &self,
        caller: &Caller,
        directory: &Handle,
        name: Name<'_>,
        is_directory: bool,
    ) -> Option<Result<()>> {
        // What is to be refused, the server refuses.
        let since = self.shared.since();
        let (parent, node) = self.victim(caller, (directory, name), is_directory).ok()??;
        let (node, attributes) = (node.handle, node.attributes);
        let now = self.shared.now();
        let mut log = self.shared.log.lock();
        let (id, victim) = self.both(&mut log, directory, &node)?;
        if log.is_careful(now, id) || !self.still_leads(&log, (id, name), victim) {
            forget(&mut log, &[id, victim]);
            return None;
        }
        let number = log.remove((now, since), caller, (id, name.as_bytes(), &parent), (victim, &attributes));
        self.shared.keep(log, Some(number));
        self.listings.removed(directory, name.as_bytes());
        self.shared.over.notify_all();
        Some(Ok(()))
    }

    /// The node that a caller may remove under this name.
    fn victim(
        &self,
        caller: &Caller,
        (directory, name): (&Handle, Name<'_>),
        is_directory: bool,
    ) -> Result<Option<(Attributes, Node)>> {
        self.shared.admit(0)?;
        let parent = self.may_change_names(caller, directory)?;
        let node = self.lookup_any(caller, directory, name)?;
        match (is_directory, node.attributes.kind) {
            (true, FileKind::Directory) if self.is_empty(caller, &node.handle)? => {}
            (false, kind) if kind != FileKind::Directory => {}
            _ => return Ok(None),
        }
        if is_sticky_for(caller, &parent, &node.attributes) {
            return Ok(None);
        }
        Ok(Some((parent, node)))
    }

    /// The numbers of two nodes that are there.
    fn both(&self, log: &mut Log, one: &Handle, other: &Handle) -> Option<(NodeNumber, NodeNumber)> {
        self.shared.side(log, one).ok()?;
        self.shared.side(log, other).ok()?;
        Some((log.tree.enter(one), log.tree.enter(other)))
    }

    /// Whether a name leads to a node still, as far as is pending.
    fn still_leads(&self, log: &Log, (directory, name): (NodeNumber, Name<'_>), node: NodeNumber) -> bool {
        log.tree.name(directory, name.as_bytes()).is_none_or(|overlaid| overlaid.node == Some(node))
    }

    /// Renames a node, if there are grounds for that. `None`: the server is to be asked.
    pub(super) fn rename_behind(
        &self,
        caller: &Caller,
        from: (&Handle, Name<'_>),
        to: (&Handle, Name<'_>),
    ) -> Option<Result<()>> {
        let since = self.shared.since();
        let (node, replaced) = self.movable(caller, from, to).ok()??;
        let (node, attributes) = (node.handle, node.attributes);
        if replaced.is_some_and(|replaced| replaced.handle == node) {
            // Two names of one node stay both.
            return Some(Ok(()));
        }
        let now = self.shared.now();
        let mut log = self.shared.log.lock();
        let (left, id) = self.both(&mut log, from.0, &node)?;
        let (entered, _) = self.both(&mut log, to.0, &node)?;
        let victim = match &replaced {
            Some(replaced) => Some((self.both(&mut log, &replaced.handle, &node)?.0, replaced.attributes)),
            None => None,
        };
        let still = self.still_leads(&log, (left, from.1), id)
            && match (victim, log.tree.name(entered, to.1.as_bytes())) {
                (_, None) => true,
                (victim, Some(overlaid)) => overlaid.node == victim.map(|(victim, _)| victim),
            };
        if log.is_careful(now, left) || log.is_careful(now, entered) || !still {
            forget(&mut log, &[left, entered, id]);
            return None;
        }
        let places = ((left, from.1.as_bytes()), (entered, to.1.as_bytes()));
        let number = log.rename((now, since), caller, places, (id, &attributes), victim);
        self.shared.keep(log, Some(number));
        self.listings.removed(from.0, from.1.as_bytes());
        Some(Ok(()))
    }

    /// The node that a caller may rename, and what it replaces.
    fn movable(
        &self,
        caller: &Caller,
        from: (&Handle, Name<'_>),
        to: (&Handle, Name<'_>),
    ) -> Result<Option<(Node, Option<Node>)>> {
        self.shared.admit(0)?;
        let left = self.may_change_names(caller, from.0)?;
        let entered = if from.0 == to.0 { left } else { self.may_change_names(caller, to.0)? };
        let node = self.lookup_any(caller, from.0, from.1)?;
        let kind = node.attributes.kind;
        let replaced = match self.lookup_any(caller, to.0, to.1) {
            Ok(replaced) => Some(replaced),
            Err(FsError::NotFound) => None,
            Err(error) => return Err(error),
        };
        // Whether a directory may go there, the server knows better.
        let moves_directory = kind == FileKind::Directory && (from.0 != to.0 || replaced.is_some());
        let hits_directory = replaced.is_some_and(|replaced| replaced.attributes.kind == FileKind::Directory);
        let is_sticky = is_sticky_for(caller, &left, &node.attributes)
            || replaced.is_some_and(|replaced| is_sticky_for(caller, &entered, &replaced.attributes));
        if moves_directory || hits_directory || is_sticky {
            return Ok(None);
        }
        Ok(Some((node, replaced)))
    }

    /// Gives a node one more name, if there are grounds for that. `None`: the server is to be asked.
    pub(super) fn link_behind(&self, caller: &Caller, link: &AddLink<'_>) -> Option<Result<Attributes>> {
        let attributes = self.linkable(caller, link).ok()??;
        let now = self.shared.now();
        {
            let mut log = self.shared.log.lock();
            let (directory, id) = self.both(&mut log, link.directory, link.node)?;
            let is_taken = log
                .tree
                .name(directory, link.name.as_bytes())
                .is_some_and(|overlaid| overlaid.node.is_some());
            if log.is_careful(now, directory) || is_taken {
                forget(&mut log, &[directory, id]);
                return None;
            }
            let number = log.link(now, caller, (id, &attributes), (directory, link.name.as_bytes()));
            self.shared.keep(log, Some(number));
        }
        Some(self.attributes_of(caller, link.node))
    }

    fn linkable(&self, caller: &Caller, link: &AddLink<'_>) -> Result<Option<Attributes>> {
        self.shared.admit(0)?;
        let is_made_here = self.shared.log.lock().tree.is_own(link.node);
        // Whether a file may have more names (its owner, the number of links, another file system) the server knows better.
        if !is_made_here || self.is_lock(link.directory, link.name) {
            return Ok(None);
        }
        self.may_change_names(caller, link.directory)?;
        let attributes = self.attributes_of(caller, link.node)?;
        if attributes.kind == FileKind::Directory || attributes.user != caller.user {
            return Ok(None);
        }
        match self.lookup_any(caller, link.directory, link.name) {
            Ok(_) => return Err(FsError::Exists),
            Err(FsError::NotFound) => {}
            Err(error) => return Err(error),
        }
        Ok(Some(attributes))
    }

    /// Removes a name at the server, when nothing of it is pending.
    pub(super) fn take_through(
        &self,
        caller: &Caller,
        (directory, name, is_directory): (&Handle, Name<'_>, bool),
        change: &mut Change,
        run: impl FnOnce(&dyn FileSystem, &Handle, &mut Change) -> Result<()>,
    ) -> Result<()> {
        self.shared.settle_user(caller.user);
        self.settle_names(&[(directory, name)]);
        let victim = self.lookup_any(caller, directory, name).ok();
        // What was made in it before keeps it.
        self.shared.settle(&victim.iter().map(|node| &node.handle).collect::<Vec<_>>(), &[]);
        self.shared.sync_journal();
        let (since, real) = (self.shared.since(), self.shared.real(directory)?);
        let outcome = run(&*self.shared.inner, &real, change);
        self.present((caller, since), directory, change);
        self.disown(directory, name);
        if outcome.is_ok() {
            self.listings.removed(directory, name.as_bytes());
            let mut log = self.shared.log.lock();
            let is_last = victim.is_some_and(|node| is_directory || node.attributes.links <= 1);
            if let Some(node) = victim.filter(|_| is_last) {
                log.is_gone(&node.handle);
            }
            if let Some(id) = log.tree.find(directory).filter(|_| is_directory) {
                log.tree.recount(id, -1);
            }
        }
        outcome
    }

    /// Waits until nothing is pending of names, of what has them, and of what is in it.
    pub(super) fn settle_names(&self, names: &[(&Handle, Name<'_>)]) {
        let nodes: Vec<Handle> = {
            let log = self.shared.log.lock();
            let leads = |(directory, name): &(&Handle, Name<'_>)| {
                let id = log.tree.find(directory)?;
                let node = log.tree.name(id, name.as_bytes())?.node?;
                Some(log.tree.get(node)?.shown)
            };
            names.iter().filter_map(leads).collect()
        };
        let nodes: Vec<&Handle> = nodes.iter().collect();
        let names: Vec<_> = names.iter().map(|(directory, name)| (*directory, name.as_bytes())).collect();
        self.shared.settle(&nodes, &names);
    }

    /// A node was renamed at the server: what is known of where it is follows.
    pub(super) fn moved(&self, caller: &Caller, (directory, name): (&Handle, Name<'_>)) {
        let Ok(node) = self.lookup_any(caller, directory, name) else { return };
        let mut log = self.shared.log.lock();
        if node.attributes.kind == FileKind::Directory {
            log.found_directory(directory, name.as_bytes(), node.handle);
        }
        if !log.tree.is_own(&node.handle) {
            return;
        }
        let Ok(NodeSide::There(_) | NodeSide::Here(_)) = self.shared.side(&log, &node.handle) else { return };
        let entered = log.tree.is_own(directory).then(|| log.tree.find(directory)).flatten();
        let id = log.tree.find(&node.handle);
        if let Some(known) = id.and_then(|id| log.tree.get_mut(id)) {
            known.place = entered.map(|entered| (entered, name.as_bytes().to_vec()));
            entered.into_iter().for_each(|entered| log.tree.own_name(entered, name.as_bytes(), id));
        }
    }
}

fn forget(log: &mut Log, nodes: &[NodeNumber]) {
    nodes.iter().for_each(|node| log.tree.forget(*node));
}
