//! What an input stands for: a stream, and how it is received.

use std::fmt;

use howdah_wire::rpc::RecordMark;

/// The most that a stream of described fragments holds, so that an input takes little time.
const STREAM_MAX: usize = 400 << 10;
/// Lengths of described fragments, in bytes; a length is a step and little more. Around what the assembly distinguishes:
/// nothing, a header, bulk, the size of its usual buffer, the longest record.
const STEPS: [usize; 8] = [0, 40, 250, 4 << 10, (32 << 10) - 8, 64 << 10, (80 << 10) - 8, (80 << 10) + 1];

/// A parsed input.
pub struct Input {
    /// In what pieces bytes come, in turn.
    pub pieces: [usize; 2],
    /// What the workers do, one byte a step, from the start again after the last.
    pub steps: Vec<u8>,
    /// What comes.
    pub stream: Vec<u8>,
}

impl Input {
    /// The first two bytes say in what pieces the stream arrives; the third counts the steps that follow (its low half),
    /// and says (its highest bit) whether the rest is the stream itself or describes its fragments.
    pub fn parse(input: &[u8]) -> Option<Self> {
        let (&[one, other, how], rest) = input.split_first_chunk::<3>()?;
        let (steps, rest) = rest.split_at_checked(usize::from(how & 15))?;
        let stream = if how & 128 == 0 { rest.to_vec() } else { described(rest) };
        let pieces = [usize::from(one) + 1, (usize::from(other) + 1) * 16];
        // Without a step of the first kind nobody would work at all.
        let steps = if steps.is_empty() { vec![0] } else { steps.to_vec() };
        Some(Self { pieces, steps, stream })
    }
}

/// Fragments of two bytes each: the highest bit of the first says that it is no record's last, the next three choose a
/// step, all others add to it.
fn described(fragments: &[u8]) -> Vec<u8> {
    let mut stream = Vec::new();
    for &[kind, more] in fragments.as_chunks::<2>().0 {
        let length = STEPS[usize::from(kind >> 4 & 7)] + usize::from(kind & 15) * usize::from(more);
        stream.extend(RecordMark { length: length as u32, last: kind & 128 == 0 }.to_bytes());
        // The end of a stream that is cut off is as good as any other.
        let length = length.min(STREAM_MAX.saturating_sub(stream.len()));
        stream.extend((0..length).map(|at| (at ^ at >> 8) as u8 ^ more));
        if stream.len() >= STREAM_MAX {
            break;
        }
    }
    stream
}

impl fmt::Display for Input {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pieces, steps, stream } = self;
        write!(formatter, "{} bytes in pieces of {pieces:?}, steps {steps:?}", stream.len())
    }
}
