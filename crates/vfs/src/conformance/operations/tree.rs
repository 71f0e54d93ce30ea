//! What a whole directory holds in the end, as lines that must be the same on both sides.

use std::collections::HashMap;

use super::seen::View;
use super::universe::OFFSETS;
use crate::conformance::actor::Actor;
use crate::{Detail, FileKind, NewAttributes, Node, Result};

/// Bytes looked at from each place that operations write to.
const LOOK: usize = 16 * 1024;

/// Every node below `home` by path: its attributes, its data or target, and which other names it has.
pub(super) fn tree(actor: &Actor<'_>, home: &Node) -> Result<Vec<String>> {
    let mut lines = Vec::new();
    let mut first_names = HashMap::new();
    let mut open = vec![(String::new(), *home)];
    while let Some((path, directory)) = open.pop() {
        let mut entries = actor.list_by(&directory, usize::MAX, Detail::Names)?;
        entries.retain(|entry| !matches!(&entry.name[..], b"." | b".."));
        entries.sort_by(|one, other| one.name.cmp(&other.name));
        for entry in entries {
            let node = actor.look(&directory, &entry.name)?;
            let path = format!("{path}/{}", entry.name.escape_ascii());
            let first = first_names.entry(node.attributes.file).or_insert_with(|| path.clone());
            let view = View::from(&node.attributes);
            lines.push(format!("{path} = {first}: {view:?} {}", content(actor, &node)?));
            if node.attributes.kind == FileKind::Directory {
                open.push((path, node));
            }
        }
    }
    Ok(lines)
}

/// Opens every directory below `home` to its owner, who could not remove what is in it otherwise. What refuses stays as it is.
pub(super) fn open_directories(actor: &Actor<'_>, home: &Node) {
    let mut open = vec![*home];
    while let Some(directory) = open.pop() {
        let _ = actor.set(&directory, NewAttributes { mode: Some(0o700), ..NewAttributes::default() });
        let entries = actor.list_by(&directory, usize::MAX, Detail::Names).unwrap_or_default();
        let names =
            entries.into_iter().map(|entry| entry.name).filter(|name| !matches!(&name[..], b"." | b".."));
        let nodes = names.filter_map(|name| actor.look(&directory, &name).ok());
        open.extend(nodes.filter(|node| node.attributes.kind == FileKind::Directory));
    }
}

fn content(actor: &Actor<'_>, node: &Node) -> Result<String> {
    match node.attributes.kind {
        FileKind::SymbolicLink => Ok(actor.read_link(node)?.escape_ascii().to_string()),
        FileKind::Regular => {
            let mut sum = 0_u64;
            for offset in OFFSETS {
                let data = actor.read_all(node, offset, LOOK)?;
                sum = data.iter().fold(sum, |sum, &byte| sum.wrapping_mul(31).wrapping_add(u64::from(byte)));
            }
            Ok(format!("sum {sum:016x}"))
        }
        _ => Ok(String::new()),
    }
}
