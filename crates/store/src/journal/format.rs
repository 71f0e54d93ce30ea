//! The form of a segment: a header, then records. Each checksum covers all before it, back to the first segment. Pure.
//!
//! Decision 0060 has the layout. Numbers are big-endian.

use siphasher::sip::SipHasher13;

/// What a segment begins with; the last letter is the version of the form.
const MAGIC: &[u8; 8] = b"howdahw1";
/// Bytes of a header: magic, number, flags, key, chain before, highest change, checksum.
pub(super) const HEADER: usize = 64;
/// Bytes of a record before its payload: length, kind, flags, two zeros, sequence, change.
const HEAD: usize = 24;
/// Bytes of a checksum.
pub(super) const SUM: usize = 8;
/// Bytes of a record without its payload.
pub(super) const OVERHEAD: usize = HEAD + SUM;

/// The record says that its change is finished, and has no payload.
pub(super) const FINISHED: u8 = 1;
/// The last record of an append. Those before it count only together with it.
pub(super) const LAST: u8 = 2;

/// What every checksum depends on: the key of the segment, and the checksum before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Chain {
    key: [u8; 16],
    sum: u64,
}

/// What is at the start of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SegmentHeader {
    pub(super) number: u64,
    /// Drawn for this segment, so that records of another one are not believed.
    pub(super) key: [u8; 16],
    /// The last checksum of the segment before.
    chain_before: u64,
    /// The highest number of a change when the segment was begun.
    pub(super) highest_change: u64,
}

/// Why a header does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HeaderFault {
    /// It is none, or damaged.
    Broken,
    /// It says something that this version does not know.
    Newer,
}

/// A record, but for its payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RecordHead {
    /// Bytes of the payload.
    pub(super) length: u32,
    pub(super) kind: u8,
    pub(super) flags: u8,
    /// Its place in the order of all records, which it keeps when it is moved. Never 0.
    pub(super) sequence: u64,
    pub(super) change: u64,
}

/// A record in a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FoundRecord<'a> {
    pub(super) offset: usize,
    pub(super) head: RecordHead,
    pub(super) payload: &'a [u8],
}

/// What a segment says.
pub(super) struct Scan<'a> {
    pub(super) header: SegmentHeader,
    /// The records of all appends that are complete.
    pub(super) records: Vec<FoundRecord<'a>>,
    /// Where they end.
    pub(super) end: usize,
    /// The chain at the end.
    pub(super) chain: Chain,
}

impl SegmentHeader {
    /// That of a new segment, which continues this chain.
    pub(super) fn new(number: u64, key: [u8; 16], chain: Chain, highest_change: u64) -> Self {
        Self { number, key, chain_before: chain.sum, highest_change }
    }

    /// The bytes, and where the chain of the segment starts.
    pub(super) fn encode(&self) -> ([u8; HEADER], Chain) {
        let mut bytes = [0; HEADER];
        bytes[..8].copy_from_slice(MAGIC);
        bytes[8..16].copy_from_slice(&self.number.to_be_bytes());
        // Bytes 16 to 24 are flags for what a segment may become, as encryption; none is known.
        bytes[24..40].copy_from_slice(&self.key);
        bytes[40..48].copy_from_slice(&self.chain_before.to_be_bytes());
        bytes[48..56].copy_from_slice(&self.highest_change.to_be_bytes());
        let sum = SipHasher13::new_with_key(&self.key).hash(&bytes[..HEADER - SUM]);
        bytes[HEADER - SUM..].copy_from_slice(&sum.to_be_bytes());
        (bytes, Chain { key: self.key, sum })
    }

    /// Reads a header, and where the chain starts.
    pub(super) fn parse(bytes: &[u8]) -> Result<(Self, Chain), HeaderFault> {
        let bytes = bytes.get(..HEADER).ok_or(HeaderFault::Broken)?;
        let mut key = [0; 16];
        key.copy_from_slice(&bytes[24..40]);
        let sum = number(bytes, HEADER - SUM);
        if sum != SipHasher13::new_with_key(&key).hash(&bytes[..HEADER - SUM]) {
            return Err(HeaderFault::Broken);
        }
        if &bytes[..8] != MAGIC || number(bytes, 16) != 0 {
            return Err(HeaderFault::Newer);
        }
        let header = Self {
            number: number(bytes, 8),
            key,
            chain_before: number(bytes, 40),
            highest_change: number(bytes, 48),
        };
        Ok((header, Chain { key, sum }))
    }
}

impl RecordHead {
    fn encode(&self) -> [u8; HEAD] {
        let mut bytes = [0; HEAD];
        bytes[..4].copy_from_slice(&self.length.to_be_bytes());
        bytes[4] = self.kind;
        bytes[5] = self.flags;
        bytes[8..16].copy_from_slice(&self.sequence.to_be_bytes());
        bytes[16..24].copy_from_slice(&self.change.to_be_bytes());
        bytes
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.get(..HEAD)?;
        let mut length = [0; 4];
        length.copy_from_slice(&bytes[..4]);
        let (sequence, change) = (number(bytes, 8), number(bytes, 16));
        let head =
            Self { length: u32::from_be_bytes(length), kind: bytes[4], flags: bytes[5], sequence, change };
        Some(head).filter(|head| head.sequence > 0 && bytes[6..8] == [0; 2])
    }

    /// The bytes before and behind the payload. The chain moves on.
    pub(super) fn seal(&self, payload: &[u8], chain: &mut Chain) -> ([u8; HEAD], [u8; SUM]) {
        let head = self.encode();
        chain.sum = chain.after(&head, payload);
        (head, chain.sum.to_be_bytes())
    }
}

