//! READ: data of a file. It is never copied here: the file system appends a little to the reply's buffer, or gives
//! content that the transport sends after it. Only where the transport cannot, a range of a file is read here.

use howdah_state::IoKind;
use howdah_vfs::{FileSystem, ReadFile};
use howdah_wire::nfs3::Refused;
use howdah_wire::nfs3::read::{Arguments, Head, Reply as Answer};
use howdah_wire::xdr::Decode;

use super::Nfs3Program;
use super::context::{Context, nothing_known};
use super::{convert, transfer};
use crate::{Refusal, Reply, Request};

/// Answers a call.
pub fn run(nfs3: &Nfs3Program, request: &mut Request<'_, '_>, reply: &mut Reply) -> Result<(), Refusal> {
    let exports = nfs3.exports();
    let context = Context::new(nfs3, &exports, request)?;
    let arguments = Arguments::decode(&mut request.arguments)?;
    answer(&context, &arguments, reply);
    Ok(())
}

fn answer(context: &Context<'_>, arguments: &Arguments<'_>, reply: &mut Reply) {
    let file = match context.open(arguments.node) {
        Ok(file) => file,
        Err(status) => return reply.write(&Answer::Err(nothing_known(status))),
    };
    if let Err(status) = context.permits(&file, IoKind::Read) {
        return reply.write(&Answer::Err(Refused { status, detail: file.attributes() }));
    }
    let count = arguments.count.min(transfer::data(context.peer)) as usize;
    let buffer = reply.bytes_mut();
    let start = buffer.len();
    // The head has one length whatever is in it: its place is kept, and filled in when the data is there.
    buffer.resize(start + Head::SIZE, 0);
    let outcome =
        file.file_system.read(&file.caller, ReadFile::new(&file.handle, arguments.offset, count), buffer);
    let outcome = if context.copies_reads() { outcome.and_then(|read| reply.copied(read)) } else { outcome };
    let buffer = reply.bytes_mut();
    match outcome {
        Ok(outcome) => {
            let length = u32::try_from(outcome.content.len()).expect("no more than was asked for");
            let head = Head { attributes: file.tell(&outcome.attributes), end: outcome.end, length };
            buffer[start..start + Head::SIZE].copy_from_slice(&head.to_bytes());
            reply.insert(outcome.content);
        }
        Err(error) => {
            buffer.truncate(start);
            let refused = Refused { status: convert::status(error), detail: file.attributes() };
            reply.write(&Answer::Err(refused));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::sync::Arc;

    use howdah_vfs::memory::MemoryFileSystem;
    use howdah_vfs::{Caller, Content, FileSystem, FsError, ReadOutcome};

    /// A READ that was answered with a range of this file, copied behind what the buffer held.
    fn copy(file: std::fs::File, offset: u64, length: usize) -> (Result<ReadOutcome, FsError>, Vec<u8>) {
        let memory = MemoryFileSystem::new();
        let attributes = memory.attributes(&Caller::ROOT, &memory.root()).expect("a root");
        let content = Content::File(howdah_vfs::FileRange { file: Arc::new(file.into()), offset, length });
        let mut buffer = b"head".to_vec();
        (ReadOutcome { content, end: false, attributes }.copied(&mut buffer), buffer)
    }

    #[test]
    fn a_range_is_copied_and_one_that_cannot_be_read_is_refused() {
        let path = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(path.path(), b"0123456789").expect("written");
        let reading = || std::fs::File::open(path.path()).expect("a file");

        let (outcome, buffer) = copy(reading(), 2, 5);
        let outcome = outcome.expect("readable");
        assert_eq!((outcome.content.len(), outcome.end, &buffer[..]), (5, false, &b"head23456"[..]));

        let (outcome, buffer) = copy(reading(), 8, 5);
        let outcome = outcome.expect("readable");
        assert_eq!(
            (outcome.content.len(), outcome.end, &buffer[..]),
            (2, true, &b"head89"[..]),
            "it was cut"
        );

        let writing = OpenOptions::new().write(true).open(path.path()).expect("a file");
        assert_eq!(copy(writing, 0, 5).0.expect_err("not readable"), FsError::Io);
    }
}
