//! Users and their groups, from this host's user database: files, LDAP, SSSD, whatever `nsswitch.conf` names.

use std::ffi::CString;
use std::io;

use howdah_server::exports::{GroupSource, UserAccount};
use howdah_vfs::GroupList;
use nix::unistd::{Group, Uid, User, getgrouplist};

/// The user database of this host.
pub struct UserDatabase;

impl GroupSource for UserDatabase {
    fn groups(&self, user: u32) -> io::Result<Option<Vec<u32>>> {
        let Some(found) = User::from_uid(Uid::from_raw(user))? else { return Ok(None) };
        let name = CString::new(found.name)?;
        let groups = getgrouplist(&name, found.gid)?;
        Ok(Some(groups.into_iter().map(nix::unistd::Gid::as_raw).collect()))
    }

    /// By the name before the `@`: the domain says whose users they are, for which the authority answers.
    fn account(&self, name: &str) -> io::Result<Option<UserAccount>> {
        self.user(name.split_once('@').map_or(name, |(user, _)| user))
    }

    fn group(&self, name: &str) -> io::Result<Option<u32>> {
        Ok(Group::from_name(name)?.map(|group| group.gid.as_raw()))
    }

    fn user(&self, name: &str) -> io::Result<Option<UserAccount>> {
        let Some(found) = User::from_name(name)? else { return Ok(None) };
        let groups = getgrouplist(&CString::new(found.name)?, found.gid)?;
        let groups = groups.into_iter().map(nix::unistd::Gid::as_raw);
        Ok(Some(UserAccount {
            user: found.uid.as_raw(),
            group: found.gid.as_raw(),
            groups: GroupList::new(groups),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_host_knows_the_groups_of_root_and_nobody_has_the_last_id() {
        let root = UserDatabase.groups(0).expect("a user database").expect("a user");
        assert!(root.contains(&0), "{root:?}");
        let named = UserDatabase.account("root@example.org").expect("a user database").expect("a user");
        assert_eq!((named.user, named.group), (0, 0));
        assert_eq!(UserDatabase.account("no such user").expect("a user database"), None);
        assert_eq!(UserDatabase.group("root").expect("a user database"), Some(0));
        // A principal has the name of a user as it is, or none.
        assert_eq!(UserDatabase.user("root@example.org").expect("a user database"), None);
        assert_eq!(UserDatabase.groups(u32::MAX - 7).expect("a user database"), None);
    }
}
