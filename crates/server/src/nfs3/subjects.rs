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
