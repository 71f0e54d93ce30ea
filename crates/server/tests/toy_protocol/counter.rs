//! A protocol of one number that clients add to: all that a program needs, in one file.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use howdah_server::{Procedure, Refusal, Repetition, Reply, ReplyPace, Request, Row, Tabled};
use howdah_vfs::{Content, FileRange};
use howdah_wire::xdr::{Encode, Encoder};

/// The program's number, among those that nobody is given (RFC 5531 13).
pub const NUMBER: u32 = 0x2000_0700;
/// Its one version.
pub const VERSION: u32 = 3;
/// The procedure that adds.
pub const ADD: u32 = 1;

/// The procedure that answers with a file between two sums, as NFSv4 answers {READ, GETATTR} (RFC 8881 2.3).
pub const FILE: u32 = 2;

/// What is added.
pub struct Summand(pub u32);

impl Encode for Summand {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        encoder.u32(self.0);
    }
}

/// The state: a sum, and a file of this length.
pub struct Counter {
    sum: AtomicU32,
    file: Arc<OwnedFd>,
    length: usize,
}

impl Counter {
    /// Nothing is added yet.
    pub fn new(file: OwnedFd, length: usize) -> Self {
        Self { sum: AtomicU32::new(0), file: Arc::new(file), length }
    }
}

impl Tabled for Counter {
    const NUMBER: u32 = NUMBER;
    const NAME: &'static str = "counter";
    const VERSIONS: &'static [(u32, &'static [Row<Self>])] = &[(VERSION, PROCEDURES)];
}

const PROCEDURES: &[Row<Counter>] = &[
    Row { procedure: Procedure::plain("NULL", ReplyPace::Quick), run: |_, _, _| Ok(()) },
    Row {
        procedure: Procedure { repetition: Repetition::Once, ..Procedure::plain("ADD", ReplyPace::Quick) },
        run: add,
    },
    Row { procedure: Procedure::plain("FILE", ReplyPace::Quick), run: file },
];

fn add(counter: &Counter, request: &mut Request<'_, '_>, reply: &mut Reply) -> Result<(), Refusal> {
    let more = request.arguments.u32("summand")?;
    let sum = counter.sum.fetch_add(more, Ordering::Relaxed) + more;
    reply.encoder().u32(sum);
    Ok(())
}

fn file(counter: &Counter, _request: &mut Request<'_, '_>, reply: &mut Reply) -> Result<(), Refusal> {
    let sum = counter.sum.load(Ordering::Relaxed);
    reply.encoder().u32(sum);
    let range = FileRange { file: Arc::clone(&counter.file), offset: 0, length: counter.length };
    reply.insert(Content::File(range));
    reply.encoder().u32(!sum);
    Ok(())
}
