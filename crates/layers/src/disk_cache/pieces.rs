//! Which pieces of a file are on the disk, each with its checksum. Knows no disk.

use std::ops::Range;

/// Bytes of a piece; the last of a file may have fewer.
pub const PIECE: u64 = 64 << 10;

/// A piece that is on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CachedPiece {
    /// Its place in the file, in pieces.
    pub index: u32,
    /// Its length in bytes, less one: a piece has at least one.
    length_less_one: u16,
    /// Whether it was wanted since it was looked at last.
    used: bool,
    /// Its checksum.
    pub sum: u64,
}

/// The pieces of one file, in their order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CachedPieces(Vec<CachedPiece>);

impl CachedPiece {
    /// Bytes of a piece in the index.
    pub const LENGTH: usize = 14;

    /// Where it begins in the file, in bytes.
    pub fn offset(&self) -> u64 {
        u64::from(self.index) * PIECE
    }

    /// Its length in bytes.
    pub fn len(&self) -> usize {
        usize::from(self.length_less_one) + 1
    }

    fn encode(&self, into: &mut Vec<u8>) {
        into.extend_from_slice(&self.index.to_be_bytes());
        into.extend_from_slice(&self.length_less_one.to_be_bytes());
        into.extend_from_slice(&self.sum.to_be_bytes());
    }

    fn decode(bytes: &[u8; Self::LENGTH]) -> Self {
        let (index, rest) = bytes.split_first_chunk().expect("4 bytes");
        let (length, sum) = rest.split_first_chunk().expect("2 bytes");
        Self {
            index: u32::from_be_bytes(*index),
            length_less_one: u16::from_be_bytes(*length),
            used: false,
            sum: u64::from_be_bytes(sum.try_into().expect("8 bytes")),
        }
    }
}

/// How many bytes a piece has in a file of this size; `None` beyond its end.
pub fn length_in(index: u64, size: u64) -> Option<usize> {
    let left = size.checked_sub(index.checked_mul(PIECE)?).filter(|left| *left > 0)?;
    usize::try_from(left.min(PIECE)).ok()
}

/// Of these bytes of a file of this size, those that make whole pieces; the last piece of the file ends where that does.
pub fn whole_pieces(bytes: &Range<u64>, size: u64) -> Range<u64> {
    let start = bytes.start.div_ceil(PIECE).saturating_mul(PIECE);
    let end = if bytes.end >= size { size } else { bytes.end / PIECE * PIECE };
    // Beyond that a piece has no number.
    let is_far = end / PIECE > u64::from(u32::MAX);
    if start >= end || is_far { start..start } else { start..end }
}

impl CachedPieces {
    /// A piece of 1 to [`PIECE`] bytes was put on the disk.
    pub fn put(&mut self, index: u32, length: usize, sum: u64) {
        let Ok(length_less_one) = u16::try_from(length.wrapping_sub(1)) else { return };
        let piece = CachedPiece { index, length_less_one, used: false, sum };
        match self.0.binary_search_by_key(&index, |piece| piece.index) {
            Ok(at) => self.0[at] = piece,
            Err(at) => self.0.insert(at, piece),
        }
    }

    /// Pieces that hold any of these bytes count no more.
    pub fn cut(&mut self, bytes: &Range<u64>) {
        self.0.retain(|piece| {
            let offset = piece.offset();
            offset + PIECE <= bytes.start || offset >= bytes.end
        });
    }

    /// The pieces that hold these bytes of a file of this size, if all are here.
    pub fn covering(&self, bytes: &Range<u64>, size: u64) -> Option<&[CachedPiece]> {
        let places = self.places(bytes)?;
        let found = &self.0[places];
        let wanted = bytes.start / PIECE..bytes.end.div_ceil(PIECE);
        let is_whole = found.len() as u64 == wanted.end - wanted.start
            && found.iter().all(|piece| length_in(piece.index.into(), size) == Some(piece.len()));
        is_whole.then_some(found)
    }

    /// These bytes were wanted.
    pub fn mark_used(&mut self, bytes: &Range<u64>) {
        if let Some(places) = self.places(bytes) {
            self.0[places].iter_mut().for_each(|piece| piece.used = true);
        }
    }

    /// Takes out the pieces that nobody wanted since this was asked last.
    pub fn take_cold(&mut self) -> Vec<Range<u64>> {
        let cold = self.0.iter().filter(|piece| !piece.used);
        let cold = cold.map(|piece| piece.offset()..piece.offset() + PIECE).collect();
        self.0.retain(|piece| piece.used);
        self.0.iter_mut().for_each(|piece| piece.used = false);
        cold
    }

    /// The same bytes, which make whole pieces, without those at both ends that are here.
    pub fn without_known_ends(&self, bytes: &Range<u64>, size: u64) -> Range<u64> {
        let is_here = |at: u64| self.covering(&(at..at + 1), size).is_some();
        let (mut start, mut end) = (bytes.start, bytes.end);
        while start < end && is_here(start) {
            start += PIECE;
        }
        while start < end && is_here(end - 1) {
            end = (end - 1) / PIECE * PIECE;
        }
        start..end.max(start)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Appends them as they are in the index.
    pub fn encode(&self, into: &mut Vec<u8>) {
        self.0.iter().for_each(|piece| piece.encode(into));
    }

    /// Those in these bytes; `None` if they are out of order.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let (pieces, []) = bytes.as_chunks::<{ CachedPiece::LENGTH }>() else { return None };
        let pieces: Vec<_> = pieces.iter().map(CachedPiece::decode).collect();
        pieces.is_sorted_by(|one, other| one.index < other.index).then_some(Self(pieces))
    }

