//! Read delegations: what OPEN and GET_DIR_DELEGATION give, and DELEGRETURN.

use howdah_state::{ClientId, ShareAccess};
use howdah_vfs::{Access, FileKind, FileSystem};
use howdah_wire::nfs4::attributes::Principal;
use howdah_wire::nfs4::get_dir_delegation::{self, CHANGE_CHILD_ATTRIBUTES, DirectoryDelegation, Success};
use howdah_wire::nfs4::open::{
    AccessEntry, Arguments, Claim, Delegation, Given, WANT_CANCEL, WANT_MASK, WANT_NO_DELEGATION,
    WANT_NO_PREFERENCE, WhyNone,
};
use howdah_wire::nfs4::{Bitmap, Status, Verifier, delegreturn};
use howdah_wire::xdr::{Decode, Decoder};

use super::compound::{Compound, Outcome};
use super::convert::{asked, told};
use super::node::{CurrentNode, ExportedNode};
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
        && file.export().delegations().gives()
        && compound.nfs4.back.reaches(client);
    let given =
        if may_have_one { compound.nfs4.states.delegate(client, file.export(), &file.handle) } else { None };
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

/// What is said of files in a delegated directory to who asks for it: all that a change of a file changes.
const COVERED: Bitmap = get_dir_delegation::CHILD_ATTRIBUTES;

/// Answers GET_DIR_DELEGATION: of a directory, until anybody else changes it, or a file in it if the client asked to hear of that. It hears
/// of no change but by the recall.
pub fn of_directory(compound: &mut Compound<'_>, arguments: &mut Decoder<'_>, reply: &mut Reply) -> Outcome {
    let wanted = get_dir_delegation::Arguments::decode(arguments)?;
    let client = compound.client()?;
    let mut covers_children = false;
    let given = match compound.node()? {
        CurrentNode::Pseudo(_) => None,
        CurrentNode::Exported(object) if !object.export().delegations().gives() => {
            return Err(Status::NOTSUPP.into());
        }
        CurrentNode::Exported(object) if compound.nfs4.back.reaches(client) => {
            let (rights, attributes) =
                object.file_system.access(&object.caller, &object.handle, Access::READ | Access::LOOKUP)?;
            if attributes.kind != FileKind::Directory {
                return Err(Status::NOTDIR.into());
            }
            // Others wait for its return: it is for those who have a use for it.
            let may_have_one = rights != Access::NONE;
            let states = &compound.nfs4.states;
            let given =
                may_have_one.then(|| states.delegate(client, object.export(), &object.handle)).flatten();
            let may_see_all = rights.contains(Access::READ | Access::LOOKUP);
            if given.is_some() && may_see_all && wanted.notifications.contains(CHANGE_CHILD_ATTRIBUTES) {
                let way = (&object.file_system as &dyn FileSystem, &object.caller);
                covers_children = states.cover_children(client, object.export(), way, &object.handle);
            }
            given
        }
        CurrentNode::Exported(_) => None,
    };
    reply.write(&match given {
        None => Success::Unavailable { signal: false },
        Some(state) => Success::Granted(DirectoryDelegation {
            // Cookies are valid as long as the directory is there.
            cookie_verifier: Verifier([0; 8]),
            state: told(state),
            // A recall, which takes the place of any notification.
            notifications: if covers_children {
                Bitmap::of(&[CHANGE_CHILD_ATTRIBUTES])
            } else {
                Bitmap::NONE
            },
            child_attributes: if covers_children { wanted.child_attributes & COVERED } else { Bitmap::NONE },
            directory_attributes: Bitmap::NONE,
        }),
    });
    Ok(())
}

/// Answers DELEGRETURN.
pub fn give_back(compound: &mut Compound<'_>, arguments: &mut Decoder<'_>, _: &mut Reply) -> Outcome {
    let delegreturn::Arguments { state } = delegreturn::Arguments::decode(arguments)?;
    let (client, state) = (compound.client()?, asked(compound.stateid_of(state)?));
    let key = compound.object(Status::BAD_STATEID)?.key();
    compound.nfs4.states.return_delegation(client, state, &key)?;
    Ok(())
}
