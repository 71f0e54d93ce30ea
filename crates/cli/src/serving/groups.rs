//! The groups of users, from this host's user database: files, LDAP, SSSD, whatever `nsswitch.conf` names.

use std::ffi::CString;
use std::io;

use howdah_server::exports::GroupSource;
use nix::unistd::{Uid, User, getgrouplist};

/// The user database of this host.
pub struct UserDatabase;

impl GroupSource for UserDatabase {
    fn groups(&self, user: u32) -> io::Result<Option<Vec<u32>>> {
        let Some(found) = User::from_uid(Uid::from_raw(user))? else { return Ok(None) };
        let name = CString::new(found.name)?;
        let groups = getgrouplist(&name, found.gid)?;
        Ok(Some(groups.into_iter().map(nix::unistd::Gid::as_raw).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_host_knows_the_groups_of_root_and_nobody_has_the_last_id() {
        let root = UserDatabase.groups(0).expect("a user database").expect("a user");
        assert!(root.contains(&0), "{root:?}");
        assert_eq!(UserDatabase.groups(u32::MAX - 7).expect("a user database"), None);
    }
}
