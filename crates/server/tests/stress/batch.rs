//! Calls that are in flight together, and what each must be answered with. They run in any order, so none touches
//! what another one changes.

use std::collections::HashMap;
use std::ops::Range;

use howdah_random::Random;
use howdah_wire::nfs3::{
    DirectoryName, FileHandle, NewAttributes, Status, access, commit, create, getattr, read, remove, write,
};
use howdah_wire::rpc::{Accepted, ReplyHeader};
use howdah_wire::xdr::{Decode, Decoder, Encode, Encoder};

use crate::common::nfs_call;

/// Size of each client's file.
pub const FILE_SIZE: usize = 5 << 20;

/// What a call must be answered with.
enum Expected {
    Written { at: usize, data: Vec<u8>, count: usize },
    Read(Range<usize>),
    Size,
    Success,
    Refused(&'static [Status]),
}

/// What the calls of one client are about.
pub struct Files {
    pub root: Vec<u8>,
    pub file: Vec<u8>,
    /// A handle whose file is gone.
    pub stale: Vec<u8>,
    /// No name of another client starts like this.
    pub prefix: String,
}

/// Calls in flight.
pub struct Batch<'a> {
    files: &'a Files,
    /// The largest READ and WRITE.
    most: usize,
    /// Whether storage may refuse data, and take less than it was given.
    faulty: bool,
    expected: HashMap<u32, Expected>,
    taken: Vec<Range<usize>>,
    next_xid: &'a mut u32,
    calls: Vec<Vec<u8>>,
}

impl<'a> Batch<'a> {
    pub fn new(files: &'a Files, most: usize, faulty: bool, next_xid: &'a mut u32) -> Self {
        let (expected, taken, calls) = Default::default();
        Self { files, most, faulty, expected, taken, next_xid, calls }
    }

    /// The calls made since last asked, each in a record of one fragment.
    pub fn calls(&mut self) -> Vec<Vec<u8>> {
        std::mem::take(&mut self.calls)
    }

    pub fn is_answered(&self) -> bool {
        self.expected.is_empty()
    }

    /// Adds one call, or a burst of small ones.
    pub fn add(&mut self, random: &mut Random) {
        let file = FileHandle(&self.files.file);
        match random.index(16) {
            0..=5 => self.add_write(random),
            6..=9 => self.add_read(random),
            10 => (0..random.index(40)).for_each(|_| {
                self.call(getattr::PROCEDURE, &getattr::Arguments { node: file }, Expected::Size)
            }),
            11 => {
                let arguments = commit::Arguments { node: file, offset: 0, count: 0 };
                self.call(commit::PROCEDURE, &arguments, Expected::Success);
            }
            12 => self.add_refused_write(random),
            13 => {
                let arguments = access::Arguments { node: file, wanted: 0x3f };
                self.call(access::PROCEDURE, &arguments, Expected::Success);
            }
            14 => {
                let name = format!("{}-{}", self.files.prefix, self.next_xid);
                let object = DirectoryName { directory: FileHandle(&self.files.root), name: name.as_bytes() };
                let arguments = create::Arguments { object, how: create::How::Exclusive([7; 8]) };
                self.call(create::PROCEDURE, &arguments, Expected::Success);
            }
            _ => {
                let object = DirectoryName { directory: FileHandle(&self.files.root), name: b"never made" };
                let expected = Expected::Refused(&[Status::NotFound]);
                self.call(remove::PROCEDURE, &remove::Arguments { object }, expected);
            }
        }
    }

    fn add_write(&mut self, random: &mut Random) {
        let length = random.length(self.most);
        let Some(range) = self.free_range(random, length) else { return };
        let data = random.bytes(range.len());
        // Some clients ask for less to be written than they bring.
        let count = if random.one_in(8) { random.index(data.len()) } else { data.len() };
        let expected = Expected::Written { at: range.start, data: data.clone(), count };
        let call = write_call(&self.files.file, range.start as u64, count, &data, random);
        self.call(write::PROCEDURE, &call, expected);
    }

    fn add_refused_write(&mut self, random: &mut Random) {
        let length = random.length(self.most);
        let data = random.bytes(length);
        let (node, offset, count, expected): (_, u64, _, &[Status]) = match random.index(4) {
            0 => (&self.files.stale, 0, length, &[Status::Stale]),
            1 => (&self.files.root, 0, length, &[Status::IsDirectory, Status::Invalid]),
            2 => (&self.files.file, 0, length + 1, &[Status::Invalid]),
            _ => (&self.files.file, i64::MAX as u64, length, &[Status::TooBig]),
        };
        let call = write_call(node, offset, count, &data, random);
        self.call(write::PROCEDURE, &call, Expected::Refused(expected));
    }

