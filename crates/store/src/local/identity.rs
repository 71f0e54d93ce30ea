//! Acting as the caller: the file system ids and groups of the thread that runs the call. Knows no file.
//!
//! Linux keeps these ids per thread. What was set is remembered per thread and changed only when the next call
//! needs another, so a worker that serves one user makes no system call here at all. Switching the user away from
//! 0 also takes the thread's rights over other people's files away (capabilities(7)), and back to 0 returns them.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};

use howdah_vfs::{Caller, FsError, Result};
use rustix::thread::{CapabilitySet, capabilities, set_capabilities};

use super::syscall;

thread_local! {
    /// Who this thread acts as; `None` until the first call.
    static CURRENT: RefCell<Option<Caller>> = const { RefCell::new(None) };
}

/// A user that owns nothing, to try out whether switching works.
const NOBODY: Caller = Caller { user: 65_534, group: 65_534, groups: Caller::ROOT.groups };

/// Whether and how calls run as their callers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Identity {
    acts_as_caller: bool,
}

impl Identity {
    /// Finds out by trying whether this process may act as others.
    pub(super) fn probe() -> Self {
        let superuser = rustix::process::geteuid().is_root();
        let acts_as_caller =
            superuser && become_caller(&NOBODY).and_then(|()| become_caller(&Caller::ROOT)).is_ok();
        Self { acts_as_caller }
    }

    /// Whether calls run as their callers.
    pub(super) fn acts_as_caller(self) -> bool {
        self.acts_as_caller
    }

    /// From here on this thread acts as the caller.
    pub(super) fn assume(self, caller: &Caller) -> Result<()> {
        if !self.acts_as_caller || CURRENT.with_borrow(|current| current.as_ref() == Some(caller)) {
            return Ok(());
        }
        become_caller(caller)
    }

    /// From here on this thread has the superuser's rights again, if it may. Its groups stay: this is for opening what
    /// a handle names, never for making anything.
    pub(super) fn assume_root(self) -> Result<()> {
        if CURRENT.with_borrow(|current| current.as_ref().is_some_and(|current| current.user == 0)) {
            return Ok(());
        }
        let current = CURRENT.with_borrow(Clone::clone).unwrap_or(Caller::ROOT);
        self.assume(&Caller { user: 0, ..current })
    }

    /// Runs `work` with the superuser's rights, if this thread may have them, and acts as before again afterwards: for
    /// what the server opens for itself in the middle of somebody's call.
    pub(super) fn as_root<T>(work: impl FnOnce() -> T) -> Result<T> {
        let Some(before) = CURRENT.with_borrow(|current| current.clone().filter(|current| current.user != 0))
        else {
            return Ok(work());
        };
        become_caller(&Caller { user: 0, ..before.clone() })?;
        let done = work();
        become_caller(&before)?;
        Ok(done)
    }
}

/// Runs `work` with the rights of the server itself, on a thread that may act as somebody's caller: for files of the server's own.
/// The thread acts as before again afterwards.
///
/// # Errors
/// The thread does not get the rights (`work` did not run), or cannot act as before.
pub fn with_server_rights(work: &mut dyn FnMut()) -> Result<()> {
    Identity::as_root(work)
}

/// Sets what differs. If a step fails the thread is in between, so what it is is forgotten, and the call refused.
#[cold]
fn become_caller(caller: &Caller) -> Result<()> {
    let before = CURRENT.take();
    if before.is_none() {
        give_up_resource_privilege();
    }
    let differs = |field: fn(&Caller) -> u32| before.as_ref().map(field) != Some(field(caller));
    // The user comes last on the way down and first on the way up makes no difference: changing groups needs
    // CAP_SETGID, which the file system user id does not touch.
    if before.as_ref().is_none_or(|before| before.groups != caller.groups) {
        let groups = caller.groups.as_slice();
        syscall::set_groups(groups)
            .or_else(|_| set_known_groups(groups))
            .map_err(|_| FsError::ServerFault)?;
    }
    // Ids without a place in this user namespace are those of nobody.
    if differs(|caller| caller.group) && !set_or_nobody(caller.group, syscall::set_file_system_group) {
        return Err(FsError::ServerFault);
    }
    if differs(|caller| caller.user) && !set_or_nobody(caller.user, syscall::set_file_system_user) {
        return Err(FsError::ServerFault);
    }
    CURRENT.set(Some(caller.clone()));
    Ok(())
}

