//! Buffers of replies that are gone, kept by a worker for its next ones. A worker takes them for the calls that it runs and gets those of
//! the replies that it sends, which others may have made: what is kept has a bound in bytes, or each worker would have that of the
//! largest listings in the long run.

/// A larger buffer is freed: beside a listing or a READ that is as long, allocating is cheap.
const SIZE_MAX: usize = 16 << 10;
/// Most that one worker keeps: the small replies of a long burst, or some READs that were copied.
const HELD_MAX: usize = 64 << 10;
/// Room for most replies.
const USUAL: usize = 256;

/// One worker's.
#[derive(Debug, Default)]
pub struct Spare {
    buffers: Vec<Vec<u8>>,
    held: usize,
}

impl Spare {
    /// A buffer for a reply; what is in it means nothing.
    pub fn take(&mut self) -> Vec<u8> {
        let Some(buffer) = self.buffers.pop() else { return Vec::with_capacity(USUAL) };
        self.held -= cost(&buffer);
        buffer
    }

    /// Keeps a buffer, unless it is large, or enough is kept.
    pub fn put(&mut self, buffer: Vec<u8>) {
        let held = self.held + cost(&buffer);
        if buffer.capacity() <= SIZE_MAX && held <= HELD_MAX {
            self.held = held;
            self.buffers.push(buffer);
        }
    }
}

/// What keeping it costs; that of an empty one is not nothing.
fn cost(buffer: &Vec<u8>) -> usize {
    size_of_val(buffer) + buffer.capacity()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(spare: &Spare) -> usize {
        spare.buffers.iter().map(cost).sum()
    }

    #[test]
    fn what_is_kept_is_bounded_in_bytes_whatever_replies_are_sent() {
        let mut spare = Spare::default();
        spare.put(Vec::with_capacity(SIZE_MAX + 1));
        assert_eq!(memory(&spare), 0, "larger than any that is kept");
        for capacity in [0, 1, 200, SIZE_MAX, 128 << 10] {
            (0..5_000).for_each(|_| spare.put(Vec::with_capacity(capacity)));
            assert!(memory(&spare) <= HELD_MAX, "{} bytes", memory(&spare));
            assert_eq!(spare.held, memory(&spare));
            (0..5_000).for_each(|_| drop(spare.take()));
            assert_eq!((spare.held, spare.buffers.len()), (0, 0));
        }
    }

    #[test]
    fn a_burst_of_small_replies_finds_its_buffers_again() {
        let mut spare = Spare::default();
        let buffers: Vec<_> = (0..200).map(|_| spare.take()).collect();
        buffers.into_iter().for_each(|buffer| spare.put(buffer));
        assert_eq!(spare.buffers.len(), 200);
    }
}
