//! `howdah ls`.

use std::ops::ControlFlow;

use anyhow::Context;
use howdah_vfs::{Detail, FileKind, Node, Shown};
use serde_json::json;

use super::Failure;
use crate::arguments::LsArguments;
use crate::places::{Following, Location, Opener, Place};
use crate::report::{self, Listed, attributes_json, listing};

/// Lists each place; goes on with the others where one cannot be had.
pub fn run(arguments: &LsArguments) -> Result<(), Failure> {
    let mut opener = Opener::default();
    let mut lister = Lister { arguments, titled: arguments.places.len() > 1, first: true, failed: false };
    for location in &arguments.places {
        if let Err(error) = lister.place(&mut opener, location) {
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
    }

    fn place(&mut self, opener: &mut Opener, location: &Location) -> anyhow::Result<()> {
        // As ls(1): a link that is named is followed, unless it is to be described.
        let following = if self.arguments.long { Following::Nothing } else { Following::Links };
        let place = opener.open(location, following)?;
        let node = place.node().with_context(|| format!("looking up {location}"))?;
        let path = location.as_bytes().to_vec();
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
            let entries = match self.entries(place, &node) {
                Ok(entries) => entries,
                Err(refused) => {
                    self.complain(&anyhow::Error::new(refused).context(format!("listing {}", Shown(&path))));
                    continue;
                }
            };
            if self.titled && !self.arguments.json {
                let gap = if self.first { "" } else { "\n" };
                report::print(&format!("{gap}{}:\n", Shown(&path)));
            }
            self.first = false;
            self.show(&path, &entries);
            if self.arguments.recursive {
                let below = entries.iter().rev().filter_map(|entry| {
                    let node = entry.node.filter(|node| node.attributes.kind == FileKind::Directory)?;
                    let length = path.iter().rposition(|&byte| byte != b'/').map_or(0, |last| last + 1);
                    Some(([&path[..length], b"/", &entry.name].concat(), node))
                });
                left.extend(below);
            }
        }
        Ok(())
    }

    fn entries(&self, place: &Place, directory: &Node) -> howdah_vfs::Result<Vec<Listed>> {
        let arguments = self.arguments;
        let needs_nodes = arguments.long || arguments.recursive || arguments.json;
        let detail = if needs_nodes { Detail::Nodes } else { Detail::Names };
        let (mut found, mut cookie) = (Vec::new(), 0);
        loop {
            let from = cookie;
            let mut sink = |entry: howdah_vfs::Entry<'_>| {
                cookie = entry.cookie;
                let is_self = matches!(entry.name, b"." | b"..");
                if !is_self && (arguments.all || !entry.name.starts_with(b".")) {
                    found.push((entry.name.to_vec(), entry.node.copied()));
                }
                ControlFlow::Continue(())
            };
            let files = &place.file_system;
            if files.read_directory(&place.caller, &directory.handle, from, detail, &mut sink)?.end {
                break;
            }
        }
        found.sort_by(|one, other| one.0.cmp(&other.0));
        Ok(found.into_iter().map(|(name, node)| self.listed(place, name, node)).collect())
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
            value["name"] = json!(Shown(&entry.name).to_string());
            value["in"] = json!(Shown(path).to_string());
            if let Some(target) = &entry.target {
                value["target"] = json!(Shown(target).to_string());
            }
            report::print(&format!("{value}\n"));
        }
    }
}
