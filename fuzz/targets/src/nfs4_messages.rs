//! Every compound of NFSv4.1 and 4.2, call and reply, and every callback.

mod arguments;
mod results;

use howdah_wire::nfs4::attributes::Values;
use howdah_wire::nfs4::{Status, callback, compound};
use howdah_wire::xdr::{Decode, Decoder};

/// The first byte chooses a call, a reply, a callback or its reply; the rest is the message's bytes.
pub fn run(input: &[u8]) {
    let Some((choice, message)) = input.split_first() else { return };
    let mut decoder = Decoder::new(message);
    match choice % 4 {
        0 => call(&mut decoder),
        1 => reply(&mut decoder, results::body),
        2 => callback(&mut decoder),
        _ => reply(&mut decoder, results::callback_body),
    }
}

fn call(decoder: &mut Decoder<'_>) {
    stable!(compound::Head<'_>, decoder.rest());
    let Ok(head) = compound::Head::decode(decoder) else { return };
    for _ in 0..head.operations {
        let Ok(operation) = decoder.u32("operation") else { return };
        if arguments::arguments(operation, decoder).is_none() {
            return;
        }
    }
}

fn callback(decoder: &mut Decoder<'_>) {
    stable!(callback::compound::Head<'_>, decoder.rest());
    let Ok(head) = callback::compound::Head::decode(decoder) else { return };
    for _ in 0..head.operations {
        let Ok(operation) = decoder.u32("operation") else { return };
        if arguments::callback_arguments(operation, decoder).is_none() {
            return;
        }
    }
}

fn reply(decoder: &mut Decoder<'_>, body: fn(u32, Status, &mut Decoder<'_>) -> Option<()>) {
    stable!(compound::ReplyHead<'_>, decoder.rest());
    let Ok(head) = compound::ReplyHead::decode(decoder) else { return };
    for _ in 0..head.results {
        let Ok(result) = compound::ResultHead::decode(decoder) else { return };
        if body(result.operation, result.status, decoder).is_none() {
            return;
        }
    }
}

/// Attributes that can be decoded come back from their own encoding.
fn attributes(values: &Values<'_>) {
    let Ok(decoded) = values.decode_all() else { return };
    let mut buffer = Vec::new();
    let again = Values::of(&decoded, &mut buffer);
    assert_eq!((again.attributes, again.decode_all()), (values.attributes, Ok(decoded)));
}
