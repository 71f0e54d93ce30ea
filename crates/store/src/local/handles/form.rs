//! The bytes of a handle. Pure.

use howdah_vfs::{FsError, Handle, Result, Timestamp};

use super::super::known::Identification;

/// First byte of a handle that holds the kernel's.
const KERNEL: u8 = 1;
/// First byte of a handle that holds a time of birth.
const BIRTH: u8 = 2;
/// Added to the first byte if a mark follows the file number.
const MARKED: u8 = 0x80;
/// Where the mark or the rest starts.
const REST: usize = 9;
/// Bytes of a mark.
const MARK: usize = 4;
/// Bytes of a time of birth.
const BIRTH_LENGTH: usize = 12;

/// The longest kernel handle that fits, between form, file number, mark and kind.
pub(in super::super) const LONGEST_KERNEL_HANDLE: usize = Handle::EXPORTABLE_MAX - REST - MARK - 1;

/// A handle taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Form<'a> {
    /// The kernel's own: its kind and bytes.
    Kernel {
        /// The kernel's type of handle.
        kind: u8,
        /// Its bytes.
        bytes: &'a [u8],
    },
    /// The time of birth; zero where the file system keeps none.
    Birth(Timestamp),
}

/// The file number in a handle; 0 if it is too short to be one of ours.
pub(in super::super) fn file_number(handle: &Handle) -> u64 {
    handle.as_bytes().get(1..REST).and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_le_bytes)
}

impl<'a> Form<'a> {
    /// Takes a handle apart: the mark of its file system, if that is not the root's, and the rest.
    pub(in super::super) fn parse(handle: &'a Handle) -> Result<(Option<u32>, Self)> {
        let bytes = handle.as_bytes();
        let (&form, rest) = bytes.first().zip(bytes.get(REST..)).ok_or(FsError::BadHandle)?;
        let (mark, rest) = match form & MARKED {
            0 => (None, rest),
            _ => {
                let (mark, rest) = rest.split_first_chunk::<MARK>().ok_or(FsError::BadHandle)?;
                (Some(u32::from_le_bytes(*mark)), rest)
            }
        };
        let form = match (form & !MARKED, rest) {
            (KERNEL, [kind, bytes @ ..]) => Self::Kernel { kind: *kind, bytes },
            (BIRTH, rest) => Self::Birth(parse_birth(rest).ok_or(FsError::BadHandle)?),
            _ => return Err(FsError::BadHandle),
        };
        Ok((mark, form))
    }
}

fn parse_birth(bytes: &[u8]) -> Option<Timestamp> {
    let (seconds, nanoseconds) = bytes.split_first_chunk::<8>()?;
    let seconds = i64::from_le_bytes(*seconds);
    Some(Timestamp { seconds, nanoseconds: u32::from_le_bytes(nanoseconds.try_into().ok()?) })
}

/// The handle around a kernel's handle; `None` if it does not fit.
pub(super) fn around_kernel(file: u64, mark: Option<u32>, kind: i32, bytes: &[u8]) -> Option<Handle> {
    let mut writer = Writer::new(KERNEL, file, mark);
    writer.put(&[u8::try_from(kind).ok()?])?;
    writer.put(bytes)?;
    writer.handle()
}

/// The handle of a node on a file system without handles.
pub(super) fn around_birth(seen: &Identification, mark: Option<u32>) -> Option<Handle> {
    let birth = seen.birth.unwrap_or_default();
    let mut rest = [0; BIRTH_LENGTH];
    rest[..8].copy_from_slice(&birth.seconds.to_le_bytes());
    rest[8..].copy_from_slice(&birth.nanoseconds.to_le_bytes());
    let mut writer = Writer::new(BIRTH, seen.file, mark);
    writer.put(&rest)?;
    writer.handle()
}

/// A handle in the making.
struct Writer {
    bytes: [u8; Handle::EXPORTABLE_MAX],
    length: usize,
}

impl Writer {
    fn new(form: u8, file: u64, mark: Option<u32>) -> Self {
        let mut writer = Self { bytes: [0; Handle::EXPORTABLE_MAX], length: REST };
        writer.bytes[0] = form;
        writer.bytes[1..REST].copy_from_slice(&file.to_le_bytes());
        if let Some(mark) = mark {
            writer.bytes[0] |= MARKED;
            writer.bytes[REST..REST + MARK].copy_from_slice(&mark.to_le_bytes());
            writer.length += MARK;
        }
        writer
    }

    fn put(&mut self, bytes: &[u8]) -> Option<()> {
        let end = self.length + bytes.len();
        self.bytes.get_mut(self.length..end)?.copy_from_slice(bytes);
        self.length = end;
        Some(())
    }

    fn handle(&self) -> Option<Handle> {
        Handle::new(&self.bytes[..self.length]).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_come_apart_as_they_were_put_together() {
        for mark in [None, Some(0xdead_beef)] {
            let handle = around_kernel(7, mark, 0x81, &[1, 2, 3]).expect("fits");
            assert_eq!(Form::parse(&handle), Ok((mark, Form::Kernel { kind: 0x81, bytes: &[1, 2, 3] })));
            assert_eq!(file_number(&handle), 7);
            let birth = Timestamp { seconds: -5, nanoseconds: 9 };
            let seen = Identification { file: u64::MAX, device: 1, birth: Some(birth) };
            let handle = around_birth(&seen, mark).expect("fits");
            assert_eq!(Form::parse(&handle), Ok((mark, Form::Birth(birth))));
            assert_eq!(file_number(&handle), u64::MAX);
        }
    }

    #[test]
    fn what_does_not_fit_or_is_not_ours_is_refused() {
        let longest = [0; LONGEST_KERNEL_HANDLE + 1];
        assert!(around_kernel(7, Some(1), 1, &longest[1..]).is_some());
        assert_eq!(around_kernel(7, Some(1), 1, &longest), None);
        assert_eq!(around_kernel(7, None, 256, &[0; 8]), None);
        for bytes in [&b""[..], &[0; 18], &[KERNEL; 9], &[BIRTH; 20], &[BIRTH; 22], &[9; 48], &[0x81; 12]] {
            let handle = Handle::new(bytes).expect("short enough");
            assert_eq!(Form::parse(&handle), Err(FsError::BadHandle), "{bytes:?}");
        }
    }
}
