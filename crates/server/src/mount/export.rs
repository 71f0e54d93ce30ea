//! EXPORT: what is exported, and to which clients (RFC 1813 5.2.5).

use howdah_wire::mount::export::{Export as Line, Reply as Answer};
use howdah_wire::mount::{DirectoryPath, HostName, NAME_MAX, PATH_MAX};

use super::MountProtocol;
use crate::exports::{ClientRule, Clients, Export};
use crate::program::Refusal;
use crate::{Reply, Request};

/// Answers EXPORT. An export that no rule opens to anybody is not listed, since on the wire an empty list means everybody.
pub fn run(mount: &MountProtocol, _: &mut Request<'_, '_>, reply: &mut Reply) -> Result<(), Refusal> {
    let exports = mount.exports();
    let lists: Vec<_> = exports
        .iter()
        .filter(|export| !export.rules().is_empty() && export.name().len() <= PATH_MAX as usize)
        .map(|export| (export.name(), groups(export)))
        .collect();
    let exports = lists.iter().map(|(name, groups)| Line {
        path: DirectoryPath(name.as_bytes()),
        groups: groups.iter().map(|group| HostName(group.as_bytes())).collect(),
    });
    reply.write(&Answer { exports: exports.collect() });
    Ok(())
}

/// The clients that an export is for, one text for each address or network; none for everybody.
fn groups(export: &Export) -> Vec<String> {
    if export.rules().iter().any(|rule| rule.clients == Clients::Any) {
        return Vec::new();
    }
    let mut groups: Vec<String> = export.rules().iter().flat_map(texts).collect();
    groups.retain(|group| group.len() <= NAME_MAX as usize);
    groups
}

fn texts(rule: &ClientRule) -> Vec<String> {
    match &rule.clients {
        Clients::Addresses(addresses) => addresses.iter().map(ToString::to_string).collect(),
        clients => vec![clients.to_string()],
    }
}
