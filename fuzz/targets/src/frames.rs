//! Packets as a TUN interface gives them, with the kernel's header about offloads before them: whatever a host sends, a wire
//! cuts and damages without falling over it, and no byte of payload is lost.

use arbitrary::Unstructured;
use bytes::BytesMut;
use howdah_lab::network::Frame;
use howdah_link::{Packet, Random, Segments};

/// Bytes of the kernel's header (`struct virtio_net_hdr`).
const HEADER: usize = 10;
/// The longest packet.
const LONGEST: usize = 64 << 10;

/// Two bytes say where to cut and how to damage, the rest is a frame.
pub fn run(input: &[u8]) {
    let mut input = Unstructured::new(input);
    let Ok((cut, chance)) = input.arbitrary::<(u8, u64)>() else { return };
    let rest = input.take_rest();
    if rest.len() < HEADER || rest.len() > HEADER + LONGEST {
        return;
    }
    let whole = Frame::new(BytesMut::from(rest)).into_packet();
    check(&whole);
    let mut behind = whole;
    while behind.segments > 1 {
        let first = behind.split_first(1 + u32::from(cut) % (behind.segments - 1));
        check(&first);
        check(&behind);
    }
    let mut damaged = behind.body;
    damaged.corrupt(&mut Random::new(chance));
    assert!(damaged.bytes().len() >= HEADER);
}

fn check(packet: &Packet<Frame>) {
    assert!(packet.segments >= 1 && packet.bytes > 0);
    assert!(packet.bytes > packet.frame_bytes * (packet.segments as usize - 1), "no segment is empty");
    assert!(packet.body.bytes().len() >= HEADER);
}