    /// Where the pieces are that hold any of these bytes.
    fn places(&self, bytes: &Range<u64>) -> Option<Range<usize>> {
        let first = bytes.start / PIECE;
        let end = bytes.end.div_ceil(PIECE);
        let at = |index: u64| self.0.partition_point(|piece| u64::from(piece.index) < index);
        (bytes.start < bytes.end).then(|| at(first)..at(end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(indices: &[u32]) -> CachedPieces {
        let mut pieces = CachedPieces::default();
        indices.iter().for_each(|index| pieces.put(*index, PIECE as usize, u64::from(*index) + 100));
        pieces
    }

    fn indices(pieces: &CachedPieces) -> Vec<u32> {
        pieces.0.iter().map(|piece| piece.index).collect()
    }

    #[test]
    fn bytes_are_covered_if_all_their_pieces_are_here_with_their_lengths() {
        let size = 5 * PIECE + 10;
        let mut pieces = pieces(&[3, 1, 2]);
        assert_eq!(indices(&pieces), [1, 2, 3]);
        let covers = |pieces: &CachedPieces, range: Range<u64>| pieces.covering(&range, size).map(<[_]>::len);
        assert_eq!(covers(&pieces, PIECE..4 * PIECE), Some(3));
        assert_eq!(covers(&pieces, 2 * PIECE - 1..2 * PIECE + 1), Some(2));
        assert_eq!(covers(&pieces, 2 * PIECE..2 * PIECE + 1), Some(1));
        assert_eq!(covers(&pieces, PIECE - 1..2 * PIECE), None);
        assert_eq!(covers(&pieces, 3 * PIECE..4 * PIECE + 1), None);
        assert_eq!(covers(&pieces, PIECE..PIECE), None);
        let behind_the_end = Range { start: PIECE + 11, end: PIECE + 10 };
        assert_eq!(covers(&pieces, behind_the_end), None);
        pieces.put(4, PIECE as usize, 0);
        pieces.put(5, 10, 0);
        assert_eq!(covers(&pieces, 4 * PIECE..size), Some(2));
        assert_eq!(pieces.covering(&(4 * PIECE..size), size + 1), None, "the file grew");
        assert_eq!(pieces.covering(&(4 * PIECE..5 * PIECE + 1), 5 * PIECE + 1), None, "it was cut");
    }

    #[test]
    fn whole_pieces_are_put_that_are_not_here() {
        let size = 5 * PIECE + 10;
        assert_eq!(whole_pieces(&(0..PIECE), size), 0..PIECE);
        assert_eq!(whole_pieces(&(1..3 * PIECE + 1), size), PIECE..3 * PIECE);
        assert_eq!(whole_pieces(&(4 * PIECE..size), size), 4 * PIECE..size);
        assert!(whole_pieces(&(1..PIECE + 1), size).is_empty());
        assert!(whole_pieces(&(5 * PIECE + 1..size), size).is_empty());
        assert!(whole_pieces(&(0..0), 0).is_empty());
        assert!(whole_pieces(&(PIECE << 32..(PIECE << 32) + PIECE), u64::MAX).is_empty());
        let pieces = pieces(&[1, 3]);
        assert_eq!(pieces.without_known_ends(&(PIECE..4 * PIECE), size), 2 * PIECE..3 * PIECE);
        assert_eq!(pieces.without_known_ends(&(0..size), size), 0..size);
        assert!(pieces.without_known_ends(&(PIECE..2 * PIECE), size).is_empty());
    }

    #[test]
    fn what_is_cut_is_every_piece_that_it_touches() {
        for (cut, left) in [
            (0..1, &[1, 2, 3][..]),
            (PIECE..PIECE, &[0, 1, 2, 3]),
            (PIECE - 1..PIECE + 1, &[2, 3]),
            (2 * PIECE..3 * PIECE, &[0, 1, 3]),
            (2 * PIECE + 5..u64::MAX, &[0, 1]),
        ] {
            let mut pieces = pieces(&[0, 1, 2, 3]);
            pieces.cut(&cut);
            assert_eq!(indices(&pieces), left, "{cut:?}");
        }
    }

    #[test]
    fn what_nobody_wanted_since_the_last_look_is_cold() {
        let mut pieces = pieces(&[0, 1, 2]);
        pieces.mark_used(&(PIECE..PIECE + 1));
        assert_eq!(pieces.take_cold(), [0..PIECE, 2 * PIECE..3 * PIECE]);
        assert_eq!(indices(&pieces), [1]);
        assert_eq!(pieces.take_cold().first(), Some(&(PIECE..2 * PIECE)), "not wanted since");
    }

    #[test]
    fn pieces_are_read_as_they_were_written() {
        let mut written = pieces(&[7, 9]);
        written.put(12, 1, 3);
        let mut bytes = Vec::new();
        written.encode(&mut bytes);
        assert_eq!(CachedPieces::decode(&bytes), Some(written));
        assert_eq!(CachedPieces::decode(&bytes[1..]), None);
        let turned = [&bytes[CachedPiece::LENGTH..], &bytes[..CachedPiece::LENGTH]].concat();
        assert_eq!(CachedPieces::decode(&turned), None);
    }
}