/// Sets an id, or nobody's if it has no place in this user namespace.
fn set_or_nobody(id: u32, set: impl Fn(u32) -> bool) -> bool {
    set(id) || {
        tell_of_unmapped(id);
        set(NOBODY.user)
    }
}

/// Sets those groups that have a place in this user namespace: one without would otherwise refuse its user everything.
fn set_known_groups(groups: &[u32]) -> rustix::io::Result<()> {
    let map = std::fs::read_to_string("/proc/self/gid_map").map_err(|_| rustix::io::Errno::PERM)?;
    let known: Vec<u32> = groups.iter().copied().filter(|group| is_mapped(&map, *group)).collect();
    if let Some(unmapped) = groups.iter().find(|group| !known.contains(group)) {
        tell_of_unmapped(*unmapped);
    }
    syscall::set_groups(&known)
}

/// Whether an id has a place, by the lines of a `gid_map`: the first id inside, the first outside, how many.
fn is_mapped(map: &str, id: u32) -> bool {
    map.lines().any(|line| {
        let mut numbers = line.split_whitespace().map(|word| word.parse::<u64>().unwrap_or(0));
        let (Some(first), Some(_), Some(count)) = (numbers.next(), numbers.next(), numbers.next()) else {
            return false;
        };
        (first..first.saturating_add(count)).contains(&u64::from(id))
    })
}

fn tell_of_unmapped(id: u32) {
    static IS_TOLD: AtomicBool = AtomicBool::new(false);
    if !IS_TOLD.swap(true, Ordering::Relaxed) {
        tracing::warn!(
            id,
            "a client's user or group has no place in this user namespace: such groups are left out, and such users act as nobody; map more ids"
        );
    }
}

/// A thread with `CAP_SYS_RESOURCE` may use reserved blocks and exceed quotas, and switching the user does not take it away. A
/// thread that acts for others must not have it. Failing to drop what one does not have is no error.
fn give_up_resource_privilege() {
    let Ok(mut sets) = capabilities(None) else { return };
    sets.effective.remove(CapabilitySet::SYS_RESOURCE);
    let _ = set_capabilities(None, sets);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_a_place_where_the_map_says_so() {
        let map = "         0     100000      65536\n     70000       1000          1\n";
        for (id, is) in
            [(0, true), (65_535, true), (65_536, false), (70_000, true), (70_001, false), (u32::MAX, false)]
        {
            assert_eq!(is_mapped(map, id), is, "{id}");
        }
        assert!(is_mapped("0 0 4294967295\n", u32::MAX - 1) && !is_mapped("", 0));
    }

    #[test]
    fn an_id_without_a_place_is_nobodys() {
        let has = |places: &'static [u32]| move |id: u32| places.contains(&id);
        assert!(set_or_nobody(7, has(&[7])) && set_or_nobody(100_000, has(&[65_534])));
        assert!(!set_or_nobody(100_000, has(&[])));
    }

    #[test]
    fn the_thread_becomes_the_caller_and_comes_back() {
        let identity = Identity::probe();
        if !identity.acts_as_caller {
            return;
        }
        let status = || std::fs::read_to_string("/proc/thread-self/status").expect("own status");
        let line = |text: &str, key: &str| {
            text.lines().find(|line| line.starts_with(key)).map(str::to_owned).expect("a line of status")
        };
        let groups = howdah_vfs::GroupList::new([7, 9]);
        identity.assume(&Caller { user: 1001, group: 1002, groups }).expect("become 1001");
        let text = status();
        assert_eq!(line(&text, "Uid:").split_whitespace().last(), Some("1001"));
        assert_eq!(line(&text, "Gid:").split_whitespace().last(), Some("1002"));
        assert!(line(&text, "Groups:").contains("7 9"), "{text}");
        let inside = Identity::as_root(status).expect("become root for a moment");
        assert_eq!(line(&inside, "Uid:").split_whitespace().last(), Some("0"));
        let after = status();
        for key in ["Uid:", "Gid:", "Groups:", "CapEff:"] {
            assert_eq!(line(&after, key), line(&text, key));
        }
        identity.assume_root().expect("become root");
        let text = status();
        assert_eq!(line(&text, "Uid:").split_whitespace().last(), Some("0"));
        assert!(line(&text, "Groups:").contains("7 9"), "{text}");
        identity.assume(&Caller::ROOT).expect("become root as a caller");
        let text = status();
        assert_eq!(line(&text, "Uid:").split_whitespace().last(), Some("0"));
        assert_eq!(line(&text, "Groups:").split_whitespace().count(), 1, "{text}");
    }
}
