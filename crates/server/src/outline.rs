//! What the door reads of a call's arguments: once, before anybody decides when the call runs and where its data goes.

use howdah_wire::nfs4::compound::Head;
use howdah_wire::nfs4::{FileHandle, sequence, write};
use howdah_wire::xdr::{DecodeError, Decoder};

use crate::limits::BULK_MIN;

/// Whether a call may keep its worker waiting; the most demanding last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReplyPace {
    /// Usually answered from memory: run at once, one after the other, and answered together.
    Quick,
    /// The same, but one may cost a thousand times what it takes to ask for it: of a client that has had more than its share of
    /// the processors it is run when they have nothing better to do.
    Dear,
    /// Moves so many bytes that another processor, if there is one, should go on with the connection.
    Long,
    /// May wait for storage: the socket is handed on first, so that others run meanwhile.
    Slow,
}

/// The bulk data that a call brings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bulk {
    /// Bytes of the message before the data.
    pub at: usize,
    /// Bytes of data, without padding.
    pub length: usize,
    /// Whether the call waits until the data is durable.
    pub durable: bool,
    /// The most bytes of arguments that may follow the data and its padding.
    pub behind_max: usize,
}

/// What a call may change, each as the bytes that name it in the arguments: a directory's handle and a name, or a handle.
pub type Subjects<'a> = [&'a [u8]; 2];

/// What the door reads of a call's arguments.
#[derive(Debug, Clone)]
pub struct Outline<'m> {
    /// Whether it may keep its worker waiting.
    pub pace: ReplyPace,
    /// Whether any part of it is [`ReplyPace::Dear`], though another be more demanding.
    pub is_dear: bool,
    /// The handle of the first node that it names: the call waits while storage of that node's export hangs.
    pub node: Option<&'m [u8]>,
    /// The path of a node, which leads into an export: the same.
    pub path: Option<&'m [u8]>,
    /// What it may change, for a call that may not run twice: names in directories, and files.
    pub subjects: Subjects<'m>,
    /// The bulk data that it brings. The data itself may still be in the socket, and be handed over as `Request::waiting`.
    pub bulk: Option<Bulk>,
    /// What a compound begins with, if it is one.
    pub compound: Option<Result<CompoundOpening<'m>, DecodeError>>,
}

/// What a compound of NFSv4 begins with, and what was decoded already of its operations.
#[derive(Debug, Clone)]
pub struct CompoundOpening<'m> {
    /// Its head.
    pub head: Head<'m>,
    /// SEQUENCE, if that is its first operation.
    pub sequence: Option<Result<sequence::Arguments, DecodeError>>,
    /// Its operations, or those behind SEQUENCE.
    pub operations: Decoder<'m>,
    /// The first node that an operation behind SEQUENCE makes the current one.
    pub node: Option<FileHandle<'m>>,
    /// The first WRITE behind SEQUENCE.
    pub write: Option<write::Head>,
    /// What distinguishes it from others: the bytes behind SEQUENCE that are in memory in any case, which end where data
    /// begins, or the last operation ends.
    pub told_by: &'m [u8],
    /// Bytes of the message up to the end of its last operation, if it is known where that is.
    pub end: Option<usize>,
    /// Bytes of the whole message.
    pub length: usize,
}

impl CompoundOpening<'_> {
    /// What distinguishes it from others ends here.
    pub fn end_told_by(&mut self, walk: &Decoder<'_>) {
        self.told_by = &self.told_by[..walk.position() - self.operations.position()];
    }
}

impl Outline<'_> {
    /// Of a call that nothing is known of but its pace.
    pub fn of(pace: ReplyPace) -> Self {
        let (is_dear, subjects) = (pace == ReplyPace::Dear, Subjects::default());
        Self { pace, is_dear, node: None, path: None, subjects, bulk: None, compound: None }
    }

    /// The call brings this data, which decides about its pace.
    pub fn brings(&mut self, bulk: Bulk) {
        let pace = match bulk {
            Bulk { durable: true, .. } => ReplyPace::Slow,
            Bulk { length: BULK_MIN.., .. } => ReplyPace::Long,
            Bulk { .. } => ReplyPace::Quick,
        };
        self.pace = self.pace.max(pace);
        self.bulk.get_or_insert(bulk);
    }
}
