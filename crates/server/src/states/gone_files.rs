//! Opens of files that another client removed. Clients look at a file before they close it, and what is gone they cannot look at:
//! such an open would stay until its client ends.

use std::collections::HashSet;
use std::time::Duration;

use howdah_state::{ClientId, StateError};
use howdah_wire::nfs4::Status;

use super::file_key::FileKey;
use super::states::{State, States};
use super::status::status;
use crate::limits::GONE_FILES_MAX;

impl States {
    /// Asks the state on behalf of a client. If opens are in the way, those of files that are gone end, and it is asked again.
    ///
    /// # Errors
    /// Why the state refuses.
    pub fn judge_without_gone_files<T>(
        &self,
        client: ClientId,
        is_gone: impl Fn(&FileKey) -> bool,
        call: impl Fn(&mut State, Duration) -> Result<T, StateError>,
    ) -> Result<T, Status> {
        let answer = self.ask(&call);
        if !matches!(answer, Err(StateError::ClientIdBusy | StateError::NoSpace)) {
            return answer.map_err(|error| status(&error));
        }
        let files = self.look(|state| state.files_of_client(client, GONE_FILES_MAX));
        let gone: HashSet<FileKey> = files.into_iter().filter(is_gone).collect();
        let _ = self.ask(|state, now| {
            state.files_are_gone(now, client, &gone);
            Ok(())
        });
        self.judge(call)
    }
}
