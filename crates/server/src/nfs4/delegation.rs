//! Read delegations: what OPEN gives, and DELEGRETURN.

use howdah_state::{ClientId, ShareAccess};
use howdah_wire::nfs4::attributes::Principal;
use howdah_wire::nfs4::open::{
    AccessEntry, Arguments, Claim, Delegation, Given, WANT_CANCEL, WANT_MASK, WANT_NO_DELEGATION,
    WANT_NO_PREFERENCE, WhyNone,
};
use howdah_wire::nfs4::{Status, delegreturn};
use howdah_wire::xdr::{Decode, Decoder};

use super::compound::{Compound, Outcome};
use super::convert::{asked, told};
use super::node::ExportedNode;
use crate::Reply;

/// Nobody is let open the file by it without asking the server: clients ask by ACCESS once for each user.
const ASK_FOR_ACCESS: AccessEntry<'_> = AccessEntry { kind: 0, flags: 0, mask: 0, who: Principal(b"") };

/// The delegation that comes with an open that was just granted. A client that gives one back, or reclaims what it had, gets none.
pub fn with_open(
    compound: &Compound<'_>,
    client: ClientId,
    arguments: &Arguments<'_>,
    (file, access): (&ExportedNode<'_>, ShareAccess),
) -> Delegation<'static> {
    let wanted = arguments.access & WANT_MASK;
    match wanted {
        WANT_NO_DELEGATION => return Delegation::NoneBecause(WhyNone::NOT_WANTED),
        WANT_CANCEL => return Delegation::NoneBecause(WhyNone::CANCELLED),
        _ => {}
    }
    let is_new = matches!(arguments.claim, Claim::Name(_) | Claim::Current);
    let may_have_one = is_new
        && access == ShareAccess::READ
        && file.export().delegates()
        && compound.nfs4.back.reaches(client);
    let given = if may_have_one { compound.nfs4.states.delegate(client, &file.key()) } else { None };
    match given {
        Some(state) => {
            let given = Given { state: told(state), recalled: false, permissions: ASK_FOR_ACCESS };
            Delegation::Read(given, false)
        }
        None if wanted == WANT_NO_PREFERENCE => Delegation::None,
        None if may_have_one => Delegation::NoneBecause(WhyNone::Contention(false)),
        None => Delegation::NoneBecause(WhyNone::Resource(false)),
    }
}

/// Answers DELEGRETURN.
pub fn give_back(compound: &mut Compound<'_>, arguments: &mut Decoder<'_>, _: &mut Reply) -> Outcome {
    let delegreturn::Arguments { state } = delegreturn::Arguments::decode(arguments)?;
    let (client, state) = (compound.client()?, asked(compound.stateid_of(state)?));
    let key = compound.object(Status::BAD_STATEID)?.key();
    compound.nfs4.states.return_delegation(client, state, &key)?;
    Ok(())
}
