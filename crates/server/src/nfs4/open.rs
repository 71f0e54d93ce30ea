//! OPEN: opens a regular file, and makes it first if asked to.

use std::sync::Arc;

use howdah_state::{IoKind, OpenRequest, ShareAccess, ShareDeny};
use howdah_vfs::{
    Access, Attributes, Change, Create, CreateFile, FileKind, FileSystem, FsError, Name, NewAttributes,
    Node as Found, SetAttributes,
};
use howdah_wire::nfs4::attributes::{TIME_ACCESS_SET, TIME_MODIFY_SET};
use howdah_wire::nfs4::open::{
    ACCESS_BOTH, Arguments, Claim, How, MAY_NOTIFY_LOCK, POSIX_LOCKS, Success, WANT_CANCEL, WANT_MASK,
    WANT_PUSH, WANT_SIGNAL,
};
use howdah_wire::nfs4::{Bitmap, ChangeInfo, StateId, Status};
use howdah_wire::xdr::{Decode, Decoder};

use super::compound::{Compound, Outcome};
use super::node::{CurrentNode, ExportedNode};
use super::{convert, create, delegation, names, setting};
use crate::Reply;

/// What holds the verifier of an exclusive OPEN: the client sets these times afterwards (RFC 8881 18.16.3).
const VERIFIER: Bitmap = Bitmap::of(&[TIME_ACCESS_SET, TIME_MODIFY_SET]);

/// The file to be opened.
struct Target<'c> {
    file: ExportedNode<'c>,
    attributes: Attributes,
    /// It was made for this call: the maker of a file may open it, whatever its mode is.
    is_made: bool,
    directory: ChangeInfo,
    attributes_set: Bitmap,
    /// It is to be cut to nothing, once the open is granted.
    cuts: bool,
}

/// Answers it.
pub fn run(compound: &mut Compound<'_>, arguments: &mut Decoder<'_>, reply: &mut Reply) -> Outcome {
    let arguments = Arguments::decode(arguments)?;
    let (access, deny) = share(&arguments)?;
    let client = compound.client()?;
    let is_reclaim = matches!(arguments.claim, Claim::Reclaim(_));
    if !is_reclaim {
        // A file must not be made for an open that cannot be granted now.
        compound.refuse_in_grace()?;
    }
    let target = target(compound, &arguments)?;
    let Target { file, attributes, .. } = &target;
    match attributes.kind {
        FileKind::Regular => {}
        FileKind::Directory => return Err(Status::ISDIR.into()),
        FileKind::SymbolicLink => return Err(Status::SYMLINK.into()),
        _ => return Err(Status::WRONG_TYPE.into()),
    }
    if !target.is_made {
        permitted(file, attributes, access, is_reclaim)?;
        // A caller that may only read must not keep others from writing, or NFSv3 from reading.
        if deny != ShareDeny::NONE && (!is_reclaim || file.is_read_only()) {
            let may_write = permitted(file, attributes, ShareAccess::WRITE, false);
            may_write.map_err(|status| if file.is_read_only() { Status::ROFS } else { status })?;
        }
    }
    // Who cuts a file writes to it, whatever else he opens it for.
    let may_cut = || compound.nfs4.states.permits(|| file.key(), IoKind::Write);
    if target.cuts && attributes.size != 0 && !access.allows(ShareAccess::WRITE) && !may_cut() {
        return Err(Status::SHARE_DENIED.into());
    }
    // Before it is open: what is asked for back must not leave an open behind that the client knows nothing of.
    let _change = if target.cuts { file.file_system.begin_change(&file.handle)? } else { None };
    let key = file.key();
    let owner = arguments.owner.owner.0;
    let request = OpenRequest { client, owner, key: &key, access, deny, is_reclaim };
    // Its descriptor, as a local process has one: other clients and processes of this host may remove or replace it.
    let kept = file.file_system.keep_open(&file.handle);
    let opened = compound.without_gone_files(client, |state, now| {
        let opened = state.open(now, request)?;
        if let Some(kept) = kept.as_ref().filter(|_| opened.is_new) {
            compound.nfs4.states.keep(opened.open, Arc::clone(kept));
        }
        Ok(opened)
    })?;
    if target.cuts && attributes.size != 0 {
        let new = NewAttributes::with_size(0);
        let mut change = Change::default();
        let cut = file.file_system.set_attributes(
            &file.caller,
            SetAttributes::new(&file.handle, &new, None),
            &mut change,
        );
        if let Err(error) = cut {
            // The client will not know of the open.
            if opened.is_new {
                compound.nfs4.states.judge(|state, now| state.close(now, client, opened.stateid, &key))?;
            }
            return Err(error.into());
        }
    }
    let state = convert::told(opened.stateid);
    let delegation = delegation::with_open(compound, client, &arguments, (file, access));
    compound.put(CurrentNode::Exported(target.file));
    compound.stateid = Some(state);
    reply.write(&Success {
        state,
        directory: target.directory,
        flags: POSIX_LOCKS | if compound.nfs4.back.reaches(client) { MAY_NOTIFY_LOCK } else { 0 },
        attributes_set: target.attributes_set,
        delegation,
    });
    Ok(())
}

