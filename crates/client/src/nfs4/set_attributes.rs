//! SETATTR.

use howdah_vfs::{Caller, Change, FsError, Guard, Result, SetAttributes};
use howdah_wire::nfs4::attributes::{self as wire, Values};
use howdah_wire::nfs4::{Bitmap, StateId, Status, putfh, setattr, verify};

use super::change::LOOK;
use super::client::Nfs4Client;
use super::compound::Compound;
use super::convert::{ToSet, time};
use super::exchange::Tries;
use super::open_file::WRITES;
use super::operation::Operation;
use super::results::{ResultReader, Stopped};
use crate::common::has_been_set;

/// All attributes that can be set.
pub(super) const SETTABLE: Bitmap = Bitmap::of(&[
    wire::SIZE,
    wire::MODE,
    wire::OWNER,
    wire::OWNER_GROUP,
    wire::TIME_ACCESS_SET,
    wire::TIME_MODIFY_SET,
]);

impl ResultReader<'_> {
    /// Takes the next result, which is SETATTR's: a refusal of it has a body, too.
    pub(super) fn set(&mut self) -> std::result::Result<(), Stopped> {
        let status = self.status_of(setattr::OPERATION)?;
        self.body::<setattr::Success>()?;
        match status {
            Status::OK => Ok(()),
            status => Err(Stopped::Refused(setattr::OPERATION, status)),
        }
    }
}

/// Sets attributes of the current node. The stateid counts for its size.
pub(super) fn set(new: &ToSet, state: StateId) -> Operation<'_> {
    Operation::SetAttributes(setattr::Arguments { state, attributes: new.as_wire() })
}

impl Nfs4Client {
    pub(super) fn set(&self, caller: &Caller, set: SetAttributes<'_>, change: &mut Change) -> Result<()> {
        let mut tries = Tries::new(&self.calls, "SETATTR");
        loop {
            let state = match set.new.size {
                Some(_) => self.state_for(caller, set.node, WRITES)?,
                None => StateId::ANONYMOUS,
            };
            match self.set_once(caller, &set, state, change)? {
                Err(stopped) if self.is_for_state((caller, set.node, WRITES), &mut tries, stopped)? => {}
                outcome => return Ok(outcome?),
            }
        }
    }

    /// Sets attributes by this stateid. The inner result is that of SETATTR itself.
    fn set_once(
        &self,
        caller: &Caller,
        &SetAttributes { node, new, guard }: &SetAttributes<'_>,
        state: StateId,
        change: &mut Change,
    ) -> Result<std::result::Result<(), Stopped>> {
        let (put, new_values) = (self.put(node)?, ToSet::new(new, SETTABLE));
        let guarded = guard.map(guard_values);
        let mut buffer = Vec::new();
        let plain = [put, LOOK, set(&new_values, state), LOOK];
        let with_guard;
        let operations: &[Operation<'_>] = match &guarded {
            None => &plain,
            Some(guard) => {
                let values = Values::of(guard, &mut buffer);
                with_guard = [put, LOOK, Operation::RefuseUnless(values), plain[2], LOOK];
                &with_guard
            }
        };
        let results = self.call(caller, &Compound::change("SETATTR", operations))?;
        let mut reader = results.read()?;
        reader.skip(putfh::OPERATION)?;
        let before = reader.look()?;
        *change = Change::none(Some(before));
        if guarded.is_some() {
            let holds = reader.skip(verify::OPERATION).map_err(FsError::from);
            // Its first run changed what it asks for.
            let is_done =
                results.repeated && holds == Err(FsError::NotSynchronised) && has_been_set(&before, new);
            if is_done {
                return Ok(Ok(()));
            }
            holds?;
        }
        let outcome = reader.set();
        if outcome.is_ok() {
            *change = Change { before: None, after: reader.look().ok() };
        }
        Ok(outcome)
    }
}

/// The change attribute decides where it is known, else the time of change.
fn guard_values(guard: Guard) -> wire::Attributes<'static> {
    let mut values = wire::Attributes::default();
    match guard.change {
        Some(change) => values.content.change = Some(change),
        None => values.times.changed = Some(time(guard.changed)),
    }
    values
}
