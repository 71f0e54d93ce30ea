//! Data that was written but may be lost until it is committed, held so that it can be written again. Knows no file system
//! and no lock.
//!
//! Each byte of the file is held once, as it was written last: writing older data again would undo what came after it.

use std::collections::BTreeMap;
use std::ops::Range;

use bytes::Bytes;

/// Bytes of memory that a piece takes beside its data.
const PIECE_COST: usize = 256;

/// Data held, by where it goes in the file. `T` is what else must be known to write it again, such as who wrote it.
#[derive(Debug, Default)]
pub struct Uncommitted<T = ()> {
    /// By the offset of the first byte; no two overlap.
    pieces: BTreeMap<u64, Piece<T>>,
    held: usize,
    /// Counts the writes.
    writes: u64,
}

/// Data that a server has lost, and is still held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lost<T = ()> {
    /// Where it goes, in bytes.
    pub offset: u64,
    /// The data.
    pub data: Bytes,
    /// What was given with it.
    pub with: T,
}

#[derive(Debug, Clone)]
struct Piece<T> {
    data: Bytes,
    with: T,
    /// That of the server's run which took it.
    verifier: [u8; 8],
    /// Which write it was.
    write: u64,
}

impl<T: Clone> Uncommitted<T> {
    /// Bytes of memory held.
    pub fn held(&self) -> usize {
        self.held
    }

    /// Whether nothing is held.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Whether any of these bytes are held.
    pub fn overlaps(&self, wanted: &Range<u64>) -> bool {
        let before = self.pieces.range(..wanted.end).next_back();
        before.is_some_and(|(&from, piece)| range(from, piece).end > wanted.start)
    }

    /// A moment: what is added after it is not part of what a COMMIT that starts now makes safe.
    pub fn moment(&self) -> u64 {
        self.writes
    }

    /// Bytes held that were added since a moment.
    pub fn held_since(&self, moment: u64) -> usize {
        let newer = self.pieces.values().filter(|piece| piece.write >= moment);
        newer.map(cost).sum()
    }

    /// Holds what was written unstably, in the place of what was there.
    pub fn add(&mut self, offset: u64, data: Bytes, verifier: [u8; 8], with: T) {
        self.supersede(offset, data.len());
        if !data.is_empty() {
            self.insert(offset, Piece { data, with, verifier, write: self.writes });
        }
        self.writes += 1;
    }

    /// Forgets what was there, since these bytes were written durably.
    pub fn supersede(&mut self, offset: u64, length: usize) {
        let end = offset.saturating_add(length as u64);
        let before = self.pieces.range(..offset).next_back();
        let first = before.filter(|(from, piece)| range(**from, piece).end > offset).map(|(&from, _)| from);
        let inside = self.pieces.range(offset..end).map(|(&from, _)| from);
        let overlapped: Vec<u64> = first.into_iter().chain(inside).collect();
        for from in overlapped {
            self.cut_out(from, offset..end);
        }
    }

    /// Takes the answer to a COMMIT that started at `moment`: what was written before it to the same run of the server is
    /// safe. Gives what was lost, in the order of the file; it stays held until it was written again.
    pub fn committed(&mut self, moment: u64, verifier: [u8; 8]) -> Vec<Lost<T>> {
        let is_safe = |piece: &Piece<T>| piece.write < moment && piece.verifier == verifier;
        self.pieces.retain(|_, piece| !is_safe(piece));
        self.held = self.pieces.values().map(cost).sum();
        let lost = self.pieces.iter().filter(|(_, piece)| piece.write < moment);
        lost.map(|(&offset, piece)| Lost { offset, data: piece.data.clone(), with: piece.with.clone() })
            .collect()
    }

    fn insert(&mut self, offset: u64, piece: Piece<T>) {
        self.held += cost(&piece);
        self.pieces.insert(offset, piece);
    }

    /// Leaves of the piece at `from` what lies outside the range.
    fn cut_out(&mut self, from: u64, gone: Range<u64>) {
        let Some(piece) = self.pieces.remove(&from) else { return };
        self.held -= cost(&piece);
        let all = range(from, &piece);
        if all.start < gone.start {
            let data = piece.data.slice(..(gone.start - from) as usize);
            self.insert(from, Piece { data, ..piece.clone() });
        }
        if gone.end < all.end {
            let data = piece.data.slice((gone.end - from) as usize..);
            self.insert(gone.end, Piece { data, ..piece });
        }
    }
}

fn cost<T>(piece: &Piece<T>) -> usize {
    PIECE_COST + piece.data.len()
}

fn range<T>(from: u64, piece: &Piece<T>) -> Range<u64> {
    from..from.saturating_add(piece.data.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: [u8; 8] = [1; 8];
    const SECOND: [u8; 8] = [2; 8];

    fn lost(pieces: &[(u64, &'static str)]) -> Vec<Lost> {
        let lost = |&(offset, data): &(u64, &'static str)| Lost { offset, data: text(data), with: () };
        pieces.iter().map(lost).collect()
    }

    fn text(data: &'static str) -> Bytes {
        Bytes::from_static(data.as_bytes())
    }

    #[test]
    fn what_was_written_to_the_run_that_commits_is_safe() {
        let mut held = Uncommitted::default();
        held.add(0, text("howdy"), FIRST, ());
        held.add(5, text("!"), SECOND, ());
        let moment = held.moment();
        held.add(9, text("later"), SECOND, ());
        assert_eq!(held.committed(moment, SECOND), lost(&[(0, "howdy")]));
        assert_eq!(held.held(), 10 + 2 * PIECE_COST);
        held.add(0, text("howdy"), SECOND, ());
        assert_eq!(held.committed(held.moment(), SECOND), []);
        assert!(held.is_empty() && held.held() == 0);
    }

    #[test]
    fn older_data_never_comes_back_over_newer() {
        let mut held = Uncommitted::default();
        held.add(0, text("abcdefgh"), FIRST, ());
        held.add(2, text("XY"), SECOND, ());
        held.supersede(6, 1);
        assert!(held.overlaps(&(0..1)) && held.overlaps(&(5..7)) && held.overlaps(&(7..9)));
        assert!(!held.overlaps(&(6..7)) && !held.overlaps(&(8..9)));
        assert_eq!(held.held(), 7 + 4 * PIECE_COST);
        let pieces = held.committed(held.moment(), SECOND);
        assert_eq!(pieces, lost(&[(0, "ab"), (4, "ef"), (7, "h")]));
    }

    #[test]
    fn what_is_written_over_many_pieces_replaces_all_of_them() {
        let mut held = Uncommitted::default();
        (0..10).for_each(|at| held.add(at * 3, text("abc"), FIRST, ()));
        held.add(1, text("01234567890123456789012345"), FIRST, ());
        let pieces = held.committed(held.moment(), SECOND);
        assert_eq!(pieces, lost(&[(0, "a"), (1, "01234567890123456789012345"), (27, "abc")]));
        assert_eq!(held.held(), 30 + 3 * PIECE_COST);
        held.supersede(0, usize::MAX);
        assert!(held.is_empty());
    }
}
