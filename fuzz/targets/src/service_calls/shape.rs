//! The arguments of each procedure, as the kinds of things in them: enough to make calls that mean something, with
//! everything in them that a client can choose.

use howdah_wire::xdr::Encoder;

use super::input::Input;

/// A thing in arguments.
#[derive(Clone, Copy)]
pub enum Field {
    /// A handle that the server gave, or bytes.
    Handle,
    /// A name, good or bad.
    Name,
    /// Numbers of 32 bits.
    Words(usize),
    /// Attributes to set (`sattr3`).
    Attributes,
    /// A time to compare with, or none (`sattrguard3`).
    Guard,
    /// Count, stability and data of WRITE.
    Data,
    /// How CREATE treats a name that exists (`createhow3`).
    How,
    /// What MKNOD makes (`mknoddata3`).
    Special,
    /// Where a symbolic link points.
    Target,
}
use Field::{Attributes, Data, Guard, Handle, How, Name, Special, Target, Words};

/// By procedure number.
pub const SHAPES: [&[Field]; 22] = [
    &[],
    &[Handle],
    &[Handle, Attributes, Guard],
    &[Handle, Name],
    &[Handle, Words(1)],
    &[Handle],
    &[Handle, Words(3)],
    &[Handle, Words(2), Data],
    &[Handle, Name, How],
    &[Handle, Name, Attributes],
    &[Handle, Name, Attributes, Target],
    &[Handle, Name, Special],
    &[Handle, Name],
    &[Handle, Name],
    &[Handle, Name, Handle, Name],
    &[Handle, Handle, Name],
    &[Handle, Words(5)],
    &[Handle, Words(6)],
    &[Handle],
    &[Handle],
    &[Handle],
    &[Handle, Words(3)],
];

/// Names that are good, and every way in which one is not.
const NAMES: [&[u8]; 12] = [
    b"a",
    b"b",
    b"c",
    b"\xff\xfe",
    b"",
    b".",
    b"..",
    b"a/b",
    b"/etc/passwd",
    b"a\0b",
    &[b'n'; 255],
    &[b'n'; 256],
];

/// Writes arguments of this shape.
pub fn encode(shape: &[Field], input: &mut Input<'_>, handles: &[Vec<u8>], encoder: &mut Encoder<'_>) {
    for field in shape {
        match field {
            Handle => match input.byte() {
                raw if raw >= 0xf0 => encoder.opaque(input.take(usize::from(raw - 0xf0) * 5)),
                known => encoder.opaque(&handles[usize::from(known) % handles.len()]),
            },
            Name => match input.byte() {
                raw if raw >= 0xf0 => encoder.opaque(input.take(usize::from(raw - 0xf0))),
                known => encoder.opaque(NAMES[usize::from(known) % NAMES.len()]),
            },
            Words(count) => (0..*count).for_each(|_| encoder.u32(input.number())),
            Attributes => attributes(input, encoder),
            Guard => {
                let guarded = input.byte() % 4 == 1;
                encoder.bool(guarded);
                (0..if guarded { 2 } else { 0 }).for_each(|_| encoder.u32(input.number()));
            }
            Data => {
                let length = usize::from(input.byte()) * 16;
                let data = input.take(length);
                encoder.u32(data.len() as u32);
                encoder.u32(u32::from(input.byte()) % 3);
                encoder.opaque(data);
            }
            How => match input.byte() % 3 {
                2 => [2, input.number(), input.number()].into_iter().for_each(|word| encoder.u32(word)),
                how => {
                    encoder.u32(how.into());
                    attributes(input, encoder);
                }
            },
            Special => special(input, encoder),
            Target => match input.byte() {
                raw if raw >= 0xe0 => encoder.opaque(input.take(usize::from(raw - 0xe0))),
                known => encoder.opaque([&b"a"[..], b"..", b"/etc", &[b't'; 4096]][usize::from(known) % 4]),
            },
        }
    }
}

/// Each attribute is set if its bit is: one byte says which.
fn attributes(input: &mut Input<'_>, encoder: &mut Encoder<'_>) {
    let which = input.byte();
    for (bit, words) in [(0x01, 1), (0x02, 1), (0x04, 1), (0x08, 2)] {
        encoder.bool(which & bit != 0);
        (0..if which & bit != 0 { words } else { 0 }).for_each(|_| encoder.u32(input.number()));
    }
    for shift in [4, 6] {
        let how = u32::from(which >> shift) % 3;
        encoder.u32(how);
        (0..if how == 2 { 2 } else { 0 }).for_each(|_| encoder.u32(input.number()));
    }
}

/// The type, and what goes with it.
fn special(input: &mut Input<'_>, encoder: &mut Encoder<'_>) {
    let kind = 1 + u32::from(input.byte()) % 7;
    encoder.u32(kind);
    match kind {
        3 | 4 => {
            attributes(input, encoder);
            [input.number(), input.number()].into_iter().for_each(|word| encoder.u32(word));
        }
        6 | 7 => attributes(input, encoder),
        _ => {}
    }
}
