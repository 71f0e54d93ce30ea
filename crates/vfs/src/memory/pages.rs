//! The bytes of a file, as pages that exist only where something was written. Knows no size and no owner.

use std::collections::BTreeMap;
use std::sync::Arc;

/// Bytes per page: that of the usual machine, so that `used` looks as it does elsewhere.
pub(super) const PAGE: usize = 4096;

type Page = [u8; PAGE];

/// Pages by their number. A clone shares them until one side writes.
#[derive(Clone, Default)]
pub(super) struct Pages(BTreeMap<u64, Arc<Page>>);

/// The part of a range that lies in one page: page number, start within the page, length.
fn split(offset: u64, length: usize) -> (u64, usize, usize) {
    let start = (offset % PAGE as u64) as usize;
    (offset / PAGE as u64, start, length.min(PAGE - start))
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
}
