//! Where packets are kept while they are on their way: chunks of memory in which they lie one behind the other, used again
//! when all packets of a chunk are gone. A packet takes as much as it is long, and no allocation.

use std::collections::VecDeque;

use bytes::BytesMut;

/// A chunk: 16 of the largest packets, so that the end which is too short for another one matters little.
const CHUNK: usize = 1 << 20;

/// Chunks that are looked at, to find one that is free: more than a path holds back at once.
const LOOKED_AT: usize = 16;

/// Room for packets, up to a limit.
#[derive(Debug)]
pub struct FrameMemory {
    /// The free end of the chunk in use.
    free: BytesMut,
    /// The ends of those before it, the oldest first: none can be used again before all its packets are gone.
    used: VecDeque<BytesMut>,
    /// How many chunks there are, and may be.
    chunks: usize,
    most: usize,
}

impl FrameMemory {
    /// At most so many bytes, and at least two chunks.
    pub fn new(most: usize) -> Self {
        let most = (most / CHUNK).max(2);
        Self { free: BytesMut::new(), used: VecDeque::new(), chunks: 0, most }
    }

    /// A place for a packet of at most `length` bytes: the caller appends it there and cuts it off. None: no room.
    pub fn place(&mut self, length: usize) -> Option<&mut BytesMut> {
        // If all its packets are gone it is used from its start again, which the processor still has in its cache.
        if !self.free.try_reclaim(CHUNK) && self.free.capacity() < length {
            let next = self.next_chunk()?;
            let before = std::mem::replace(&mut self.free, next);
            // There was none before the first.
            if self.chunks > 1 {
                self.used.push_back(before);
            }
        }
        Some(&mut self.free)
    }

    /// One of the oldest chunks if it is free again, or a new one.
    fn next_chunk(&mut self) -> Option<BytesMut> {
        // Packets leave about in the order in which they came. Those that were held back are not waited for.
        for index in 0..self.used.len().min(LOOKED_AT) {
            if self.used[index].try_reclaim(CHUNK) {
                return self.used.remove(index);
            }
        }
        if self.chunks == self.most {
            return None;
        }
        self.chunks += 1;
        Some(BytesMut::with_capacity(CHUNK))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(memory: &mut FrameMemory) -> Option<BytesMut> {
        let place = memory.place(CHUNK / 4)?;
        place.resize(CHUNK / 4, 7);
        Some(place.split())
    }

    #[test]
    fn memory_is_used_again_and_never_more_than_the_limit() {
        let mut memory = FrameMemory::new(3 * CHUNK);
        let mut packets: VecDeque<BytesMut> = (0..12).map_while(|_| packet(&mut memory)).collect();
        assert_eq!(packets.len(), 12);
        assert!(packet(&mut memory).is_none(), "the limit");
        for _ in 0..100 {
            packets.drain(..4);
            packets.extend((0..4).map_while(|_| packet(&mut memory)));
            assert_eq!(packets.len(), 12);
            assert!(packet(&mut memory).is_none());
        }
    }

    #[test]
    fn a_packet_that_is_held_back_does_not_hold_up_the_others() {
        let mut memory = FrameMemory::new(3 * CHUNK);
        let held = packet(&mut memory).expect("room");
        for _ in 0..100 {
            assert!(packet(&mut memory).is_some());
        }
        assert!(held.iter().all(|byte| *byte == 7), "nobody wrote there meanwhile");
    }
}