impl Chain {
    /// The chain of a segment with this key, at this checksum.
    pub(super) fn at(key: [u8; 16], sum: [u8; SUM]) -> Self {
        Self { key, sum: u64::from_be_bytes(sum) }
    }

    /// Whether a segment with this header continues it.
    pub(super) fn is_continued_by(&self, header: &SegmentHeader) -> bool {
        header.chain_before == self.sum
    }

    fn after(&self, head: &[u8], payload: &[u8]) -> u64 {
        use std::hash::Hasher;
        let mut hasher = SipHasher13::new_with_key(&self.key);
        hasher.write(&self.sum.to_be_bytes());
        hasher.write(head);
        hasher.write(payload);
        hasher.finish()
    }

    /// The record at the start of these bytes, if it continues the chain, which then moves on.
    pub(super) fn record<'a>(&mut self, bytes: &'a [u8]) -> Option<(RecordHead, &'a [u8])> {
        let head = RecordHead::parse(bytes)?;
        let (start, end) = (HEAD, HEAD.checked_add(head.length as usize)?);
        let (payload, sum) = (bytes.get(start..end)?, bytes.get(end..end.checked_add(SUM)?)?);
        let wanted = self.after(&bytes[..HEAD], payload);
        (number(sum, 0) == wanted).then(|| {
            self.sum = wanted;
            (head, payload)
        })
    }
}

/// Bytes that a record with such a payload takes.
pub(super) fn record_length(payload: usize) -> u64 {
    (OVERHEAD + payload) as u64
}

/// Reads a segment up to what is broken, incomplete or not written.
pub(super) fn scan(bytes: &[u8]) -> Result<Scan<'_>, HeaderFault> {
    let (header, mut chain) = SegmentHeader::parse(bytes)?;
    let mut scan = Scan { header, records: Vec::new(), end: HEADER, chain };
    let (mut offset, mut complete) = (HEADER, 0);
    while let Some((head, payload)) = chain.record(&bytes[offset..]) {
        scan.records.push(FoundRecord { offset, head, payload });
        offset += OVERHEAD + payload.len();
        if head.flags & LAST != 0 {
            (complete, scan.end, scan.chain) = (scan.records.len(), offset, chain);
        }
    }
    scan.records.truncate(complete);
    Ok(scan)
}

fn number(bytes: &[u8], at: usize) -> u64 {
    let mut number = [0; 8];
    number.copy_from_slice(&bytes[at..at + 8]);
    u64::from_be_bytes(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A segment of records with these payloads, in appends of two.
    fn segment(payloads: &[&[u8]]) -> Vec<u8> {
        let header = SegmentHeader { number: 3, key: [7; 16], chain_before: 9, highest_change: 5 };
        let (bytes, mut chain) = header.encode();
        let mut bytes = bytes.to_vec();
        for (at, payload) in payloads.iter().enumerate() {
            let flags = if at % 2 == 1 { LAST } else { 0 };
            let length = payload.len() as u32;
            let head = RecordHead { length, kind: 4, flags, sequence: at as u64 + 1, change: 77 };
            let (head, sum) = head.seal(payload, &mut chain);
            bytes.extend_from_slice(&head);
            bytes.extend_from_slice(payload);
            bytes.extend_from_slice(&sum);
        }
        bytes
    }

    #[test]
    fn appends_count_only_whole() {
        let bytes = segment(&[b"one", b"two", b"", b"four"]);
        for length in HEADER..=bytes.len() {
            let cut = scan(&bytes[..length]).expect("a header");
            let wanted = [HEADER, HEADER + 2 * OVERHEAD + 6, bytes.len()];
            let wanted = wanted.into_iter().filter(|end| *end <= length).max().expect("one");
            assert_eq!((cut.end, cut.records.len() % 2), (wanted, 0), "cut at {length}");
        }
        let whole = scan(&bytes).expect("a header");
        assert_eq!(
            whole.header,
            SegmentHeader { number: 3, key: [7; 16], chain_before: 9, highest_change: 5 }
        );
        let payloads: Vec<&[u8]> = whole.records.iter().map(|record| record.payload).collect();
        assert_eq!(payloads, [&b"one"[..], b"two", b"", b"four"]);
    }

    #[test]
    fn no_flipped_bit_is_believed() {
        let bytes = segment(&[b"one", b"two", b"three", b"four"]);
        let first = HEADER + 2 * OVERHEAD + 6;
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            match scan(&flipped) {
                Err(fault) => assert!(bit < HEADER * 8 && fault == HeaderFault::Broken, "bit {bit}"),
                Ok(scan) => assert_eq!(scan.end, if bit < first * 8 { HEADER } else { first }, "bit {bit}"),
            }
        }
    }

    #[test]
    fn a_newer_header_is_not_a_broken_one() {
        let mut bytes = segment(&[]);
        bytes[23] = 1;
        let sum = SipHasher13::new_with_key(&[7; 16]).hash(&bytes[..HEADER - SUM]);
        bytes[HEADER - SUM..].copy_from_slice(&sum.to_be_bytes());
        assert_eq!(SegmentHeader::parse(&bytes), Err(HeaderFault::Newer));
        assert_eq!(SegmentHeader::parse(&bytes[..HEADER - 1]), Err(HeaderFault::Broken));
        assert_eq!(SegmentHeader::parse(&[0; HEADER]), Err(HeaderFault::Broken));
    }
}
