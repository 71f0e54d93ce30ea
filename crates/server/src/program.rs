//! What a program is to the dispatcher: a number, versions, procedures, and who answers them.

use howdah_wire::nfs3::HANDLE_MAX;
use howdah_wire::rpc::AuthStatus;
use howdah_wire::xdr::{DecodeError, Decoder};

use crate::outline::{Outline, ReplyPace};
use crate::{Reply, Request, Transport};

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

/// The node of a call is the one that its arguments name first.
pub fn first_node<'m>(outline: &mut Outline<'m>, mut arguments: Decoder<'m>) {
    outline.node = arguments.opaque(HANDLE_MAX as u32, "handle").ok();
}

/// No node is made.
pub fn no_node(_: Decoder<'_>) -> &[u8] {
    &[]
}

/// Reads what the door must know of arguments.
pub type ReadOutline = for<'m> fn(&mut Outline<'m>, Decoder<'m>);

/// What is known of a procedure before it runs.
#[derive(Clone, Copy)]
pub struct Procedure {
    /// Its name in the RFC.
    pub name: &'static str,
    /// What to expect of it.
    pub pace: ReplyPace,
    /// Whether it may run twice: if not, its reply is kept for retransmissions.
    pub repetition: Repetition,
    /// What the door reads of its arguments. They may make no sense, or be cut where bulk data begins.
    pub outline: ReadOutline,
    /// For one that makes a node: where a result without error says which.
    pub made: fn(Decoder<'_>) -> &[u8],
    /// Whether its result begins with a status: zero, or why it is refused.
    pub status: bool,
}

impl Procedure {
    /// One that works on the node that its arguments name first, and answers with a status.
    pub const fn of_nodes(name: &'static str, pace: ReplyPace, repetition: Repetition) -> Self {
        Self { outline: first_node, status: true, repetition, ..Self::plain(name, pace) }
    }

    /// One that may run twice and whose result begins with no status.
    pub const fn plain(name: &'static str, pace: ReplyPace) -> Self {
        Self { name, pace, repetition: Repetition::Runs, outline: |_, _| {}, made: no_node, status: false }
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
