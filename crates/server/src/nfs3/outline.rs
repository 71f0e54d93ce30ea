//! What the door reads of arguments that change something: nodes and names stand at their start.

use howdah_wire::nfs3::write::{Head, Stability};
use howdah_wire::nfs3::{HANDLE_MAX, NAME_MAX};
use howdah_wire::xdr::{Decode, Decoder};

use crate::outline::{Bulk, Outline, ReplyPace};

/// A node.
pub fn node<'m>(outline: &mut Outline<'m>, mut arguments: Decoder<'m>) {
    outline.subjects[0] = subject(outline, &mut arguments, false);
}

/// A name in a directory.
pub fn name<'m>(outline: &mut Outline<'m>, mut arguments: Decoder<'m>) {
    outline.subjects[0] = subject(outline, &mut arguments, true);
}

/// Two names.
pub fn two_names<'m>(outline: &mut Outline<'m>, mut arguments: Decoder<'m>) {
    outline.subjects = [(); 2].map(|()| subject(outline, &mut arguments, true));
}

/// A node, and a name.
pub fn node_and_name<'m>(outline: &mut Outline<'m>, mut arguments: Decoder<'m>) {
    outline.subjects = [false, true].map(|has_name| subject(outline, &mut arguments, has_name));
}

/// A node that data is written to.
pub fn write<'m>(outline: &mut Outline<'m>, mut arguments: Decoder<'m>) {
    node(outline, arguments.clone());
    let Ok(Head { stability, length, .. }) = Head::decode(&mut arguments) else { return };
    let (at, durable) = (arguments.position(), stability != Stability::Unstable);
    outline.brings(Bulk { at, length: length as usize, durable, behind_max: 0 });
}

/// The node that a call made (RFC 1813, `post_op_fh3` behind the status), as [`node`] names it.
pub fn made(mut result: Decoder<'_>) -> &[u8] {
    match (result.u32("status"), result.bool("whether a handle follows")) {
        (Ok(0), Ok(true)) => subject(&mut Outline::of(ReplyPace::Quick), &mut result, false),
        _ => &[],
    }
}

/// The bytes of the handle that comes next, and of a name behind it; none if they make no sense. The first handle is the call's node.
fn subject<'m>(outline: &mut Outline<'m>, decoder: &mut Decoder<'m>, has_name: bool) -> &'m [u8] {
    let (rest, start) = (decoder.rest(), decoder.position());
    let Ok(handle) = decoder.opaque(HANDLE_MAX as u32, "handle") else { return &[] };
    outline.node.get_or_insert(handle);
    if has_name && decoder.opaque(NAME_MAX, "name").is_err() {
        return &[];
    }
    &rest[..decoder.position() - start]
}

#[cfg(test)]
mod tests {
    use howdah_wire::nfs3::{DirectoryName, FileHandle, link, remove, rename};
    use howdah_wire::xdr::Encoder;

    use super::*;
    use crate::outline::Subjects;
    use crate::program::ReadOutline;

    fn subjects(read: ReadOutline, arguments: &[u8]) -> Subjects<'_> {
        let mut outline = Outline::of(ReplyPace::Quick);
        read(&mut outline, Decoder::new(arguments));
        outline.subjects
    }

    #[test]
    fn a_node_that_was_made_is_the_subject_that_it_is_to_a_write() {
        let handle = Encoder::to_vec(&FileHandle(b"handle"));
        let result = [&[0, 0, 0, 0, 0, 0, 0, 1], &handle[..], &[0; 4]].concat();
        assert_eq!(made(Decoder::new(&result)), subjects(node, &handle)[0]);
        assert!(made(Decoder::new(&[0; 12])).is_empty(), "without a handle");
        assert!(made(Decoder::new(&[0, 0, 0, 13, 0, 0, 0, 1])).is_empty(), "refused");
    }

    #[test]
    fn a_name_is_the_same_subject_whatever_is_done_with_it() {
        let object = |name| DirectoryName { directory: FileHandle(b"directory"), name };
        let remove = Encoder::to_vec(&remove::Arguments { object: object(b"a") });
        let rename = Encoder::to_vec(&rename::Arguments { from: object(b"b"), to: object(b"a") });
        let link = Encoder::to_vec(&link::Arguments { node: FileHandle(b"file"), link: object(b"a") });
        let a = subjects(name, &remove)[0];
        assert_eq!(subjects(two_names, &rename)[1], a);
        assert_eq!(subjects(node_and_name, &link)[1], a);
        assert_ne!(subjects(two_names, &rename)[0], a);
        assert!(subjects(node, b"\0\0").iter().all(|subject| subject.is_empty()));
    }
}
