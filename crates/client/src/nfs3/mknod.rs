//! MKNOD.

use howdah_vfs::{Change, DeviceNumber, FileKind, NewAttributes, Node, Result, SpecialKind};
use howdah_wire::nfs3::{self, mknod};

use super::client::Nfs3;
use super::convert::{device, new_attributes};
use super::made::Place;
use super::procedure::Procedure;

const PROCEDURE: Procedure = Procedure::once(mknod::PROCEDURE, "MKNOD");

impl Nfs3 {
    pub(super) fn create_special(
        &self,
        place: Place<'_>,
        kind: SpecialKind,
        new: &NewAttributes,
        change: &mut Change,
    ) -> Result<Node> {
        let arguments = mknod::Arguments { object: place.object(), what: what(kind, new_attributes(new)?) };
        self.make(place, PROCEDURE, &arguments, change, |node| {
            Ok(is_of_kind(node, kind) && self.is_just_made(place, node)?)
        })
    }
}

fn what(kind: SpecialKind, new: nfs3::NewAttributes) -> mknod::What {
    match kind {
        SpecialKind::BlockDevice(number) => mknod::What::BlockDevice(new, device(number)),
        SpecialKind::CharacterDevice(number) => mknod::What::CharacterDevice(new, device(number)),
        SpecialKind::Socket => mknod::What::Socket(new),
        SpecialKind::Fifo => mknod::What::Fifo(new),
    }
}

fn is_of_kind(node: &Node, kind: SpecialKind) -> bool {
    let (kind, number) = match kind {
        SpecialKind::BlockDevice(number) => (FileKind::BlockDevice, number),
        SpecialKind::CharacterDevice(number) => (FileKind::CharacterDevice, number),
        SpecialKind::Socket => (FileKind::Socket, DeviceNumber::default()),
        SpecialKind::Fifo => (FileKind::Fifo, DeviceNumber::default()),
    };
    (node.attributes.kind, node.attributes.device) == (kind, number)
}
