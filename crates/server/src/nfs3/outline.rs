//! What a call may change, as the bytes that name it: the start of the arguments of every procedure that changes something.

use howdah_wire::nfs3::{HANDLE_MAX, NAME_MAX};
use howdah_wire::xdr::{DecodeError, Decoder};

use crate::program::Subjects;

/// A node: its handle.
pub fn node(arguments: Decoder<'_>) -> Subjects<'_> {
    [first(&mut { arguments }, handle), &[]]
}

/// A name in a directory.
pub fn name(arguments: Decoder<'_>) -> Subjects<'_> {
    [first(&mut { arguments }, handle_and_name), &[]]
}

/// Two names.
pub fn two_names(mut arguments: Decoder<'_>) -> Subjects<'_> {
    [first(&mut arguments, handle_and_name), first(&mut arguments, handle_and_name)]
}

/// A node, and a name.
pub fn node_and_name(mut arguments: Decoder<'_>) -> Subjects<'_> {
    [first(&mut arguments, handle), first(&mut arguments, handle_and_name)]
}

/// The node that a call made (RFC 1813, `post_op_fh3` behind the status), as [`node`] names it.
pub fn made(mut result: Decoder<'_>) -> &[u8] {
    match (result.u32("status"), result.bool("whether a handle follows")) {
        (Ok(0), Ok(true)) => first(&mut result, handle),
        _ => &[],
    }
}

fn handle(decoder: &mut Decoder<'_>) -> Result<(), DecodeError> {
    decoder.opaque(HANDLE_MAX as u32, "handle").map(drop)
}

fn handle_and_name(decoder: &mut Decoder<'_>) -> Result<(), DecodeError> {
    handle(decoder)?;
    decoder.opaque(NAME_MAX, "name").map(drop)
}

/// The bytes that are decoded next; none if they make no sense.
fn first<'a>(decoder: &mut Decoder<'a>, decode: fn(&mut Decoder<'_>) -> Result<(), DecodeError>) -> &'a [u8] {
    let (rest, start) = (decoder.rest(), decoder.position());
    match decode(decoder) {
        Ok(()) => &rest[..decoder.position() - start],
        Err(_) => &[],
    }
}

#[cfg(test)]
mod tests {
    use howdah_wire::nfs3::{DirectoryName, FileHandle, link, remove, rename};
    use howdah_wire::xdr::Encoder;

    use super::*;

    #[test]
    fn a_node_that_was_made_is_the_subject_that_it_is_to_a_write() {
        let handle = Encoder::to_vec(&FileHandle(b"handle"));
        let result = [&[0, 0, 0, 0, 0, 0, 0, 1], &handle[..], &[0; 4]].concat();
        assert_eq!(made(Decoder::new(&result)), node(Decoder::new(&handle))[0]);
        assert!(made(Decoder::new(&[0; 12])).is_empty(), "without a handle");
        assert!(made(Decoder::new(&[0, 0, 0, 13, 0, 0, 0, 1])).is_empty(), "refused");
    }

    #[test]
    fn a_name_is_the_same_subject_whatever_is_done_with_it() {
        let object = |name| DirectoryName { directory: FileHandle(b"directory"), name };
        let remove = Encoder::to_vec(&remove::Arguments { object: object(b"a") });
        let rename = Encoder::to_vec(&rename::Arguments { from: object(b"b"), to: object(b"a") });
        let link = Encoder::to_vec(&link::Arguments { node: FileHandle(b"file"), link: object(b"a") });
        let a = name(Decoder::new(&remove))[0];
        assert_eq!(two_names(Decoder::new(&rename))[1], a);
        assert_eq!(node_and_name(Decoder::new(&link))[1], a);
        assert_ne!(two_names(Decoder::new(&rename))[0], a);
        assert!(node(Decoder::new(b"\0\0")).iter().all(|subject| subject.is_empty()));
    }
}
