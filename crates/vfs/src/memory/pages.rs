//! The bytes of a file, as pages that exist only where something was written. Knows no size and no owner.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// Bytes per page: that of the usual machine, so that `used` looks as it does elsewhere.
pub(super) const PAGE: usize = 4096;

pub(super) type Page = [u8; PAGE];

/// Pages by their number. A clone shares them until one side writes.
#[derive(Clone, Default)]
pub(super) struct Pages(BTreeMap<u64, Arc<Page>>);

/// The part of a range that lies in one page: page number, start within the page, length.
fn split(offset: u64, length: usize) -> (u64, usize, usize) {
    let start = (offset % PAGE as u64) as usize;
    (offset / PAGE as u64, start, length.min(PAGE - start))
}

/// The numbers of the pages that a range touches.
fn touched(range: &Range<u64>) -> Range<u64> {
    range.start / PAGE as u64..range.end.div_ceil(PAGE as u64)
}

impl Pages {
    /// Bytes in use, in whole pages.
    pub(super) fn used(&self) -> u64 {
        (self.0.len() * PAGE) as u64
    }

    /// Appends the bytes of a range to `buffer`; what was never written is zero.
    pub(super) fn read(&self, mut offset: u64, mut count: usize, buffer: &mut Vec<u8>) {
        while count > 0 {
            let (number, start, length) = split(offset, count);
            match self.0.get(&number) {
                Some(page) => buffer.extend_from_slice(&page[start..start + length]),
                None => buffer.resize(buffer.len() + length, 0),
            }
            offset += length as u64;
            count -= length;
        }
    }

    /// Where the next page begins that something was written to, or `offset` within one.
    pub(super) fn next_data(&self, offset: u64) -> Option<u64> {
        let (&number, _) = self.0.range(offset / PAGE as u64..).next()?;
        Some(offset.max(number * PAGE as u64))
    }

    /// Where the next page begins that nothing was written to, or `offset` within one.
    pub(super) fn next_hole(&self, offset: u64) -> u64 {
        let first = offset / PAGE as u64;
        let run = (first..).zip(self.0.range(first..)).take_while(|(wanted, (number, _))| wanted == *number);
        offset.max((first + run.count() as u64) * PAGE as u64)
    }

    /// How many pages of a range were never written to.
    pub(super) fn missing(&self, range: &Range<u64>) -> u64 {
        let pages = touched(range);
        pages.end - pages.start - self.0.range(pages).count() as u64
    }

    /// Bytes in use by the pages that a range touches.
    pub(super) fn used_in(&self, range: &Range<u64>) -> u64 {
        (self.0.range(touched(range)).count() * PAGE) as u64
    }

    /// Brings all pages of a range into use. Those that are new share one page of zeros until something is written.
    pub(super) fn fill(&mut self, range: &Range<u64>) {
        let zeros = Arc::new([0; PAGE]);
        for number in touched(range) {
            self.0.entry(number).or_insert_with(|| Arc::clone(&zeros));
        }
    }

    /// Makes a range read as zeros; pages that lie in it as a whole are no longer in use.
    pub(super) fn punch(&mut self, range: &Range<u64>) {
        let pages: Vec<u64> = self.0.range(touched(range)).map(|(number, _)| *number).collect();
        for number in pages {
            let start = number * PAGE as u64;
            let within = range.start.max(start) - start..range.end.min(start + PAGE as u64) - start;
            if within == (0..PAGE as u64) {
                self.0.remove(&number);
            } else if let Some(page) = self.0.get_mut(&number) {
                Arc::make_mut(page)[within.start as usize..within.end as usize].fill(0);
            }
        }
    }

    /// The pages in use that a range touches, each with its distance in bytes from the start of the range, which is the
    /// start of a page. They are shared until one side writes.
    pub(super) fn taken(&self, range: &Range<u64>) -> Vec<(u64, Arc<Page>)> {
        let distance = |number: u64| number * PAGE as u64 - range.start;
        self.0.range(touched(range)).map(|(number, page)| (distance(*number), Arc::clone(page))).collect()
    }

