//! What is seen of an operation: only what must be the same on every file system.

use crate::{Access, Attributes, DeviceNumber, FileKind};

/// The attributes that must agree: neither times nor numbers of nodes, nor what a directory's size is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct View {
    kind: FileKind,
    /// A symbolic link has none that counts.
    mode: Option<u32>,
    /// Whether directories count their children differs.
    links: Option<u32>,
    user: u32,
    group: u32,
    size: Option<u64>,
    device: DeviceNumber,
}

impl From<&Attributes> for View {
    fn from(attributes: &Attributes) -> Self {
        let Attributes { kind, mode, links, user, group, size, device, .. } = *attributes;
        let has_data = matches!(kind, FileKind::Regular | FileKind::SymbolicLink);
        Self {
            kind,
            mode: (kind != FileKind::SymbolicLink).then_some(mode),
            links: (kind != FileKind::Directory).then_some(links),
            user,
            group,
            size: has_data.then_some(size),
            device,
        }
    }
}

/// A name, and the node it leads to where the listing has it.
pub(super) type SeenEntry = (Vec<u8>, Option<View>);

/// The answer of a call that succeeds.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Seen {
    Nothing,
    Node(View),
    Rights(Access),
    Target(Vec<u8>),
    Data(Vec<u8>, bool),
    Count(usize),
    /// In the order of the names.
    Entries(Vec<SeenEntry>),
}

impl std::fmt::Debug for Seen {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Nothing => formatter.write_str("success"),
            Self::Node(view) => view.fmt(formatter),
            Self::Rights(rights) => write!(formatter, "rights {:#04x}", rights.bits()),
            Self::Target(target) => write!(formatter, "target \"{}\"", target.escape_ascii()),
            Self::Data(data, end) => {
                let start = &data[..data.len().min(16)];
                let rest = data.iter().fold(0_u64, |sum, &byte| sum.wrapping_mul(31) + u64::from(byte));
                write!(formatter, "{} bytes {start:?}.. (sum {rest:x}), end {end}", data.len())
            }
            Self::Count(count) => write!(formatter, "{count} bytes"),
            Self::Entries(entries) => {
                let names = entries.iter().map(|(name, view)| (name.escape_ascii().to_string(), view));
                formatter.debug_list().entries(names).finish()
            }
        }
    }
}

/// The rights that must agree on a node of that kind: of a link only that it can be read, and what cannot be listed,
/// searched or executed says nothing about that.
pub(super) fn comparable_rights(kind: FileKind) -> Access {
    let data = Access::READ | Access::MODIFY | Access::EXTEND;
    match kind {
        FileKind::Directory => data | Access::LOOKUP | Access::DELETE,
        FileKind::Regular => data | Access::EXECUTE,
        FileKind::SymbolicLink => Access::NONE,
        _ => data,
    }
}
