//! Which flavors nodes take, and which operation refuses a call of another one (RFC 8881 2.6.3.1).

use howdah_wire::nfs4::attributes::LEASE_TIME;
use howdah_wire::nfs4::{
    Bitmap, access, getattr, getfh, lookup, lookupp, nverify, open, putfh, putpubfh, putrootfh, restorefh,
    savefh, secinfo, secinfo_no_name, verify,
};
use howdah_wire::xdr::{Decode, Decoder};

use super::node::FlavorAccess;
use super::pseudo::{PseudoDirectory, PseudoTree};
use crate::Peer;
use crate::exports::{Export, Exports, SecurityFlavor, SecurityFlavors};

/// Operations that judge the flavor themselves, or replace the current node: those in front of them do not.
const JUDGE: [u32; 9] = [
    putfh::OPERATION,
    putrootfh::OPERATION,
    putpubfh::OPERATION,
    restorefh::OPERATION,
    lookup::OPERATION,
    lookupp::OPERATION,
    open::OPERATION,
    secinfo::OPERATION,
    secinfo_no_name::OPERATION,
];

/// Operations that look at a node.
const LOOK: [u32; 5] =
    [access::OPERATION, getattr::OPERATION, getfh::OPERATION, nverify::OPERATION, verify::OPERATION];

/// Those that a pseudo directory takes: each that the server has.
pub fn of_pseudo(exports: &Exports) -> SecurityFlavors {
    match exports.principals() {
        None => SecurityFlavors::SYS,
        Some(_) => SecurityFlavors::new(SecurityFlavor::ALL).expect("there are some"),
    }
}

/// Those that a node of an export takes, in the order of the configuration. Its root, if it covers a pseudo directory, may be looked
/// at also with those of the exports below.
pub fn of_export(
    (exports, tree): (&Exports, &PseudoTree),
    peer: &Peer,
    export: &Export,
    covered: Option<PseudoDirectory>,
) -> SecurityFlavors {
    let mut flavors = export.flavors(peer).unwrap_or_default();
    for id in covered.into_iter().flat_map(|covered| tree.exports_below(covered)) {
        let below = exports.find(id).and_then(|export| export.flavors(peer));
        below.iter().flat_map(SecurityFlavors::as_slice).for_each(|flavor| flavors.add(*flavor));
    }
    flavors
}

/// Whether a GETATTR asks for nothing that is of the node. Linux clients ask the root for the lease with the flavor of their state,
/// which may be another than that of the mount; without an answer they do not renew it.
pub fn asks_server_alone(wanted: Bitmap) -> bool {
    wanted == Bitmap::of(&[LEASE_TIME])
}

/// Whether the operation that makes such a node the current one by its handle refuses it: where what follows uses it, and does not
/// judge its flavor itself. `left` operations are `behind`; SAVEFH is as if it were not there. What cannot be read is refused when it
/// runs.
pub fn is_refused_when_put(access: FlavorAccess, left: u32, mut behind: Decoder<'_>) -> bool {
    let next = (0..left)
        .map_while(|_| behind.u32("operation").ok())
        .find(|operation| *operation != savefh::OPERATION);
    let mut asks_server =
        || getattr::Arguments::decode(&mut behind).is_ok_and(|getattr| asks_server_alone(getattr.wanted));
    next.is_some_and(|next| match access {
        FlavorAccess::Full => false,
        _ if next == getattr::OPERATION && asks_server() => false,
        FlavorAccess::OnTheWay => !JUDGE.contains(&next) && !LOOK.contains(&next),
        FlavorAccess::None => !JUDGE.contains(&next),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_decides_who_refuses() {
        const READ: u32 = 25;
        for (operations, on_the_way, refused) in [
            (&[][..], false, false),
            (&[savefh::OPERATION], false, false),
            (&[savefh::OPERATION, READ], true, true),
            (&[READ], true, true),
            (&[getattr::OPERATION], false, true),
            (&[putfh::OPERATION], false, false),
            (&[savefh::OPERATION, savefh::OPERATION, restorefh::OPERATION], false, false),
            (&[lookup::OPERATION], false, false),
            (&[open::OPERATION], false, false),
            (&[secinfo_no_name::OPERATION], false, false),
        ] {
            let bytes: Vec<u8> = operations.iter().flat_map(|operation| operation.to_be_bytes()).collect();
            let left = operations.len() as u32;
            let is_refused = |access| is_refused_when_put(access, left, Decoder::new(&bytes));
            assert!(!is_refused(FlavorAccess::Full), "{operations:?}");
            assert_eq!(is_refused(FlavorAccess::OnTheWay), on_the_way, "{operations:?}");
            assert_eq!(is_refused(FlavorAccess::None), refused, "{operations:?}");
            // Behind the last operation nothing is read.
            assert!(!is_refused_when_put(FlavorAccess::None, 0, Decoder::new(&bytes)));
        }
    }
}
