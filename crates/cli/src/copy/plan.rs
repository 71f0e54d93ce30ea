//! Which copy is meant: as in cp(1), a directory that is there is copied into, and anything else is what the copy is
//! called; but a directory that an interrupted copy of the same source left is gone on with.

use std::collections::HashMap;
use std::collections::hash_map::Entry as Slot;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use howdah_client::Remote;
use howdah_copy::{CopyTarget, Item, mark_in, source_id};
use howdah_daemon::places::{Following, LOCAL, Location, Opener, Place};
use howdah_threads::each_at_once;
use howdah_vfs::{FileKind, FsError, Handle, Node, Shown};

use crate::report;

/// So many sources are looked for at a time.
const FOUND_AT_ONCE: usize = 128;

/// A copy, ready to run.
pub struct CopyPlan {
    /// What goes where.
    pub items: Vec<Item>,
    /// Where all of it goes.
    pub destination: Place,
    /// Whether a side is at a server.
    pub remote: bool,
    /// Whether a server gives what is made on this machine.
    pub from_server: bool,
    /// The clients of those that are.
    pub clients: Vec<Arc<dyn Remote>>,
    /// Of several sources, how many cannot be copied. Each has been reported.
    pub refused: u64,
}

/// Finds out what is meant. `exact`: the last place is what the copy is to be.
pub fn plan(places: &[Location], recursive: bool, exact: bool) -> Result<CopyPlan> {
    let (to, from) = places.split_last().context("no destination")?;
    let opener = Opener::default();
    let destination = opener.open_to_write(to)?;
    let there = match destination.node() {
        Ok(node) => Some(node),
        Err(FsError::NotFound) => None,
        Err(refused) => return Err(refused).with_context(|| format!("cannot find {to}")),
    };
    let planner = Planner { to, destination: &destination, there, exact, several: from.len() > 1 };
    planner.check()?;
    // Links in the tree are copied; one that is named alone, without -r, is followed, as in cp(1).
    let following = if recursive { Following::Nothing } else { Following::Links };
    let (mut items, mut remote, mut refused) = (Vec::new(), destination.realm != LOCAL, 0);
    let (mut taken, mut from_server) = (HashMap::new(), false);
    for (location, found) in from.iter().zip(find_all(&opener, from, following)) {
        let source = || {
            let (place, node) = found?;
            remote |= place.realm != LOCAL;
            from_server |= place.realm != LOCAL && destination.realm == LOCAL;
            let item = planner.item(location, place, node)?;
            planner.refuse_second(location, &item, &mut taken)?;
            Ok(item)
        };
        match source() {
            Ok(item) => items.push(item),
            // As in cp(1), the others are copied.
            Err(error) if from.len() > 1 => {
                report::complain(&format!("howdah: {error:#}"));
                refused += 1;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(CopyPlan { items, remote, from_server, clients: opener.clients(), destination, refused })
}

/// The sources with their nodes. Those at servers are asked for at once: a thousand of them far away would else take a thousand
/// round trips and more.
fn find_all(opener: &Opener, from: &[Location], following: Following) -> Vec<Result<(Place, Node)>> {
    let find = |location: &Location| {
        let place = match following {
            Following::Links => opener.open_file(location, following)?,
            Following::Nothing => opener.open(location, following)?,
        };
        let node = place.node().with_context(|| format!("cannot find {location}"))?;
        location.refuse_slash(&node)?;
        // A link is copied as one, wherever it leads.
        if node.attributes.kind != FileKind::SymbolicLink {
            place.refuse_unsized().with_context(|| format!("cannot copy {location}"))?;
        }
        Ok((place, node))
    };
    let is_remote = |location: &Location| matches!(location, Location::Nfs(..));
    match from.iter().any(is_remote) {
        true => each_at_once(from, FOUND_AT_ONCE, find),
        false => from.iter().map(find).collect(),
    }
}

/// The entries that items become, and of what kind they are.
type Taken = HashMap<(Handle, Vec<u8>), FileKind>;

struct Planner<'a> {
    to: &'a Location,
    destination: &'a Place,
    there: Option<Node>,
    exact: bool,
    several: bool,
}

impl Planner<'_> {
    fn directory_there(&self) -> Option<Node> {
        self.there.filter(|node| node.attributes.kind == FileKind::Directory)
    }

    fn check(&self) -> Result<()> {
        if let Some(there) = &self.there {
            self.to.refuse_slash(there)?;
        }
        if self.several && self.exact {
            bail!("-T takes one source; leave it out, and name a directory as destination");
        }
        if self.several && self.directory_there().is_none() {
            bail!("several sources need a directory: {} is not a directory; create it first", self.to);
        }
        Ok(())
    }

    fn item(&self, location: &Location, place: Place, node: Node) -> Result<Item> {
        let is_directory = node.attributes.kind == FileKind::Directory;
        if is_directory {
            self.refuse_inside(location, &place)?;
        } else if self.destination.leads_to_special() {
            bail!("cannot copy {location} to {}: that is a device, a pipe or a socket", self.to);
        }
        let id = source_id(&label(&place));
        let target = self.target(location, is_directory, id)?;
        let source = Arc::new(place.side());
        let path = location.unescaped();
        let directory_path = match self.directory_there() {
            Some(_) => self.destination.label.clone(),
            None => above(&self.destination.label).to_vec(),
        };
        Ok(Item { source, node, target, path, directory_path, id })
    }

    fn target(&self, location: &Location, is_directory: bool, id: u64) -> Result<CopyTarget> {
        match self.directory_there() {
            Some(directory) if is_directory && (self.exact || self.is_begun(&directory, id)) => {
                Ok(CopyTarget::Directory(directory))
            }
            Some(_) if self.exact => {
                bail!("cannot copy {location} as {}: a directory is in the way", self.to)
            }
            Some(directory) => match location.last_name() {
                Some(name) => Ok(CopyTarget::Entry { directory: directory.handle, name }),
                // `cp -r . there` and the like: what is in it.
                None if is_directory => Ok(CopyTarget::Directory(directory)),
                None => bail!("cannot copy {location}: it has no name; name the copy"),
            },
            None => self.new_entry(location, is_directory),
        }
    }

    /// Of two sources that would become one entry, the second would replace the first; two directories become one.
    fn refuse_second(&self, location: &Location, item: &Item, taken: &mut Taken) -> Result<()> {
        let CopyTarget::Entry { directory, name } = &item.target else { return Ok(()) };
        let kind = item.node.attributes.kind;
        match taken.entry((*directory, name.clone())) {
            Slot::Vacant(slot) => {
                slot.insert(kind);
                Ok(())
            }
            Slot::Occupied(first) if (*first.get(), kind) == (FileKind::Directory, FileKind::Directory) => {
                Ok(())
            }
            Slot::Occupied(_) => {
                bail!(
                    "cannot copy {location} to {}: an earlier source is called {}, too",
                    self.to,
                    Shown(name)
                )
            }
        }
    }

    /// Whether an earlier copy of this source, alone, was interrupted in this directory.
    fn is_begun(&self, directory: &Node, id: u64) -> bool {
        !self.several && mark_in(&self.destination.side(), directory, id).is_some()
    }

    fn new_entry(&self, location: &Location, is_directory: bool) -> Result<CopyTarget> {
        if self.to.means_directory() && !is_directory {
            bail!(
                "cannot copy {location} to {}: there is no such directory; create it first, or leave out the slash",
                self.to
            );
        }
        let parent = self.destination.parent();
        let (directory, name) =
            parent.with_context(|| format!("cannot find the directory of {}", self.to))?;
        let name = name.with_context(|| format!("cannot copy to {}: it is not a directory", self.to))?;
        Ok(CopyTarget::Entry { directory: directory.handle, name: name.to_vec() })
    }

    fn refuse_inside(&self, location: &Location, place: &Place) -> Result<()> {
        let above = place.label.strip_suffix(b"/").unwrap_or(&place.label);
        let inside = self.destination.label.strip_prefix(above);
        let is_inside = inside.is_some_and(|rest| rest.starts_with(b"/") && rest.len() > 1);
        if place.realm == self.destination.realm && is_inside {
            bail!("cannot copy {location} to {}: a directory cannot be copied into itself", self.to);
        }
        Ok(())
    }
}

/// The path of the directory that the last name is in.
fn above(label: &[u8]) -> &[u8] {
    match label.iter().rposition(|&byte| byte == b'/') {
        Some(0) => b"/",
        Some(at) => &label[..at],
        None => b".",
    }
}

/// The name of a source that keeps copies apart: a local path with the machine that it is on.
fn label(place: &Place) -> Vec<u8> {
    match place.realm == LOCAL {
        true => [rustix::system::uname().nodename().to_bytes(), b":", &place.label].concat(),
        false => place.label.clone(),
    }
}