    fn add_read(&mut self, random: &mut Random) {
        let length = random.length(self.most);
        let Some(range) = self.free_range(random, length) else { return };
        // Some reach beyond the end.
        let count = if range.end == FILE_SIZE { length + 100 } else { range.len() };
        let arguments = read::Arguments {
            node: FileHandle(&self.files.file),
            offset: range.start as u64,
            count: count.min(self.most) as u32,
        };
        let range = range.start..(range.start + count.min(self.most)).min(FILE_SIZE);
        self.call(read::PROCEDURE, &arguments, Expected::Read(range));
    }

    /// A range that no other call of this batch touches.
    fn free_range(&mut self, random: &mut Random, length: usize) -> Option<Range<usize>> {
        let start = random.index(FILE_SIZE);
        let range = start..(start + length).min(FILE_SIZE);
        if self.taken.iter().any(|other| other.start < range.end && range.start < other.end) {
            return None;
        }
        self.taken.push(range.clone());
        Some(range)
    }

    fn call(&mut self, procedure: u32, arguments: &impl Encode, expected: Expected) {
        *self.next_xid += 1;
        self.calls.push(nfs_call(*self.next_xid, procedure, arguments));
        self.expected.insert(*self.next_xid, expected);
    }

    /// Checks a reply against what it must be, and does to the model what the call did to the file.
    pub fn on_reply(&mut self, reply: &[u8], model: &mut [u8]) {
        let mut decoder = Decoder::new(reply);
        let header = ReplyHeader::decode(&mut decoder).expect("a reply");
        assert_eq!(header.outcome, Ok(Accepted::Success), "xid {}", header.xid);
        let expected = self.expected.remove(&header.xid);
        match expected.unwrap_or_else(|| panic!("xid {} was not asked, or is answered twice", header.xid)) {
            Expected::Written { at, data, count } => {
                match write::Reply::decode(&mut decoder).expect("a result") {
                    Ok(success) => {
                        let written = success.count as usize;
                        assert!(
                            written == count || (self.faulty && written < count),
                            "{written} of {count} written"
                        );
                        model[at..at + written].copy_from_slice(&data[..written]);
                    }
                    Err(refused) => assert!(self.faulty, "WRITE of {count} at {at}: {:?}", refused.status),
                }
            }
            Expected::Read(range) => match read::Reply::decode(&mut decoder).expect("a result") {
                Ok(success) => {
                    assert_eq!(success.data.len(), range.len(), "READ of {range:?}");
                    let wrong =
                        success.data.iter().zip(&model[range.clone()]).position(|(got, want)| got != want);
                    assert_eq!(wrong, None, "READ of {range:?}: the first wrong byte");
                    assert_eq!(success.end, range.end == FILE_SIZE);
                }
                Err(refused) => assert!(self.faulty, "READ of {range:?}: {:?}", refused.status),
            },
            Expected::Size => {
                let attributes = getattr::Reply::decode(&mut decoder).expect("a result").expect("attributes");
                assert_eq!(attributes.attributes.size, FILE_SIZE as u64);
            }
            Expected::Success => {
                assert_eq!(decoder.u32("status").expect("a status"), 0);
                return;
            }
            Expected::Refused(statuses) => {
                let status = decoder.u32("status").expect("a status");
                let known = statuses.iter().any(|&one| one as u32 == status);
                assert!(
                    known || (self.faulty && status == Status::NoSpace as u32),
                    "{status} instead of {statuses:?}"
                );
                return;
            }
        }
        decoder.finish("a reply").expect("nothing more");
    }
}

/// A WRITE whose `count` need not be the length of its data.
struct WriteCall<'a> {
    head: write::Head<'a>,
    data: &'a [u8],
}

impl Encode for WriteCall<'_> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        self.head.encode(encoder);
        encoder.fixed(self.data);
        encoder.pad(self.data.len());
    }
}

fn write_call<'a>(
    node: &'a [u8],
    offset: u64,
    count: usize,
    data: &'a [u8],
    random: &mut Random,
) -> WriteCall<'a> {
    let stability = match random.index(8) {
        0 => write::Stability::FileSync,
        1 => write::Stability::DataSync,
        _ => write::Stability::Unstable,
    };
    let node = FileHandle(node);
    WriteCall {
        head: write::Head { node, offset, count: count as u32, stability, length: data.len() as u32 },
        data,
    }
}

/// Makes a file: the call.
pub fn create_call(xid: u32, root: &[u8], name: &str, size: usize) -> Vec<u8> {
    let object = DirectoryName { directory: FileHandle(root), name: name.as_bytes() };
    let how = create::How::Guarded(NewAttributes { size: Some(size as u64), ..NewAttributes::default() });
    nfs_call(xid, create::PROCEDURE, &create::Arguments { object, how })
}

/// Removes a file: the call.
pub fn remove_call(xid: u32, root: &[u8], name: &str) -> Vec<u8> {
    let object = DirectoryName { directory: FileHandle(root), name: name.as_bytes() };
    nfs_call(xid, remove::PROCEDURE, &remove::Arguments { object })
}
