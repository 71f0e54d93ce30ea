//! What a program is to the dispatcher: a number, versions, procedures, and who answers them.

use howdah_wire::nfs3::HANDLE_MAX;
use howdah_wire::rpc::{AuthStatus, ReplyHeader};
use howdah_wire::xdr::{Decode, DecodeError, Decoder};

use crate::{Reply, Request, Transport};

/// Whether a call may keep its worker waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
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

/// The bulk data that a call brings at the end of its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bulk {
    /// Bytes of arguments before the data.
    pub before: usize,
    /// Bytes of data, without padding.
    pub length: usize,
    /// Whether the call waits until the data is durable.
    pub durable: bool,
    /// The most bytes of arguments that may follow the data and its padding.
    pub behind_max: usize,
}

/// Whether a call may run a second time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repetition {
    /// It may: whatever came in between, nothing is lost.
    Runs,
    /// It may not if it came in a datagram, which is sent again after a moment, or comes twice by itself. On a stream it is sent
    /// again only when the connection is gone, and may have data that is not there to be compared yet.
    OnceInDatagrams,
    /// It may not.
    Once,
}

/// What a call may change, each as the bytes that name it in the arguments: a directory's handle and a name, or a handle.
pub type Subjects<'a> = [&'a [u8]; 2];

/// Nothing that anybody asks for.
pub fn no_subjects(_: Decoder<'_>) -> Subjects<'_> {
    Subjects::default()
}

/// The handle that arguments begin with.
pub fn first_handle(mut arguments: Decoder<'_>) -> Option<&[u8]> {
    arguments.opaque(HANDLE_MAX as u32, "handle").ok()
}

/// No node is made.
pub fn no_node(_: Decoder<'_>) -> &[u8] {
    &[]
}

/// What is known of a procedure before it runs.
#[derive(Clone, Copy)]
pub struct Procedure {
    /// Its name in the RFC.
    pub name: &'static str,
    /// What to expect of it.
    pub pace: Pace,
    /// The same for a procedure that is what its arguments make of it (COMPOUND).
    pub pace_by_arguments: Option<fn(Decoder<'_>) -> Pace>,
    /// Whether it may run twice: if not, its reply is kept for retransmissions.
    pub repetition: Repetition,
    /// What it may change, for a procedure that may not run twice: names in directories, and files.
    pub subjects: fn(Decoder<'_>) -> Subjects<'_>,
    /// For one that makes a node: where a result without error says which.
    pub made: fn(Decoder<'_>) -> &[u8],
    /// The handle of the node that its arguments name, if they name one: the call waits while storage of that node's export
    /// hangs.
    pub node: fn(Decoder<'_>) -> Option<&[u8]>,
    /// Whether its arguments begin with the path of a node, which leads into an export: the same.
    pub names_path: bool,
    /// Whether its result begins with a status: zero, or why it is refused.
    pub status: bool,
    /// For a procedure that brings bulk data: what its arguments, as far as they are here, say of it. The data itself
    /// may still be in the socket then, and be handed over as `Request::waiting`.
    pub bulk: Option<fn(Decoder<'_>) -> Option<Bulk>>,
}

impl Procedure {
    /// One that works on the node that its arguments name first, and answers with a status.
    pub const fn of_nodes(name: &'static str, pace: Pace, repetition: Repetition) -> Self {
        Self { node: first_handle, status: true, repetition, ..Self::plain(name, pace) }
    }

    /// One that may run twice and whose result begins with no status.
    pub const fn plain(name: &'static str, pace: Pace) -> Self {
        Self {
            name,
            pace,
            pace_by_arguments: None,
            repetition: Repetition::Runs,
            subjects: no_subjects,
            made: no_node,
            node: |_| None,
            names_path: false,
            status: false,
            bulk: None,
        }
    }
}

impl Procedure {
    /// The encoded handle of the node that was made, by a reply that tells of no error.
    pub fn made<'a>(&self, message: &'a [u8]) -> &'a [u8] {
        let mut reply = Decoder::new(message);
        ReplyHeader::decode(&mut reply).map_or(&[], |_| (self.made)(reply))
    }
}

/// Answers a call of a program with this state: appends its result to the reply, which stands right after the RPC header.
pub type Run<P> = fn(&P, &mut Request<'_, '_>, &mut Reply) -> Result<(), Refusal>;

/// A procedure, and what answers it.
pub struct Row<P: 'static> {
    /// What is known of it before it runs.
    pub procedure: Procedure,
    /// Its handler.
    pub run: Run<P>,
}

/// Where a procedure stands in its program: the place of its version, lowest first, and its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// The place of the version.
    pub version: usize,
    /// The procedure's number.
    pub procedure: usize,
}

/// A program that is served, with the state that its procedures work on.
pub trait Program: Send + Sync {
    /// Its number.
    fn number(&self) -> u32;

    /// Its name in `/etc/rpc`.
    fn name(&self) -> &'static str;

    /// Each version served, lowest first, with its procedures by number.
    fn versions(&self) -> Vec<(u32, Vec<&'static Procedure>)>;

    /// What calls of a version may be counted as, beside its procedures ([`Reply::count_as`]): the operations of a procedure that is
    /// made of such.
    fn operations(&self, _version: u32) -> &'static [Procedure] {
        &[]
    }

    /// Whether a version is served in datagrams too.
    fn takes_datagrams(&self, _version: u32) -> bool {
        true
    }

    /// Answers a call of a procedure that it has.
    ///
    /// # Errors
    /// Why the call gets no result.
    fn run(
        &self,
        position: Position,
        request: &mut Request<'_, '_>,
        reply: &mut Reply,
    ) -> Result<(), Refusal>;
}

/// A program whose procedures stand in tables.
pub trait Tabled: Send + Sync + Sized + 'static {
    /// Its number.
    const NUMBER: u32;
    /// Its name in `/etc/rpc`.
    const NAME: &'static str;
    /// Each version served, lowest first, with its procedures by number.
    const VERSIONS: &'static [(u32, &'static [Row<Self>])];
    /// What calls may be counted as, beside procedures.
    const OPERATIONS: &'static [Procedure] = &[];
    /// Whether it is served in datagrams too.
    const TAKES_DATAGRAMS: bool = true;
}

