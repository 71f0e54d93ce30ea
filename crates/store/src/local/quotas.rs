//! Quotas of the kernel, which shows users their own, and those of others only to holders of CAP_SYS_ADMIN. A thread that becomes the
//! owner for one question needs no right that the server does not have already.

use std::os::fd::AsFd;
use std::thread;

use howdah_vfs::{FsError, Handle, Quota, QuotaOwner, QuotaUse, Quotas, Result};
use rustix::io::Errno;

use super::errno::refusal;
use super::node::Node;
use super::open_nodes::OpenNodes;
use super::syscall;

/// Bytes of a block in which the kernel counts limits (`QIF_DQBLKSIZE`).
const BLOCK: u64 = 1024;

/// Whether this kernel can be asked for the quotas of an open file (Linux 5.14, with quotas compiled in).
pub fn can_ask_quotas() -> bool {
    let Ok(root) = rustix::fs::open("/", rustix::fs::OFlags::PATH, rustix::fs::Mode::empty()) else {
        return false;
    };
    // A kind that no kernel has is refused by one that knows the call, whatever file system this is.
    let asked = syscall::get_quota(root.as_fd(), syscall::QuotaKind::Unknown, 0);
    !matches!(asked, Err(Errno::NOSYS))
}

impl Quotas for OpenNodes {
    fn quota(&self, node: &Handle, owner: QuotaOwner) -> Result<Option<Quota>> {
        let node = self.node(node)?;
        let ask = || ask_as_owner(&node, owner);
        let asked = thread::scope(|scope| {
            let asking = thread::Builder::new().name("quota".to_owned()).spawn_scoped(scope, ask);
            asking.map(|asking| asking.join().map_err(|_| FsError::ServerFault))
        });
        match asked.map_err(|_| FsError::Delay)?? {
            Ok(found) => Ok(Some(quota(&found))),
            // No quotas here, none of this kind, or nothing of this owner.
            Err(Errno::SRCH | Errno::NOSYS | Errno::OPNOTSUPP | Errno::NOENT | Errno::INVAL) => Ok(None),
            Err(errno) => Err(refusal(errno)),
        }
    }
}

/// Asks on a thread of its own: who it was does not matter any more when it ends.
fn ask_as_owner(node: &Node, owner: QuotaOwner) -> rustix::io::Result<libc::dqblk> {
    let (kind, id) = match owner {
        QuotaOwner::User(user) => {
            syscall::set_effective_user(user)?;
            (syscall::QuotaKind::User, user)
        }
        QuotaOwner::Group(group) => {
            syscall::set_groups(&[group])?;
            (syscall::QuotaKind::Group, group)
        }
    };
    syscall::get_quota(node.descriptor(), kind, id)
}

fn quota(found: &libc::dqblk) -> Quota {
    Quota {
        bytes: QuotaUse {
            used: found.dqb_curspace,
            soft_limit: found.dqb_bsoftlimit.saturating_mul(BLOCK),
            hard_limit: found.dqb_bhardlimit.saturating_mul(BLOCK),
            grace_ends: found.dqb_btime,
        },
        files: QuotaUse {
            used: found.dqb_curinodes,
            soft_limit: found.dqb_isoftlimit,
            hard_limit: found.dqb_ihardlimit,
            grace_ends: found.dqb_itime,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::local::{LocalFileSystem, Options};

    /// Where the system's directory for temporary files has no quotas, as usual, the answer is none, and the thread that asked for
    /// somebody else acts as before.
    #[test]
    fn a_file_system_without_quotas_has_none() {
        let (before, home) = (rustix::process::geteuid(), tempfile::tempdir().expect("a directory"));
        let file_system = LocalFileSystem::open(home.path(), Options::default()).expect("opened");
        for owner in [QuotaOwner::User(1001), QuotaOwner::Group(1001), QuotaOwner::User(u32::MAX)] {
            let root = howdah_vfs::FileSystem::root(&file_system);
            match file_system.nodes().quota(&root, owner) {
                Ok(None) | Err(FsError::NotPermitted) => {}
                Ok(Some(quota)) => assert!(quota.bytes.used > 0 || quota.files.used > 0, "{quota:?}"),
                Err(other) => panic!("{owner:?}: {other}"),
            }
        }
        assert_eq!(rustix::process::geteuid(), before);
    }

    #[test]
    fn blocks_of_the_kernel_are_bytes() {
        let found = libc::dqblk {
            dqb_bhardlimit: 2048,
            dqb_bsoftlimit: u64::MAX,
            dqb_curspace: 5,
            dqb_ihardlimit: 7,
            dqb_isoftlimit: 6,
            dqb_curinodes: 4,
            dqb_btime: 9,
            dqb_itime: 8,
            dqb_valid: 0,
        };
        let bytes = QuotaUse { used: 5, soft_limit: u64::MAX, hard_limit: 2 << 20, grace_ends: 9 };
        let files = QuotaUse { used: 4, soft_limit: 6, hard_limit: 7, grace_ends: 8 };
        assert_eq!(quota(&found), Quota { bytes, files });
    }
}
