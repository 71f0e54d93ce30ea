//! A finished reply as it goes out: bytes, and bulk content between them that is not copied into memory.

use howdah_vfs::Content;
use howdah_wire::xdr::padding;

/// A reply of segments. Content stands between the bytes, each padded to four bytes (RFC 4506 4.10).
#[derive(Debug, Default)]
pub struct RecordSegments {
    bytes: Vec<u8>,
    inserts: Inserts,
}

/// Content and the places in the bytes where it goes. The first needs no allocation, since few replies have more.
#[derive(Debug, Default)]
pub struct Inserts {
    first: Option<Insert>,
    more: Vec<Insert>,
}

#[derive(Debug)]
struct Insert {
    at: usize,
    content: Content,
}

/// A piece of a reply.
#[derive(Debug, Clone, Copy)]
pub enum Piece<'s> {
    /// Bytes that are here.
    Bytes(&'s [u8]),
    /// Content, and its padding.
    Content(&'s Content),
}

/// The piece of a reply that goes next.
#[derive(Debug, Clone, Copy)]
pub struct Next<'s> {
    /// The piece.
    pub piece: Piece<'s>,
    /// Bytes of it that are sent.
    pub sent: usize,
    /// Whether nothing follows it.
    pub is_last: bool,
}

impl Inserts {
    /// Adds content behind so many bytes, at least as many as before it the last time.
    pub fn push(&mut self, at: usize, content: Content) {
        let insert = Insert { at, content };
        match self.first {
            None => self.first = Some(insert),
            Some(_) => self.more.push(insert),
        }
    }

    /// Bytes of memory that the content holds.
    pub fn memory(&self) -> usize {
        let of = |insert: &Insert| if let Content::Bytes(bytes) = &insert.content { bytes.len() } else { 0 };
        self.iter().map(of).sum()
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Forgets what stands behind so many bytes.
    pub fn forget_from(&mut self, at: usize) {
        self.more.retain(|insert| insert.at < at);
        self.first = self.first.take_if(|insert| insert.at < at);
    }

    /// Bytes of all content with its padding.
    pub fn length(&self) -> usize {
        self.iter().map(|insert| padded(&insert.content)).sum()
    }

    fn iter(&self) -> impl Iterator<Item = &Insert> {
        self.first.iter().chain(&self.more)
    }
}

impl RecordSegments {
    /// These bytes with this content between them.
    pub fn new(bytes: Vec<u8>, inserts: Inserts) -> Self {
        Self { bytes, inserts }
    }

    /// Its length on the wire.
    pub fn length(&self) -> usize {
        self.bytes.len() + self.inserts.length()
    }

    /// Bytes of memory that it holds.
    pub fn memory(&self) -> usize {
        self.bytes.len() + self.inserts.memory()
    }

    /// Whether there is content between the bytes.
    pub fn has_content(&self) -> bool {
        self.inserts.first.is_some()
    }

    /// All pieces in their order; a piece of bytes may be empty.
    pub fn pieces(&self) -> impl Iterator<Item = Piece<'_>> {
        let starts = std::iter::once(0).chain(self.inserts.iter().map(|insert| insert.at));
        let ends = self.inserts.iter().map(|insert| insert.at).chain([self.bytes.len()]);
        let contents = self.inserts.iter().map(|insert| Some(Piece::Content(&insert.content))).chain([None]);
        let both = starts.zip(ends).zip(contents);
        both.flat_map(|((start, end), content)| {
            std::iter::once(Piece::Bytes(&self.bytes[start..end])).chain(content)
        })
    }

    /// What goes next after so many bytes of the whole are sent.
    pub fn next(&self, sent: usize) -> Option<Next<'_>> {
        if !self.has_content() {
            let is_left = sent < self.bytes.len();
            return is_left.then_some(Next { piece: Piece::Bytes(&self.bytes), sent, is_last: true });
        }
        let mut start = 0;
        for piece in self.pieces() {
            let end = start + piece.length();
            if sent < end {
                return Some(Next { piece, sent: sent - start, is_last: end == self.length() });
            }
            start = end;
        }
        None
    }

    /// The whole as one piece of memory; `None` if a range of a file cannot be read.
    pub fn in_memory(&self) -> Option<Vec<u8>> {
        let mut whole = Vec::with_capacity(self.length());
        for piece in self.pieces() {
            match piece {
                Piece::Bytes(bytes) => whole.extend_from_slice(bytes),
                Piece::Content(Content::Bytes(bytes)) => whole.extend_from_slice(bytes),
                Piece::Content(Content::File(range)) => drop(range.append_to(&mut whole).ok()?),
                Piece::Content(Content::Appended(_)) => {}
            }
            whole.resize(whole.len().next_multiple_of(4), 0);
        }
        Some(whole)
    }

    /// The buffer, to be used again.
    pub fn into_buffer(self) -> Vec<u8> {
        self.bytes
    }
}

impl Piece<'_> {
    /// Its length on the wire.
    pub fn length(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::Content(content) => padded(content),
        }
    }
}

fn padded(content: &Content) -> usize {
    content.len() + padding(content.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_stands_where_it_was_put() {
        let mut inserts = Inserts::default();
        inserts.push(2, Content::Bytes(b"one".to_vec().into()));
        inserts.push(2, Content::Bytes(b"4444".to_vec().into()));
        inserts.push(6, Content::Bytes(b"x".to_vec().into()));
        let segments = RecordSegments::new(b"abcdef".to_vec(), inserts);
        assert_eq!((segments.length(), segments.memory()), (6 + 4 + 4 + 4, 6 + 3 + 4 + 1));
        let shown = |next: Next<'_>| match next.piece {
            Piece::Bytes(bytes) => (String::from_utf8_lossy(bytes).into_owned(), next.sent, next.is_last),
            Piece::Content(content) => (format!("{}", content.len()), next.sent, next.is_last),
        };
        let wanted = [("ab", 2), ("3", 4), ("4", 4), ("cdef", 4), ("1", 4)];
        let mut at = 0;
        for (text, length) in wanted {
            for sent in 0..length {
                let wanted = (text.to_owned(), sent, text == "1");
                assert_eq!(segments.next(at + sent).map(shown), Some(wanted));
            }
            at += length;
        }
        assert!(segments.next(at).is_none());
    }
}
