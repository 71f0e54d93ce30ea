//! ACCESS.

use howdah_vfs::{Access, Attributes, Caller, FileKind, Handle, Result};
use rustix::io::Errno;

use super::errno::refusal;
use super::identity::Identity;
use super::node::Node;
use super::open_nodes::OpenNodes;
use super::syscall;

/// Execute permission for owner, group or others. An access list gives nobody more than these show.
const ANY_EXECUTE: u32 = 0o111;

/// ACCESS: the kernel judges, for the caller. One system call if it grants everything that is asked for.
pub(super) fn check_access(
    nodes: &OpenNodes,
    identity: Identity,
    caller: &Caller,
    (handle, wanted): (&Handle, Access),
) -> Result<(Access, Attributes)> {
    let node = nodes.node(handle)?;
    let attributes = nodes.stat(&node)?;
    identity.assume(caller)?;
    let rights = rights(attributes.kind);
    // Most files are no programs, and most clients ask whether they are: no bit for anybody is an answer already.
    let runs = attributes.kind == FileKind::Directory || attributes.mode & ANY_EXECUTE != 0;
    let possible = rights.into_iter().filter(|(right, _)| *right != libc::X_OK || runs);
    let asked = possible.filter(|(_, access)| wanted.intersects(*access));
    let all = asked.clone().fold(0, |all, (right, _)| all | right);
    let everything = asked.clone().fold(Access::NONE, |all, (_, access)| all | access);
    if all == 0 || allows(&node, all)? {
        return Ok((everything & wanted, attributes));
    }
    let mut granted = Access::NONE;
    for (right, access) in asked {
        if right != all && allows(&node, right)? {
            granted = granted | access;
        }
    }
    Ok((granted & wanted, attributes))
}

/// What the rights to a node of this kind grant (RFC 1813 3.3.4).
fn rights(kind: FileKind) -> [(i32, Access); 3] {
    let change = Access::MODIFY | Access::EXTEND;
    match kind {
        FileKind::Directory => [
            (libc::R_OK, Access::READ),
            (libc::X_OK, Access::LOOKUP),
            (libc::W_OK | libc::X_OK, change | Access::DELETE),
        ],
        _ => [(libc::R_OK, Access::READ), (libc::W_OK, change), (libc::X_OK, Access::EXECUTE)],
    }
}

fn allows(node: &Node, rights: i32) -> Result<bool> {
    match syscall::access(node.descriptor(), rights) {
        Ok(()) => Ok(true),
        Err(Errno::ACCESS | Errno::PERM | Errno::ROFS | Errno::TXTBSY) => Ok(false),
        Err(errno) => Err(refusal(errno)),
    }
}
