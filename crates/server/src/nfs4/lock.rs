//! LOCK, LOCKT and LOCKU: byte-range locks of the current file. A denial says who holds what is in the way.

use howdah_state::{ByteRange, LockConflict, LockOwner, LockRequest, Locker, StateError};
use howdah_vfs::FileKind;
use howdah_wire::nfs4::lock::{self, Denied};
use howdah_wire::nfs4::{ClientId, LockKind, Opaque, Owner, Status, lockt, locku};
use howdah_wire::xdr::{Decode, Decoder, Encoder};

use super::compound::{Compound, Outcome, Refused};
use super::convert::{asked, told};
use super::lookup;
use crate::Reply;
use crate::states::{self, FileKey, LocalLock};

/// Answers LOCK.
pub fn run(compound: &mut Compound<'_>, arguments: &mut Decoder<'_>, reply: &mut Reply) -> Outcome {
    let arguments = lock::Arguments::decode(arguments)?;
    let (client, key) = (compound.client()?, lockable(compound)?);
    let range = range(arguments.offset, arguments.length)?;
    let locker = match arguments.locker {
        lock::LockingOwner::First(first) => {
            Locker::New { open: asked(compound.stateid_of(first.open)?), owner: first.owner.owner.0 }
        }
        lock::LockingOwner::Further(further) => Locker::Existing(asked(compound.stateid_of(further.state)?)),
    };
    let request = LockRequest {
        client,
        locker,
        key: &key,
        kind: kind(arguments.kind),
        range,
        // A client that waits asks again. Its place in the queue is kept if it can be called when it is its turn.
        waits: arguments.kind.waits() && compound.nfs4.back.reaches(client),
        is_reclaim: arguments.reclaim,
    };
    let granted = compound.nfs4.states.lock(&key, |state, now| state.lock(now, request)).map_err(denied)?;
    let state = told(granted.stateid);
    compound.stateid = Some(state);
    reply.write(&lock::Success { state });
    Ok(())
}

/// Answers LOCKT.
pub fn test(compound: &mut Compound<'_>, arguments: &mut Decoder<'_>, _: &mut Reply) -> Outcome {
    let arguments = lockt::Arguments::decode(arguments)?;
    let (client, key) = (compound.client()?, lockable(compound)?);
    let range = range(arguments.offset, arguments.length)?;
    let (owner, kind) = (arguments.owner.owner.0, kind(arguments.kind));
    let states = &compound.nfs4.states;
    let wish = LocalLock { range, kind };
    states
        .test_lock(&key, wish, |state, now| state.test_lock(now, client, owner, &key, kind, range))
        .map_err(denied)
}

/// Answers LOCKU.
pub fn unlock(compound: &mut Compound<'_>, arguments: &mut Decoder<'_>, reply: &mut Reply) -> Outcome {
    let arguments = locku::Arguments::decode(arguments)?;
    let (client, key) = (compound.client()?, file(compound)?);
    let range = range(arguments.offset, arguments.length)?;
    let state = asked(compound.stateid_of(arguments.state)?);
    let states = &compound.nfs4.states;
    let unlocked = states.ask(|states, now| states.unlock(now, client, state, &key, range));
    let state = told(unlocked.map_err(kept)?);
    compound.stateid = Some(state);
    reply.write(&locku::Success { state });
    Ok(())
}

/// The current file, if its export has locks. INVAL is a status of LOCK and LOCKT (RFC 8881 15.2), and clients make EINVAL of it, which
/// `fcntl` has for a file that cannot be locked. Linux makes an errno of NOTSUPP that programs do not know (524), and programs take
/// ACCESS for a lock of another owner and try again.
fn lockable(compound: &Compound<'_>) -> Result<FileKey, Status> {
    let key = file(compound)?;
    if compound.object(Status::ISDIR)?.export().refuses_locks() { Err(Status::INVAL) } else { Ok(key) }
}

/// The current file, which must be one that can be locked.
fn file(compound: &Compound<'_>) -> Result<FileKey, Status> {
    let object = compound.object(Status::ISDIR)?;
    match lookup::kind(object)? {
        FileKind::Regular => Ok(object.key()),
        FileKind::Directory => Err(Status::ISDIR),
        FileKind::SymbolicLink => Err(Status::SYMLINK),
        _ => Err(Status::WRONG_TYPE),
    }
}

fn range(offset: u64, length: u64) -> Result<ByteRange, Status> {
    ByteRange::from_length(offset, length).map_err(|error| states::status(&error))
}

fn kind(kind: LockKind) -> howdah_state::LockKind {
    if kind.is_exclusive() { howdah_state::LockKind::Write } else { howdah_state::LockKind::Read }
}

/// Why an UNLOCK is refused. One that splits a range beyond the bound gets an error: no other client makes room for it, so it must not
/// wait.
fn kept(error: StateError) -> Refused {
    match error {
        StateError::NoSpace => Refused::Alone(Status::SERVERFAULT),
        error => denied(error),
    }
}

fn denied(error: StateError) -> Refused {
    let status = match error {
        // The protocol has no other word for too many locks (RFC 8881 15.2): others end.
        StateError::NoSpace => Status::DELAY,
        _ => states::status(&error),
    };
    match error {
        StateError::Denied(conflict) => Refused::With(status, holder(&conflict)),
        _ => Refused::Alone(status),
    }
}

/// Who is in the way. An owner of another protocol has a name of ours.
fn holder(conflict: &LockConflict) -> Vec<u8> {
    let (client, owner) = match &conflict.owner {
        LockOwner::V4 { client, owner } => (client.0, &**owner),
        LockOwner::Nlm(owner) => (0, &*owner.oh),
        LockOwner::Local => (0, &b""[..]),
    };
    Encoder::to_vec(&Denied {
        offset: conflict.range.first,
        length: conflict.range.length(),
        kind: match conflict.kind {
            howdah_state::LockKind::Read => LockKind::Read,
            howdah_state::LockKind::Write => LockKind::Write,
        },
        owner: Owner { client: ClientId(client), owner: Opaque(owner) },
    })
}
