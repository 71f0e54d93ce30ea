//! GET_DIR_DELEGATION beside what is asked of a directory anyway.

use std::sync::Arc;

use howdah_session::{ClientSession, GrantedDelegation};
use howdah_vfs::{Attributes, Caller, DelegationLost, DirectoryDelegations, Handle, Result};
use howdah_wire::nfs4::get_dir_delegation::{self, Success};
use howdah_wire::nfs4::{Status, putfh};

use super::{ClientDelegations, Returner};
use crate::channel::Class;
use crate::nfs4::change::LOOK;
use crate::nfs4::client::Nfs4Client;
use crate::nfs4::compound::Compound;
use crate::nfs4::operation::Operation;
use crate::nfs4::results::ResultReader;

/// The question whether a directory is delegated, which is in a compound behind its PUTFH. Dropped, it had no answer.
pub(in crate::nfs4) struct GrantReader<'a> {
    delegations: &'a ClientDelegations,
    directory: &'a Handle,
    granted: Option<GrantedDelegation>,
}

impl<'a> GrantReader<'a> {
    /// Reads the answer. `false`: the server refused, and what stands behind it in the compound was not carried out.
    pub(in crate::nfs4) fn read(&mut self, reader: &mut ResultReader<'_>) -> Result<bool> {
        match reader.status_of(get_dir_delegation::OPERATION)? {
            Status::OK => {
                if let Success::Granted(granted) = reader.body::<Success>()? {
                    let (state, covers_children) = (granted.state, granted.covers_children());
                    self.granted = Some(GrantedDelegation { state, covers_children });
                }
                Ok(true)
            }
            status => {
                if matches!(status, Status::NOTSUPP | Status::OP_ILLEGAL) {
                    tracing::debug!(%status, "the server delegates no directories");
                    self.delegations.on_unsupported();
                }
                Ok(false)
            }
        }
    }
}

impl Drop for GrantReader<'_> {
    fn drop(&mut self) {
        self.delegations.on_answer(self.directory, self.granted);
    }
}

impl Nfs4Client {
    /// Whether a delegation of a directory is to be asked for with the call that is about to be made.
    pub(in crate::nfs4) fn ask_for_delegation<'a>(
        &'a self,
        directory: &'a Handle,
    ) -> Option<GrantReader<'a>> {
        let is_wanted = self.calls.session.back().is_up() && self.delegations.ask(directory);
        is_wanted.then(|| GrantReader { delegations: &self.delegations, directory, granted: None })
    }
}

impl DirectoryDelegations for Nfs4Client {
    fn watch(&self, lost: DelegationLost) {
        if self.delegations.set_watcher(lost) {
            // What the server takes away is to be looked after.
            self.calls.channel.with_session(|session: &mut ClientSession, _| session.set_holds_states(true));
            Returner::start(Arc::clone(&self.delegations), &self.calls);
        }
    }

    fn also_tell(&self, lost: DelegationLost) {
        self.delegations.also_tell(lost);
    }

    fn look(&self, caller: &Caller, directory: &Handle) -> Result<Attributes> {
        let Some(mut grant) = self.ask_for_delegation(directory) else {
            return self.get_attributes(caller, directory);
        };
        let operations = [self.put(directory)?, Operation::GetDirectoryDelegation, LOOK];
        let results = self.call(caller, &Compound::new("GETATTR", Class::Attributes, &operations))?;
        let mut reader = results.read()?;
        reader.skip(putfh::OPERATION)?;
        if !grant.read(&mut reader)? {
            return self.get_attributes(caller, directory);
        }
        reader.look()
    }

    fn holds(&self, directory: &Handle) -> bool {
        self.delegations.holds(directory)
    }

    fn covers_children(&self, directory: &Handle) -> bool {
        self.delegations.covers_children(directory)
    }

    fn count(&self) -> usize {
        self.delegations.count()
    }

    fn are_certain(&self) -> bool {
        let is_lease_certain =
            |session: &mut ClientSession, now| session.is_lease_certain(now) && !session.are_callbacks_down();
        self.calls.session.back().is_up() && self.calls.channel.with_session(is_lease_certain) == Some(true)
    }
}
