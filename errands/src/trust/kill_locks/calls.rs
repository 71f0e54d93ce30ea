//! The operations that programs make, each as one call.

use howdah_wire::nfs4::attributes::Values;
use howdah_wire::nfs4::compound::ResultHead;
use howdah_wire::nfs4::lock::{FirstLock, FurtherLock, LockingOwner};
use howdah_wire::nfs4::open::{self, ACCESS_BOTH, Claim, DelegationKind, How};
use howdah_wire::nfs4::{
    ClientId, LockKind, Name, Opaque, Owner, Stability, StateId, Status, close, getfh, lock, locku,
    putrootfh, read, reclaim_complete, write,
};
use howdah_wire::xdr::{Decode, Decoder};

use super::session::{Failed, Session, step};

/// An answer: what was asked for, or why not.
pub type Answer<T> = Result<Result<T, Status>, Failed>;

/// The only owner of opens and locks in a program.
const OWNER: Owner<'_> = Owner { client: ClientId(0), owner: Opaque(b"program") };

/// An open file.
#[derive(Debug, Clone)]
pub struct Open {
    /// Which of the campaign's files.
    pub file: usize,
    /// Its handle.
    pub handle: Vec<u8>,
    state: StateId,
    /// The program's locks on it, once it had one.
    locks: Option<StateId>,
}

/// A range in bytes: where it starts, and its length.
pub type Bytes = (u64, u64);

impl Open {
    /// Opens a file of the export's root for reading and writing, and makes it if need be.
    pub fn by_name(session: &mut Session, file: usize, name: &str) -> Answer<Self> {
        let claim = Claim::Name(Name(name.as_bytes()));
        let arguments = arguments(Some(How::Unchecked(Values::default())), claim);
        let root = putrootfh::OPERATION.to_be_bytes().to_vec();
        let handle = getfh::OPERATION.to_be_bytes().to_vec();
        let results = session.call(&[root, step(open::OPERATION, &arguments), handle])?;
        let mut decoder = Decoder::new(&results);
        ResultHead::decode(&mut decoder)?;
        let status = ResultHead::decode(&mut decoder)?.status;
        if status != Status::OK {
            return Ok(Err(status));
        }
        let state = open::Success::decode(&mut decoder)?.state;
        ResultHead::decode(&mut decoder)?;
        let handle = getfh::Success::decode(&mut decoder)?.node.0.to_vec();
        Ok(Ok(Self { file, handle, state, locks: None }))
    }

    /// Opens it again as before the server's restart.
    pub fn reclaim(&mut self, session: &mut Session) -> Answer<()> {
        let arguments = arguments(None, Claim::Reclaim(DelegationKind::None));
        let (status, result) = session.on_file(&self.handle, open::OPERATION, &arguments)?;
        if status != Status::OK {
            return Ok(Err(status));
        }
        self.state = open::Success::decode(&mut Decoder::new(&result))?.state;
        self.locks = None;
        Ok(Ok(()))
    }

    /// Closes it.
    pub fn close(self, session: &mut Session) -> Answer<()> {
        let arguments = close::Arguments { sequence: 0, state: self.state };
        let (status, _) = session.on_file(&self.handle, close::OPERATION, &arguments)?;
        Ok(if status == Status::OK { Ok(()) } else { Err(status) })
    }

    /// Locks a range.
    pub fn lock(
        &mut self,
        session: &mut Session,
        (offset, length): Bytes,
        exclusive: bool,
        reclaim: bool,
    ) -> Answer<()> {
        let kind = if exclusive { LockKind::Write } else { LockKind::Read };
        let locker = match self.locks {
            None => {
                let (open_sequence, lock_sequence) = (0, 0);
                LockingOwner::First(FirstLock {
                    open_sequence,
                    open: self.state,
                    lock_sequence,
                    owner: OWNER,
                })
            }
            Some(state) => LockingOwner::Further(FurtherLock { state, sequence: 0 }),
        };
        let arguments = lock::Arguments { kind, reclaim, offset, length, locker };
        let (status, result) = session.on_file(&self.handle, lock::OPERATION, &arguments)?;
        if status != Status::OK {
            return Ok(Err(status));
        }
        self.locks = Some(lock::Success::decode(&mut Decoder::new(&result))?.state);
        Ok(Ok(()))
    }

    /// Unlocks a range.
    pub fn unlock(&mut self, session: &mut Session, (offset, length): Bytes) -> Answer<()> {
        let arguments =
            locku::Arguments { kind: LockKind::Write, sequence: 0, state: self.used(), offset, length };
        let (status, result) = session.on_file(&self.handle, locku::OPERATION, &arguments)?;
        if status != Status::OK {
            return Ok(Err(status));
        }
        self.locks = Some(locku::Success::decode(&mut Decoder::new(&result))?.state);
        Ok(Ok(()))
    }

    /// Reads under the locks.
    pub fn read(&self, session: &mut Session, offset: u64, count: u32) -> Answer<Vec<u8>> {
        let arguments = read::Arguments { state: self.used(), offset, count };
        let (status, result) = session.on_file(&self.handle, read::OPERATION, &arguments)?;
        if status != Status::OK {
            return Ok(Err(status));
        }
        Ok(Ok(read::Success::decode(&mut Decoder::new(&result))?.data.to_vec()))
    }

    /// Writes under the locks, and makes it durable.
    pub fn write(&self, session: &mut Session, offset: u64, data: &[u8]) -> Answer<()> {
        let arguments = write::Arguments { state: self.used(), offset, stability: Stability::FileSync, data };
        let (status, result) = session.on_file(&self.handle, write::OPERATION, &arguments)?;
        if status != Status::OK {
            return Ok(Err(status));
        }
        let count = write::Success::decode(&mut Decoder::new(&result))?.count as usize;
        if count != data.len() {
            return Err(Failed::Wrong(format!("WRITE of {} bytes wrote {count}", data.len())));
        }
        Ok(Ok(()))
    }

    fn used(&self) -> StateId {
        self.locks.unwrap_or(self.state)
    }
}

/// Says that nothing more will be reclaimed.
pub fn complete(session: &mut Session) -> Answer<()> {
    let arguments = reclaim_complete::Arguments { one_file_system: false };
    let results = session.call(&[step(reclaim_complete::OPERATION, &arguments)])?;
    let status = ResultHead::decode(&mut Decoder::new(&results))?.status;
    Ok(if status == Status::OK { Ok(()) } else { Err(status) })
}

fn arguments<'a>(create: Option<How<'a>>, claim: Claim<'a>) -> open::Arguments<'a> {
    open::Arguments { sequence: 0, access: ACCESS_BOTH, deny: 0, owner: OWNER, create, claim }
}
