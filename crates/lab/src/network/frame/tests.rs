//! Frames against the segments that they stand for.

use howdah_link::{Random, Segments};
use proptest::prelude::*;

use super::checksum::{pseudo_header, sum};
use super::frame::Frame;
use super::layout::Layout;
use super::offload;
use super::truth::Sent;

fn sent() -> impl Strategy<Value = Sent> {
    let kind = (any::<bool>(), any::<bool>(), any::<bool>(), 0..10usize);
    let numbers = (any::<u8>(), any::<u32>(), any::<u16>());
    // Small sizes too: shorter than the headers, of which there must be room when a packet is cut.
    (kind, numbers, prop_oneof![1..60usize, 500..1500usize], 1..45usize, any::<u64>()).prop_map(
        |((v6, udp, extension, options), (flags, sequence, identification), size, segments, seed)| {
            let mut random = Random::new(seed);
            let last = 1 + random.number() as usize % size;
            let length = ((segments - 1) * size + last).min(65_000);
            let payload = (0..length).map(|_| random.number() as u8).collect();
            Sent { v6, udp, size, payload, flags, sequence, identification, options, extension }
        },
    )
}

/// A segment as it would be on the wire.
fn on_wire(mut frame: Frame) -> Vec<u8> {
    assert!(
        offload::headers(frame.bytes()) <= frame.bytes().len() - offload::LENGTH,
        "the kernel refuses it"
    );
    frame.complete_checksum();
    frame.bytes()[offload::LENGTH..].to_vec()
}

/// Cuts a packet of so many segments wherever chance says, until nothing is left to cut.
fn cut_up(mut frame: Frame, segments: u32, random: &mut Random, into: &mut Vec<Vec<u8>>) {
    assert_eq!(frame.clone().into_packet().segments, segments);
    if segments == 1 {
        return into.push(on_wire(frame));
    }
    let first = 1 + (random.number() % u64::from(segments - 1)) as u32;
    let part = frame.split_first(first);
    cut_up(part, first, random, into);
    cut_up(frame, segments - first, random, into);
}

/// Whether a receiver takes this packet for undamaged.
fn is_sound(packet: &[u8]) -> bool {
    let Some(layout) = Layout::of(packet) else { return false };
    let transport = packet.len() - layout.transport;
    let pseudo = pseudo_header(layout.addresses(packet), transport, layout.protocol);
    let header = layout.v6 || sum(&packet[..20], 0) == 0xffff;
    header && sum(&packet[layout.transport..], pseudo) == 0xffff
}

proptest! {
    #[test]
    fn cutting_anywhere_gives_the_segments(sent in sent(), seed in any::<u64>()) {
        let truth = sent.segments();
        let mut parts = Vec::new();
        cut_up(sent.frame(), truth.len() as u32, &mut Random::new(seed), &mut parts);
        prop_assert_eq!(&parts, &truth);
        prop_assert!(parts.iter().all(|packet| is_sound(packet)));
    }

    #[test]
    fn what_is_counted_is_what_the_segments_take(sent in sent()) {
        let truth = sent.segments();
        let packet = sent.frame().into_packet();
        let on_ethernet = |segment: &Vec<u8>| segment.len().max(46) + 38;
        prop_assert_eq!(packet.segments as usize, truth.len());
        prop_assert_eq!(packet.bytes, truth.iter().map(on_ethernet).sum::<usize>());
        prop_assert_eq!(packet.frame_bytes, on_ethernet(&truth[0]));
        prop_assert_eq!(packet.last_frame_bytes(), on_ethernet(&truth[truth.len() - 1]));
    }

    #[test]
    fn a_flipped_bit_is_noticed(sent in sent(), seed in any::<u64>()) {
        let mut random = Random::new(seed);
        let segments = sent.segments().len() as u32;
        let mut frame = sent.frame();
        if segments > 1 {
            frame = frame.split_first(1);
        }
        frame.corrupt(&mut random);
        prop_assert_eq!(offload::missing_checksum(frame.bytes()), None, "the receiver must look");
        let packet = &frame.bytes()[offload::LENGTH..];
        prop_assert!(packet != &sent.segments()[0][..]);
        prop_assert!(!is_sound(packet));
    }

    #[test]
    fn nonsense_does_no_harm(bytes in prop::collection::vec(any::<u8>(), 10..200), seed in any::<u64>()) {
        let frame = Frame::new(bytes::BytesMut::from(&bytes[..]));
        let mut packet = frame.into_packet();
        while packet.segments > 1 {
            let _ = packet.split_first(1);
        }
        packet.body.corrupt(&mut Random::new(seed));
    }
}

#[test]
fn the_first_part_leaves_its_memory_and_the_rest_keeps_it() {
    let payload = (0..14_480).map(|byte| byte as u8).collect();
    let sent = Sent {
        v6: false,
        udp: false,
        size: 1448,
        payload,
        flags: 0x18,
        sequence: 1,
        identification: 1,
        options: 3,
        extension: false,
    };
    let mut frame = sent.frame();
    let end = frame.bytes().as_ptr_range().end;
    let first = frame.split_first(2);
    assert_eq!(frame.bytes().as_ptr_range().end, end, "the long rest is not copied");
    let start = frame.bytes().as_ptr();
    let before_last = frame.split_first(7);
    assert_eq!(before_last.bytes().as_ptr(), start, "a short rest is");
    assert_eq!([first, before_last, frame].map(|part| part.into_packet().segments), [2, 7, 1]);
}
