//! What CREATE, MKDIR, SYMLINK and MKNOD answer: the four differ only in what they ask of the file system.

use howdah_vfs::{Change, Name, Node};
use howdah_wire::nfs3::{DirectoryName, Made, Refused, Status, WeakCacheConsistency};

use super::context::{Context, Object, nothing_known};
use super::names;
use crate::Reply;

/// Opens the directory, takes the name, lets `make` make the node, and answers.
pub fn answer(
    context: &Context<'_>,
    object: &DirectoryName<'_>,
    reply: &mut Reply,
    make: impl FnOnce(&Object<'_>, Name<'_>, &mut Change) -> Result<Node, Status>,
) {
    type Answer<'a> = Result<Made<'a>, Refused<WeakCacheConsistency>>;
    let directory = match context.open(object.directory) {
        Ok(directory) => directory,
        Err(status) => return reply.write(&Answer::Err(nothing_known(status))),
    };
    let mut change = Change::default();
    let outcome = names::new(object.name).and_then(|name| make(&directory, name, &mut change));
    let consistency = directory.consistency(&change);
    match outcome {
        Ok(node) => reply.write(&Answer::Ok(Made {
            node: Some(directory.seal(&node.handle).as_wire()),
            attributes: Some(directory.tell(&node.attributes)),
            directory: consistency,
        })),
        Err(status) => reply.write(&Answer::Err(Refused { status, detail: consistency })),
    }
}