impl<P: Tabled> Program for P {
    fn number(&self) -> u32 {
        P::NUMBER
    }

    fn name(&self) -> &'static str {
        P::NAME
    }

    fn operations(&self, _version: u32) -> &'static [Procedure] {
        P::OPERATIONS
    }

    fn takes_datagrams(&self, _version: u32) -> bool {
        P::TAKES_DATAGRAMS
    }

    fn versions(&self) -> Vec<(u32, Vec<&'static Procedure>)> {
        let procedures = |rows: &'static [Row<P>]| rows.iter().map(|row| &row.procedure).collect();
        P::VERSIONS.iter().map(|(version, rows)| (*version, procedures(rows))).collect()
    }

    fn run(
        &self,
        position: Position,
        request: &mut Request<'_, '_>,
        reply: &mut Reply,
    ) -> Result<(), Refusal> {
        (P::VERSIONS[position.version].1[position.procedure].run)(self, request, reply)
    }
}

/// A call that gets no result of its procedure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The arguments make no sense: GARBAGE_ARGS.
    Garbage(DecodeError),
    /// The credentials do not do: denied.
    Authentication(AuthStatus),
    /// Something broke here: SYSTEM_ERR.
    System,
    /// The table has the procedure, and it is not served: PROC_UNAVAIL.
    Unavailable,
    /// No answer at all: what is asked is not for this peer (rpcbind's indirect calls).
    Silence,
}

impl Repetition {
    /// Whether a call that came so may not run twice.
    pub fn is_once(self, transport: Transport) -> bool {
        match self {
            Self::Runs => false,
            Self::OnceInDatagrams => transport.is_datagrams(),
            Self::Once => true,
        }
    }
}

impl From<DecodeError> for Refusal {
    fn from(error: DecodeError) -> Self {
        Self::Garbage(error)
    }
}
