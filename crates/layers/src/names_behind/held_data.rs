//! What was written to a file that is not on the server yet.

use std::collections::BTreeMap;

use bytes::{Bytes, BytesMut};

/// Data of a file by offset: pieces that do not overlap, and which of them were not sent.
#[derive(Debug, Default)]
pub struct HeldData {
    all: Pieces,
    unsent: Pieces,
    /// What no journal has.
    unrecorded: Pieces,
    /// What an earlier process wrote, in that order. It may have sent any of it.
    earlier: Vec<(u64, Bytes)>,
}

#[derive(Debug, Default, Clone)]
struct Pieces {
    by_offset: BTreeMap<u64, Bytes>,
    bytes: usize,
}

impl Pieces {
    fn put(&mut self, offset: u64, data: Bytes) {
        let end = offset + data.len() as u64;
        self.cut_out(offset, end);
        self.bytes += data.len();
        self.by_offset.insert(offset, data);
    }

    /// Takes a range out, and keeps what is before and behind it.
    fn cut_out(&mut self, start: u64, end: u64) {
        let first = self.by_offset.range(..start).next_back().map_or(start, |(offset, _)| *offset);
        let touched: Vec<u64> = self.by_offset.range(first..end).map(|(offset, _)| *offset).collect();
        for offset in touched {
            let Some(piece) = self.by_offset.remove(&offset) else { continue };
            self.bytes -= piece.len();
            let piece_end = offset + piece.len() as u64;
            if offset < start {
                let kept = piece.slice(..piece.len().min((start - offset) as usize));
                self.bytes += kept.len();
                self.by_offset.insert(offset, kept);
            }
            if piece_end > end {
                let kept = piece.slice((end.max(offset) - offset) as usize..);
                self.bytes += kept.len();
                self.by_offset.insert(end.max(offset), kept);
            }
        }
    }
}

impl HeldData {
    /// Takes what is written.
    pub fn write(&mut self, offset: u64, data: Bytes) {
        self.all.put(offset, data.clone());
        self.unrecorded.put(offset, data.clone());
        self.unsent.put(offset, data);
    }

    /// Takes what an earlier process wrote, which a journal has.
    pub fn take_over(&mut self, offset: u64, data: Bytes) {
        self.earlier.push((offset, data.clone()));
        self.write(offset, data);
    }

    /// Whether the server may have this from what an earlier process sent, from the start of the file on. It may have lost its power before
    /// that was safe: then it has the size, and any of the bytes are zeros or as they were written before.
    pub fn may_be_sent(&self, there: &[u8]) -> bool {
        let mut is_ours: Vec<bool> = there.iter().map(|byte| *byte == 0).collect();
        for (offset, data) in &self.earlier {
            let Some(start) = usize::try_from(*offset).ok().filter(|start| *start < there.len()) else {
                continue;
            };
            for ((is_ours, there), written) in is_ours[start..].iter_mut().zip(&there[start..]).zip(data) {
                *is_ours |= there == written;
            }
        }
        is_ours.into_iter().all(|is_ours| is_ours)
    }

    /// The file ends here now.
    pub fn cut(&mut self, size: u64) {
        self.all.cut_out(size, u64::MAX);
        self.unsent.cut_out(size, u64::MAX);
        self.unrecorded.cut_out(size, u64::MAX);
    }

    /// Whether a journal has all of it.
    pub fn is_recorded(&self) -> bool {
        self.unrecorded.by_offset.is_empty()
    }

    /// Takes what no journal has.
    pub fn take_unrecorded(&mut self) -> impl Iterator<Item = (u64, Bytes)> + use<> {
        std::mem::take(&mut self.unrecorded).by_offset.into_iter()
    }

    /// All of it.
    pub fn all(&self) -> Vec<(u64, Bytes)> {
        self.all.by_offset.iter().map(|(offset, data)| (*offset, data.clone())).collect()
    }

    /// Bytes that are held.
    pub fn bytes(&self) -> usize {
        self.all.bytes
    }

    /// Whether all was taken to be sent.
    pub fn is_sent(&self) -> bool {
        self.unsent.by_offset.is_empty()
    }

    /// All of it is to be sent again.
    pub fn send_again(&mut self) {
        self.unsent = self.all.clone();
    }

