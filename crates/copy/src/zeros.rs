//! Finds the data between holes. Pure.

use std::ops::Range;

/// What storage allocates at once on usual file systems; a hole begins and ends at a multiple of it.
const PAGE: usize = 4096;

/// A shorter run of zeros is written: leaving it out would split one transfer into two for little gain.
pub const SHORTEST_HOLE: usize = 64 * 1024;

/// The parts of a block (that begins at a multiple of [`PAGE`]) that must be written, in order: all but aligned runs of
/// zeros of at least [`SHORTEST_HOLE`] bytes. A shorter block that is all zeros is one hole, too.
pub(super) fn data_runs(block: &[u8]) -> Vec<Range<usize>> {
    let mut runs = Vec::new();
    let mut data_start = 0;
    let mut zeros_start = None;
    for (number, page) in block.chunks(PAGE).enumerate() {
        let at = number * PAGE;
        match (is_zero(page), zeros_start) {
            (true, None) => zeros_start = Some(at),
            (false, Some(start)) => {
                if at - start >= SHORTEST_HOLE {
                    push(&mut runs, data_start..start);
                    data_start = at;
                }
                zeros_start = None;
            }
            _ => {}
        }
    }
    let end = match zeros_start {
        Some(start) if block.len() - start >= SHORTEST_HOLE || start == 0 => start,
        _ => block.len(),
    };
    push(&mut runs, data_start..end.max(data_start));
    runs
}

fn push(runs: &mut Vec<Range<usize>>, run: Range<usize>) {
    if !run.is_empty() {
        runs.push(run);
    }
}

/// Whether all bytes are zero: sixteen at a time, which the compiler turns into vector instructions.
fn is_zero(page: &[u8]) -> bool {
    let (words, rest) = page.as_chunks::<16>();
    words.iter().all(|word| u128::from_ne_bytes(*word) == 0) && rest.iter().all(|&byte| byte == 0)
}

#[cfg(test)]
#[allow(clippy::single_range_in_vec_init, reason = "one range is what is meant")]
mod tests {
    use super::*;

    fn block(pages: &[(u8, usize)]) -> Vec<u8> {
        pages.iter().flat_map(|&(byte, count)| std::iter::repeat_n(byte, count * PAGE)).collect()
    }

    #[test]
    fn only_long_runs_are_holes() {
        const LONG: usize = SHORTEST_HOLE / PAGE;
        assert_eq!(data_runs(&block(&[(1, 2), (0, LONG - 1), (1, 1)])), [0..(LONG + 2) * PAGE]);
        assert_eq!(
            data_runs(&block(&[(1, 2), (0, LONG), (1, 1)])),
            [0..2 * PAGE, (LONG + 2) * PAGE..(LONG + 3) * PAGE]
        );
        assert_eq!(data_runs(&block(&[(0, LONG), (1, 1), (0, LONG)])), [LONG * PAGE..(LONG + 1) * PAGE]);
        assert_eq!(data_runs(&block(&[(1, 1), (0, 1)])), [0..2 * PAGE]);
    }

    #[test]
    fn a_block_of_zeros_is_a_hole_however_short() {
        assert!(data_runs(&[0; 5]).is_empty() && data_runs(&block(&[(0, 256)])).is_empty());
        assert!(data_runs(&[]).is_empty());
    }

    #[test]
    fn a_zero_page_needs_every_byte() {
        let mut page = vec![0; SHORTEST_HOLE];
        page[SHORTEST_HOLE - 1] = 1;
        assert_eq!(data_runs(&page).last(), Some(&(0..SHORTEST_HOLE)));
    }
}