fn share(arguments: &Arguments<'_>) -> Result<(ShareAccess, ShareDeny), Status> {
    let access = ShareAccess::from_bits(arguments.access & ACCESS_BOTH).ok_or(Status::INVAL)?;
    if access == ShareAccess::NONE || has_undefined(arguments.access) {
        return Err(Status::INVAL);
    }
    Ok((access, ShareDeny::from_bits(arguments.deny).ok_or(Status::INVAL)?))
}

/// Whether bits are set that mean nothing (RFC 8881 18.16.3).
fn has_undefined(access: u32) -> bool {
    access & !(ACCESS_BOTH | WANT_MASK | WANT_SIGNAL | WANT_PUSH) != 0 || access & WANT_MASK > WANT_CANCEL
}

fn target<'c>(compound: &Compound<'c>, arguments: &Arguments<'_>) -> Result<Target<'c>, Status> {
    let create = arguments.create.as_ref();
    match arguments.claim {
        Claim::Name(name) => named(compound, name.0, create),
        Claim::DelegatedBefore(_) | Claim::CurrentDelegatedBefore => Err(Status::NOTSUPP),
        _ if create.is_some() => Err(Status::INVAL),
        // A delegation that a client had before the server's restart is not given again.
        Claim::Current => {
            let target = current(compound)?;
            // Who has it open keeps it. A client that opens it again by its handle must look its name up: another file may have it now.
            if target.attributes.links == 0 { Err(Status::STALE) } else { Ok(target) }
        }
        Claim::Reclaim(_) => current(compound),
        Claim::Delegated(delegation, name) => {
            by_delegation(compound, named(compound, name.0, None)?, delegation)
        }
        Claim::CurrentDelegated(delegation) => by_delegation(compound, current(compound)?, delegation),
    }
}

/// A file that the client opened by its delegation alone, and now announces to the server.
fn by_delegation<'c>(
    compound: &Compound<'c>,
    target: Target<'c>,
    delegation: StateId,
) -> Result<Target<'c>, Status> {
    let (client, key) = (compound.client()?, target.file.key());
    let delegation = convert::asked(compound.stateid_of(delegation)?);
    compound.nfs4.states.judge(|state, _| state.check_delegation(client, delegation, &key))?;
    Ok(target)
}

fn named<'c>(compound: &Compound<'c>, name: &[u8], create: Option<&How<'_>>) -> Result<Target<'c>, Status> {
    let name_of_pseudo = |directory: &_| match compound.tree().find(*directory, name) {
        Some(_) => Status::ISDIR,
        None if create.is_some() => Status::ROFS,
        None => Status::NOENT,
    };
    let directory = match compound.node()? {
        CurrentNode::Pseudo(directory) => return Err(name_of_pseudo(directory)),
        CurrentNode::Exported(directory) => directory,
    };
    let name = names::of(name)?;
    match create {
        None => existing(directory, name),
        Some(how) => made(compound, directory, name, how),
    }
}

fn current<'c>(compound: &Compound<'c>) -> Result<Target<'c>, Status> {
    let file = compound.object(Status::ISDIR)?.clone();
    let attributes = file.attributes()?;
    Ok(Target::found(file, attributes, ChangeInfo::default()))
}