    /// Takes what was not sent, put together to pieces of at most so many bytes.
    pub fn take_unsent(&mut self, most: usize) -> Vec<(u64, Bytes)> {
        let pieces = std::mem::take(&mut self.unsent).by_offset;
        let mut joined: Vec<(u64, Vec<Bytes>, usize)> = Vec::new();
        for (mut offset, mut data) in pieces {
            while !data.is_empty() {
                match joined.last_mut() {
                    Some((start, parts, size)) if *start + *size as u64 == offset && *size < most => {
                        let taken = data.split_to(data.len().min(most - *size));
                        offset += taken.len() as u64;
                        *size += taken.len();
                        parts.push(taken);
                    }
                    _ => {
                        let taken = data.split_to(data.len().min(most));
                        let size = taken.len();
                        joined.push((offset, vec![taken], size));
                        offset += size as u64;
                    }
                }
            }
        }
        joined.into_iter().map(|(offset, parts, size)| (offset, whole(parts, size))).collect()
    }

    /// Appends what the file holds from here on: zeros where nothing was written.
    pub fn read(&self, offset: u64, count: usize, buffer: &mut Vec<u8>) {
        let (start, end) = (buffer.len(), offset + count as u64);
        buffer.resize(start + count, 0);
        let first = self.all.by_offset.range(..=offset).next_back().map_or(offset, |(offset, _)| *offset);
        for (piece_start, piece) in self.all.by_offset.range(first..end) {
            let piece_end = piece_start + piece.len() as u64;
            let (from, to) = (offset.max(*piece_start), end.min(piece_end));
            if from < to {
                let place = start + (from - offset) as usize;
                let taken = &piece[(from - piece_start) as usize..(to - piece_start) as usize];
                buffer[place..place + taken.len()].copy_from_slice(taken);
            }
        }
    }
}

fn whole(mut parts: Vec<Bytes>, size: usize) -> Bytes {
    if parts.len() == 1 {
        return parts.remove(0);
    }
    let mut whole = BytesMut::with_capacity(size);
    parts.iter().for_each(|part| whole.extend_from_slice(part));
    whole.freeze()
}

#[cfg(test)]
mod tests {
    use howdah_random::Random;

    use super::*;

    #[test]
    fn what_was_written_last_counts_whatever_overlaps() {
        let seed = 37;
        let mut random = Random::new(seed);
        for round in 0..200 {
            let (mut held, mut model, mut server) = (HeldData::default(), Vec::new(), Vec::new());
            for step in 0..40_u8 {
                match random.below(6) {
                    0 => {
                        let size = random.below(64) as usize;
                        held.cut(size as u64);
                        model.truncate(size);
                        server.truncate(size);
                    }
                    1 => {
                        for (offset, data) in held.take_unsent(1 + random.below(16) as usize) {
                            put(&mut server, offset as usize, &data);
                        }
                    }
                    _ => {
                        let data = vec![step; 1 + random.below(20) as usize];
                        let offset = random.below(64) as usize;
                        put(&mut model, offset, &data);
                        held.write(offset as u64, data.into());
                    }
                }
                let mut read = Vec::new();
                held.read(3, 80, &mut read);
                let mut expected = model.get(3..).unwrap_or_default().to_vec();
                expected.resize(80, 0);
                assert_eq!(read, expected, "seed {seed}, round {round}, step {step}");
            }
            for (offset, data) in held.take_unsent(7) {
                assert!(data.len() <= 7);
                put(&mut server, offset as usize, &data);
            }
            model.resize(128, 0);
            server.resize(128, 0);
            assert_eq!(server, model, "seed {seed}, round {round}");
            assert!(held.is_sent());
        }
    }

    #[test]
    fn what_was_sent_is_known_although_a_server_lost_some_of_it() {
        let mut held = HeldData::default();
        held.take_over(0, Bytes::from_static(b"first data"));
        held.take_over(6, Bytes::from_static(b"text and more"));
        for there in
            [&b""[..], b"first", b"first data", b"first text and more", b"\0\0\0\0\0 da\0a\0\0\0\0 more"]
        {
            assert!(held.may_be_sent(there), "{}", there.escape_ascii());
        }
        for there in [&b"First"[..], b"first text and more!", b"first\0toxt"] {
            assert!(!held.may_be_sent(there), "{}", there.escape_ascii());
        }
        held.write(0, Bytes::from_static(b"later"));
        assert!(!held.may_be_sent(b"later"), "nobody has sent it");
    }

    fn put(file: &mut Vec<u8>, offset: usize, data: &[u8]) {
        file.resize(file.len().max(offset + data.len()), 0);
        file[offset..offset + data.len()].copy_from_slice(data);
    }
}
