//! Who asks: user and group as the kernel sends them, and the groups of the process as /proc does.

use std::collections::HashMap;
use std::fs;
use std::time::{Duration, Instant};

use fuser::Request;
use howdah_vfs::{Caller, GroupList};
use parking_lot::Mutex;

use crate::limits::CALLERS_MAX;

/// How long the groups of a process are believed.
const BELIEVED: Duration = Duration::from_secs(1);

/// Who makes a request, as the kernel says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Requester {
    /// User id.
    pub user: u32,
    /// Group id.
    pub group: u32,
    /// The thread that waits; 0 if it is the kernel, or in another namespace of processes.
    pub process: u32,
}

impl From<&Request> for Requester {
    fn from(request: &Request) -> Self {
        Self { user: request.uid(), group: request.gid(), process: request.pid() }
    }
}

/// From those who ask to callers of a file system.
pub struct Callers {
    /// All calls act as this one, if there is one.
    fixed: Option<Caller>,
    known: Mutex<HashMap<Requester, (Instant, Caller)>>,
}

impl Callers {
    /// All are this caller, or each is itself.
    pub fn new(fixed: Option<Caller>) -> Self {
        Self { fixed, known: Mutex::default() }
    }

    /// The user of a request.
    pub fn caller(&self, asker: Requester) -> Caller {
        if let Some(fixed) = &self.fixed {
            return fixed.clone();
        }
        let now = Instant::now();
        if let Some((since, caller)) = self.known.lock().get(&asker)
            && now.duration_since(*since) < BELIEVED
        {
            return caller.clone();
        }
        let groups = groups_of(&asker);
        let caller = Caller { user: asker.user, group: asker.group, groups: GroupList::new(groups) };
        let mut known = self.known.lock();
        if known.len() >= CALLERS_MAX {
            known.clear();
        }
        known.insert(asker, (now, caller.clone()));
        caller
    }
}

/// The supplementary groups of a thread. None if it is gone: another user's thread may have its number by now.
fn groups_of(asker: &Requester) -> Vec<u32> {
    let status = fs::read_to_string(format!("/proc/{}/status", asker.process)).unwrap_or_default();
    let numbers = |name: &str| -> Vec<u32> {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        line.split_whitespace().filter_map(|number| number.parse().ok()).collect()
    };
    // The last of the four of each is the one that counts for files.
    let acts_as = (numbers("Uid:").pop(), numbers("Gid:").pop());
    if acts_as == (Some(asker.user), Some(asker.group)) { numbers("Groups:") } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_has_its_own_groups() {
        let mut own: Vec<u32> =
            rustix::process::getgroups().expect("known").into_iter().map(|group| group.as_raw()).collect();
        own.sort_unstable();
        let user = rustix::process::geteuid().as_raw();
        let asker =
            Requester { user, group: rustix::process::getegid().as_raw(), process: std::process::id() };
        let mut found = groups_of(&asker);
        found.sort_unstable();
        assert_eq!(found, own);
        assert_eq!(groups_of(&Requester { user: user + 1, ..asker }), [0; 0], "it is another's by now");
    }

    #[test]
    fn callers_are_bounded() {
        let callers = Callers::new(None);
        for user in 0..=CALLERS_MAX as u32 {
            assert_eq!(callers.caller(Requester { user, group: 1, process: 0 }).user, user);
        }
        assert_eq!(callers.known.lock().len(), 1);
    }
}