    /// Puts pages where none are, at their distances from the start of a page.
    pub(super) fn put(&mut self, pages: Vec<(u64, Arc<Page>)>, start: u64) {
        self.0.extend(pages.into_iter().map(|(distance, page)| ((start + distance) / PAGE as u64, page)));
    }

    /// Writes `data` at `offset` and says how much of it there was room for, when at most `free` more bytes may come
    /// into use.
    pub(super) fn write(&mut self, offset: u64, data: &[u8], mut free: u64) -> usize {
        let mut done = 0;
        while done < data.len() {
            let (number, start, length) = split(offset + done as u64, data.len() - done);
            if !self.0.contains_key(&number) {
                if free < PAGE as u64 {
                    break;
                }
                free -= PAGE as u64;
            }
            let page = self.0.entry(number).or_insert_with(|| Arc::new([0; PAGE]));
            Arc::make_mut(page)[start..start + length].copy_from_slice(&data[done..done + length]);
            done += length;
        }
        done
    }

    /// Forgets everything from `size` on, so that it reads as zero when the file grows again.
    pub(super) fn truncate(&mut self, size: u64) {
        let (number, start, _) = split(size, 0);
        if start == 0 {
            self.0.split_off(&number);
        } else {
            self.0.split_off(&(number + 1));
            if let Some(page) = self.0.get_mut(&number) {
                Arc::make_mut(page)[start..].fill(0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pages: &Pages, offset: u64, count: usize) -> Vec<u8> {
        let mut buffer = Vec::new();
        pages.read(offset, count, &mut buffer);
        buffer
    }

    #[test]
    fn what_was_written_is_read_and_the_rest_is_zero() {
        let mut pages = Pages::default();
        let far = (1 << 62) - 2;
        assert_eq!(pages.write(far, b"abcd", u64::MAX), 4);
        assert_eq!(pages.used(), 2 * PAGE as u64);
        assert_eq!(read(&pages, far - 1, 6), b"\0abcd\0");
    }

    #[test]
    fn a_truncated_tail_does_not_come_back() {
        let mut pages = Pages::default();
        pages.write(0, &[7; 3 * PAGE], u64::MAX);
        pages.truncate(PAGE as u64 + 1);
        assert_eq!(pages.used(), 2 * PAGE as u64);
        assert_eq!(read(&pages, PAGE as u64, 3), [7, 0, 0]);
    }

    #[test]
    fn a_write_stops_where_the_room_ends_but_rewrites_what_is_there() {
        let mut pages = Pages::default();
        assert_eq!(pages.write(10, &[1; 2 * PAGE], PAGE as u64), PAGE - 10);
        assert_eq!(pages.write(0, &[2; PAGE], 0), PAGE);
        assert_eq!(pages.write(PAGE as u64, &[2; 1], 0), 0);
    }

    #[test]
    fn a_clone_keeps_what_it_saw() {
        let mut pages = Pages::default();
        pages.write(0, b"old", u64::MAX);
        let snapshot = pages.clone();
        pages.write(0, b"new", u64::MAX);
        assert_eq!(read(&snapshot, 0, 3), b"old");
    }

    #[test]
    fn a_range_is_filled_and_punched_by_pages() {
        const P: u64 = PAGE as u64;
        let mut pages = Pages::default();
        pages.write(0, &[7; 3 * PAGE], u64::MAX);
        pages.punch(&(1..2 * P));
        assert_eq!(pages.used(), 2 * P);
        assert_eq!(read(&pages, 0, 3), [7, 0, 0]);
        assert_eq!(
            (pages.next_hole(0), pages.next_data(P), pages.next_hole(2 * P + 5)),
            (P, Some(2 * P), 3 * P)
        );
        assert_eq!((pages.missing(&(0..4 * P)), pages.used_in(&(0..4 * P))), (2, 2 * P));
        pages.fill(&(P..P + 1));
        assert_eq!((pages.next_hole(0), pages.missing(&(0..3 * P))), (3 * P, 0));
        assert_eq!(read(&pages, 2 * P - 1, 2), [0, 7]);
    }
}
