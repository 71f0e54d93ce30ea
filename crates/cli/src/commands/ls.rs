//! `howdah ls`.

use anyhow::{Context, ensure};
use howdah_daemon::host::start_command_log;
use howdah_daemon::places::{Following, Location, Opener, Place, spelled};
use howdah_vfs::limits::{DIRECTORIES_LEFT_MAX, LISTED_PATH_MAX};
use howdah_vfs::listing::Batches;
use howdah_vfs::{Detail, FileKind, Node, Shown};
use serde_json::json;

use super::Failure;
use crate::arguments::LsArguments;
use crate::report::{self, Listed, attributes_json, listing, name_json, squash_note};

/// Lists each place; goes on with the others where one cannot be had.
pub fn run(arguments: &LsArguments) -> Result<(), Failure> {
    start_command_log();
    let opener = Opener::default();
    let mut lister = Lister { arguments, titled: arguments.places.len() > 1, first: true, failed: false };
    for location in &arguments.places {
        if let Err(error) = lister.place(&opener, location) {
            lister.complain(&error);
        }
    }
    if lister.failed { Err(Failure::Told) } else { Ok(()) }
}

struct Lister<'a> {
    arguments: &'a LsArguments,
    /// Whether each directory's entries stand under its path.
    titled: bool,
    first: bool,
    failed: bool,
}

impl Lister<'_> {
    fn complain(&mut self, error: &anyhow::Error) {
        self.failed = true;
        report::complain(&format!("howdah: {error:#}"));
        if let Some(note) = squash_note(error, self.arguments.places.iter().any(Location::is_root_at_server))
        {
            report::complain(&note);
        }
    }

    fn place(&mut self, opener: &Opener, location: &Location) -> anyhow::Result<()> {
        // As ls(1): a link that is named is followed, unless it is to be described.
        let following = if self.arguments.long { Following::Nothing } else { Following::Links };
        let place = opener.open(location, following)?;
        let node = place.node().with_context(|| format!("cannot find {location}"))?;
        location.refuse_slash(&node)?;
        let path = location.unescaped();
        if node.attributes.kind == FileKind::Directory {
            return self.directory(&place, &node, path);
        }
        let listed = self.listed(&place, path.clone(), Some(node));
        self.show(&path, &[listed]);
        Ok(())
    }

    /// Lists a directory and, if that is asked for, those in it: from a list of what is left, however deep it goes.
    fn directory(&mut self, place: &Place, node: &Node, path: Vec<u8>) -> anyhow::Result<()> {
        self.titled |= self.arguments.recursive;
        let mut left = vec![(path, *node)];
        while let Some((path, node)) = left.pop() {
            if report::is_unread() {
                break;
            }
            if let Err(error) = self.one_directory(place, &path, &node, &mut left) {
                self.complain(&error.context(format!("cannot list {}", Shown(&spelled(&path)))));
            }
        }
        Ok(())
    }

    /// Lists one directory, and puts those in it on the list of what is left.
    fn one_directory(
        &mut self,
        place: &Place,
        path: &[u8],
        node: &Node,
        left: &mut Vec<(Vec<u8>, Node)>,
    ) -> anyhow::Result<()> {
        let arguments = self.arguments;
        let needs_nodes = arguments.long || arguments.recursive || arguments.json;
        let detail = if needs_nodes { Detail::Nodes } else { Detail::Names };
        let wants = |name: &[u8]| arguments.all || !name.starts_with(b".");
        let is_sorted = !arguments.unsorted;
        let mut batches = Batches::new(&*place.file_system, &place.caller, node.handle, detail, is_sorted);
        let mut is_titled = false;
        while let Some(found) = batches.next(wants)? {
            if !std::mem::replace(&mut is_titled, true) {
                self.title(path);
            }
            let entries: Vec<Listed> =
                found.into_iter().map(|(name, node)| self.listed(place, name, node)).collect();
            self.show(path, &entries);
            if report::is_unread() {
                return Ok(());
            }
            if arguments.recursive {
                below(path, &entries, left)?;
            }
        }
        Ok(())
    }

    fn title(&mut self, path: &[u8]) {
        if self.titled && !self.arguments.json {
            let gap = if self.first { "" } else { "\n" };
            report::print(&format!("{gap}{}:\n", Shown(&spelled(path))));
        }
        self.first = false;
    }

    fn listed(&self, place: &Place, name: Vec<u8>, node: Option<Node>) -> Listed {
        let describes = self.arguments.long || self.arguments.json;
        let is_link = node.is_some_and(|node| node.attributes.kind == FileKind::SymbolicLink);
        let target = node.filter(|_| is_link && describes).and_then(|node| {
            let mut target = Vec::new();
            let read = place.file_system.read_link(&place.caller, &node.handle, &mut target);
            read.ok().map(|_| target)
        });
        Listed { name, node, target }
    }

    fn show(&self, path: &[u8], entries: &[Listed]) {
        if !self.arguments.json {
            report::print(&listing(entries, self.arguments.long));
            return;
        }
        for entry in entries {
            let mut value = entry.node.map_or_else(|| json!({}), |node| attributes_json(&node.attributes));
            name_json(&mut value, "name", &entry.name);
            name_json(&mut value, "in", &spelled(path));
            if let Some(target) = &entry.target {
                name_json(&mut value, "target", target);
            }
            report::print(&format!("{value}\n"));
        }
    }
}

/// Puts the directories among entries on the list of what is left, the first on top.
fn below(path: &[u8], entries: &[Listed], left: &mut Vec<(Vec<u8>, Node)>) -> anyhow::Result<()> {
    let length = path.iter().rposition(|&byte| byte != b'/').map_or(0, |last| last + 1);
    for entry in entries.iter().rev() {
        let Some(node) = entry.node.filter(|node| node.attributes.kind == FileKind::Directory) else {
            continue;
        };
        ensure!(
            length < LISTED_PATH_MAX,
            "it is too deep: what is in it has no path of {LISTED_PATH_MAX} bytes"
        );
        ensure!(
            left.len() < DIRECTORIES_LEFT_MAX,
            "more than {DIRECTORIES_LEFT_MAX} directories wait to be listed; list its parts one by one"
        );
        left.push(([&path[..length], b"/", &entry.name].concat(), node));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use howdah_vfs::memory::MemoryFileSystem;
    use howdah_vfs::{Caller, FileSystem};

    use super::*;

    fn directories(count: usize) -> Vec<Listed> {
        let files = MemoryFileSystem::new();
        let (handle, caller) = (files.root(), Caller::ROOT);
        let node = Node { handle, attributes: files.attributes(&caller, &handle).expect("a directory") };
        (0..count)
            .map(|number| Listed { name: number.to_string().into_bytes(), node: Some(node), target: None })
            .collect()
    }

    #[test]
    fn directories_that_wait_are_bounded() {
        let mut left = Vec::new();
        below(b"a/", &directories(2), &mut left).expect("few");
        let paths: Vec<&[u8]> = left.iter().map(|(path, _)| &path[..]).collect();
        assert_eq!(paths, [b"a/1", b"a/0"], "the first is on top");
        let deep = vec![b'x'; LISTED_PATH_MAX];
        assert!(below(&deep, &directories(0), &mut left).is_ok());
        let why = below(&deep, &directories(1), &mut left).expect_err("too deep").to_string();
        assert!(why.contains("too deep"), "{why}");
        below(b"a", &directories(DIRECTORIES_LEFT_MAX - 2), &mut left).expect("as many as there may be");
        let why = below(b"a", &directories(1), &mut left).expect_err("too many").to_string();
        assert!(why.contains("200000 directories wait"), "{why}");
    }
}
