//! ACLs of the file system as entries of NFSACL, and back.

use howdah_vfs::{Acl, AclEntry, AclKind, AclSubject, Attributes};
use howdah_wire::nfs3::Status;
use howdah_wire::nfsacl::{AclEntryOnWire, AclOnWire, AclSelection};
use howdah_wire::xdr::Array;

/// An ACL of a node, if it is selected: how many entries it has, and those that are asked for.
#[derive(Default)]
pub struct SelectedAcl {
    count: u32,
    entries: Vec<AclEntryOnWire>,
}

/// What of a selection is about each ACL: its entries, or their number.
pub const fn selects(kind: AclKind) -> (AclSelection, AclSelection) {
    match kind {
        AclKind::Access => (AclSelection::ACCESS, AclSelection::ACCESS_COUNT),
        AclKind::Default => (AclSelection::DEFAULT, AclSelection::DEFAULT_COUNT),
    }
}

impl SelectedAcl {
    /// The entries, if they are asked for, of an ACL of the node with these attributes.
    pub fn new(acl: Acl, kind: AclKind, node: &Attributes, has_entries: bool) -> Self {
        let acl = acl.with_mask();
        let entry = |entry: &AclEntry| on_wire(*entry, kind, node);
        let entries = if has_entries { acl.entries().iter().map(entry).collect() } else { Vec::new() };
        Self { count: acl.entries().len() as u32, entries }
    }

    /// As it is sent.
    pub fn as_wire(&self) -> AclOnWire<'_> {
        AclOnWire { count: self.count, entries: Array::of(&self.entries) }
    }
}

/// The ids of the owner and the owning group are sent too.
fn on_wire(entry: AclEntry, kind: AclKind, node: &Attributes) -> AclEntryOnWire {
    let flag = if kind == AclKind::Default { AclEntryOnWire::DEFAULT } else { 0 };
    let id = match entry.subject {
        AclSubject::Owner => node.user,
        AclSubject::OwningGroup => node.group,
        _ => entry.id().unwrap_or(0),
    };
    AclEntryOnWire { tag: u32::from(entry.tag()) | flag, id, rights: entry.rights.into() }
}

/// The ACL that a client sets; `None` if it has no entries.
pub fn acl_to_set(sent: &AclOnWire<'_>) -> Result<Option<Acl>, Status> {
    if sent.count as usize != sent.entries.len() {
        return Err(Status::Invalid);
    }
    if sent.entries.is_empty() {
        return Ok(None);
    }
    let entry = |sent: AclEntryOnWire| {
        AclEntry::from_parts(sent.tag & !AclEntryOnWire::DEFAULT, sent.id, sent.rights)
    };
    let entries: Result<Vec<_>, _> = sent.entries.iter().map(entry).collect();
    let acl = entries.and_then(Acl::new).map_err(|_| Status::Invalid)?;
    Ok(Some(acl.without_equal_mask()))
}