fn existing<'c>(directory: &ExportedNode<'c>, name: Name<'_>) -> Result<Target<'c>, Status> {
    let found = directory.file_system.lookup(&directory.caller, &directory.handle, name);
    let found = found.map_err(|error| create::in_directory(directory, error))?;
    let now = found.directory.as_ref().map(|attributes| attributes.change).unwrap_or_default();
    let info = ChangeInfo { atomic: found.directory.is_some(), before: now, after: now };
    Ok(Target::found(directory.beside(found.node.handle), found.node.attributes, info))
}

fn made<'c>(
    compound: &Compound<'c>,
    directory: &ExportedNode<'c>,
    name: Name<'_>,
    how: &How<'_>,
) -> Result<Target<'c>, Status> {
    match how {
        How::Unchecked(values) => {
            let (new, set) = setting::of_new(compound, values, directory)?;
            let cuts = new.size == Some(0);
            match existing(directory, name) {
                Err(Status::NOENT) => {}
                found => return found.map(|found| Target { cuts, ..found }.with_size_set(cuts)),
            }
            match make(directory, name, &Create::Guarded(new), set) {
                // Another made it meanwhile.
                Err(Status::EXIST) => {
                    existing(directory, name).map(|found| Target { cuts, ..found }.with_size_set(cuts))
                }
                made => made,
            }
        }
        How::Guarded(values) => {
            let (new, set) = setting::of_new(compound, values, directory)?;
            make(directory, name, &Create::Guarded(new), set)
        }
        How::Exclusive(verifier) => make(directory, name, &Create::Exclusive(verifier.0), VERIFIER),
        How::ExclusiveWith(verifier, values) => {
            let (new, set) = setting::of_new(compound, values, directory)?;
            if !set.without(super::attributes::exclusive(compound.minor_version)).is_empty() {
                return Err(Status::INVAL);
            }
            make(directory, name, &Create::ExclusiveWith(verifier.0, new), set | VERIFIER)
        }
    }
}

fn make<'c>(
    directory: &ExportedNode<'c>,
    name: Name<'_>,
    how: &Create,
    attributes_set: Bitmap,
) -> Result<Target<'c>, Status> {
    let mut change = Change::default();
    let made = directory.file_system.create(
        &directory.caller,
        CreateFile::new(&directory.handle, name, how),
        &mut change,
    );
    let Found { handle, attributes } = made.map_err(|error| create::in_directory(directory, error))?;
    Ok(Target {
        file: directory.beside(handle),
        attributes,
        is_made: true,
        directory: convert::change_info(&change, || directory.attributes().ok()),
        attributes_set,
        cuts: false,
    })
}

impl<'c> Target<'c> {
    fn found(file: ExportedNode<'c>, attributes: Attributes, directory: ChangeInfo) -> Self {
        Self { file, attributes, is_made: false, directory, attributes_set: Bitmap::NONE, cuts: false }
    }

    fn with_size_set(mut self, is_set: bool) -> Self {
        if is_set {
            self.attributes_set.insert(howdah_wire::nfs4::attributes::SIZE);
        }
        self
    }
}

/// Whether the caller may open the file so. Who may execute a file may read it, since a client reads what it executes. A
/// reclaim was permitted before the restart.
fn permitted(
    file: &ExportedNode<'_>,
    attributes: &Attributes,
    access: ShareAccess,
    is_reclaim: bool,
) -> Result<(), Status> {
    if is_reclaim && attributes.user == file.caller.user {
        return Ok(());
    }
    let wanted = Access::READ | Access::MODIFY | Access::EXTEND | Access::EXECUTE;
    let (granted, _) = match file.file_system.access(&file.caller, &file.handle, wanted) {
        Err(FsError::AccessDenied) => return Err(Status::ACCESS),
        other => other.map_err(convert::status)?,
    };
    let reads = granted.intersects(Access::READ | Access::EXECUTE);
    let writes = granted.intersects(Access::MODIFY | Access::EXTEND);
    let is_permitted =
        (reads || !access.allows(ShareAccess::READ)) && (writes || !access.allows(ShareAccess::WRITE));
    if is_permitted { Ok(()) } else { Err(Status::ACCESS) }
}
