//! Users and groups of this host by name: files, LDAP, SSSD, whatever `nsswitch.conf` names.

use howdah_client::nfs4::NameDatabase;
use nix::unistd::{Group, User};

/// The databases of this host.
pub struct HostNames;

impl NameDatabase for HostNames {
    fn user(&self, name: &str) -> Option<u32> {
        User::from_name(name).ok()?.map(|user| user.uid.as_raw())
    }

    fn group(&self, name: &str) -> Option<u32> {
        Group::from_name(name).ok()?.map(|group| group.gid.as_raw())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_host_knows_root_by_name() {
        assert_eq!((HostNames.user("root"), HostNames.group("root")), (Some(0), Some(0)));
        assert_eq!((HostNames.user("no such user"), HostNames.group("no such group")), (None, None));
    }
}
