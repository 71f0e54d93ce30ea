//! A connection that is to join the session: SEQUENCE alone shows whether the server takes the session there (RFC 8881 2.10.5). Servers
//! behind a load balancer do not; then one connection carries all calls.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use howdah_net::Connection;
use howdah_session::{ClientSession, UPKEEP_STAMP};
use howdah_wire::nfs4::bind_conn_to_session::{self, WantedUse};
use howdah_wire::nfs4::{COMPOUND, PROGRAM, SessionId, Status, VERSION, sequence};
use howdah_wire::rpc::{CallHeader, Credentials, ReplyHeader};
use howdah_wire::xdr::{Decode, Decoder, Encode, Encoder};
use parking_lot::{Condvar, Mutex};

use super::compound::{Alone, Compound, InSession};
use super::results::{ResultReader, Results, Stopped};
use super::upkeep::{Upkeep, show};
use crate::channel::{
    CallEnd, CallSends, CallSession, CallTicket, Channel, Class, ConnectStep, TicketNeed, first_call,
};
use crate::waiting::wait_at_most;

const NAME: &str = "SEQUENCE";
/// How long a connection waits for the session: it may be the one that the session is to be made over.
const EARLY: Duration = Duration::from_secs(3);
/// How long an answer over another connection is waited for, which shows that the session stands.
const CONFIRM: Duration = Duration::from_secs(5);
/// The xid of a call that nobody else sees.
const XID: u32 = 0x5345_5100;

/// Probes connections, once there is a session.
#[derive(Default)]
pub(super) struct LaneProbe {
    /// The first connection was made: the session is made over it.
    has_first: AtomicBool,
    state: Mutex<ProbeState>,
    changed: Condvar,
}

#[derive(Default)]
enum ProbeState {
    /// There is no session yet.
    #[default]
    Early,
    /// There is one.
    Session(Weak<Channel>, Weak<Upkeep>),
    /// There will be none.
    Over,
}

/// Ends the wait for a session when it goes.
pub(super) struct ProbeOwner(Arc<LaneProbe>);

impl Drop for ProbeOwner {
    fn drop(&mut self) {
        *self.0.state.lock() = ProbeState::Over;
        self.0.changed.notify_all();
    }
}

impl ProbeOwner {
    /// Of a channel that is not open yet.
    pub(super) fn new(probe: Arc<LaneProbe>) -> Self {
        Self(probe)
    }

    /// There is a session.
    pub(super) fn begin(&self, channel: &Arc<Channel>, upkeep: &Arc<Upkeep>) {
        *self.0.state.lock() = ProbeState::Session(Arc::downgrade(channel), Arc::downgrade(upkeep));
        self.0.changed.notify_all();
    }
}

impl ConnectStep for LaneProbe {
    fn run(&self, connection: Connection, deadline: Instant) -> io::Result<Connection> {
        if !self.has_first.swap(true, Ordering::SeqCst) {
            return Ok(connection);
        }
        let Some((channel, upkeep)) = self.session(deadline) else { return Ok(connection) };
        // Over the only connection a session that is lost is made again.
        let others_live = channel.report().lanes.iter().any(|lane| lane.local.is_some());
        let Some(session) = show(&channel, |session, _| session.session()).flatten().filter(|_| others_live)
        else {
            return Ok(connection);
        };
        let prober =
            Prober { channel: &channel, upkeep: &upkeep, connection: &connection, session, deadline };
        if prober.is_refused() && prober.stands() {
            tracing::info!("the server takes the session over one connection only: there will be no others");
            show(&channel, |session, _| session.keep_to_one_lane());
            return Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "the server does not take the session here",
            ));
        }
        Ok(connection)
    }
}

impl LaneProbe {
    /// Waits for the session, but not for ever.
    fn session(&self, deadline: Instant) -> Option<(Arc<Channel>, Arc<Upkeep>)> {
        let deadline = deadline.min(Instant::now() + EARLY);
        let mut state = self.state.lock();
        loop {
            match &*state {
                ProbeState::Early => {}
                ProbeState::Session(channel, upkeep) => return channel.upgrade().zip(upkeep.upgrade()),
                ProbeState::Over => return None,
            }
            if self.changed.wait_until(&mut state, deadline).timed_out() {
                return None;
            }
        }
    }
}

/// A connection, and the session that it is to join.
struct Prober<'p> {
    channel: &'p Channel,
    upkeep: &'p Upkeep,
    connection: &'p Connection,
    session: SessionId,
    deadline: Instant,
}

impl Prober<'_> {
    /// Whether the server does not take the session over this connection. What says nothing of that counts as that it does.
    fn is_refused(&self) -> bool {
        let take = |session: &mut ClientSession, now| {
            let may = session.session() == Some(self.session) && session.has_ticket(TicketNeed::Upkeep);
            may.then(|| session.take(TicketNeed::Upkeep, now))
        };
        let status = match show(self.channel, take).flatten() {
            Some(ticket) => self.sequence(&ticket),
            // All slots are in use. This needs none.
            None => self.bind(),
        };
        let status = match status {
            Ok(Status::CONN_NOT_BOUND_TO_SESSION) => self.bind(),
            status => status,
        };
        tracing::debug!(?status, "a connection is to join the session");
        let foreign = [Status::BADSESSION, Status::DEADSESSION, Status::CONN_NOT_BOUND_TO_SESSION];
        status.is_ok_and(|status| foreign.contains(&status))
    }

    /// Whether the session stands over another connection.
    fn stands(&self) -> bool {
        let pending = self.upkeep.start_in_session(self.channel, self.upkeep.name.request(), &[]);
        let Some(Ok(answer)) = wait_at_most(pending, CONFIRM) else { return false };
        let results = Results { name: NAME, bytes: answer.results, repeated: false };
        let now = show(self.channel, |session, _| session.session()).flatten();
        results.read().is_ok() && now == Some(self.session)
    }

    /// SEQUENCE alone, with this ticket.
    fn sequence(&self, ticket: &CallTicket) -> io::Result<Status> {
        let compound = Compound::new(NAME, Class::Attributes, &[]);
        let minor_version = self.upkeep.minor_version;
        let arguments = InSession { minor_version, compound: &compound, keep: false };
        let answer = self.call(&arguments, |arguments| (UPKEEP_STAMP.write)(ticket, arguments));
        let status = answer.as_ref().ok().map(|results| status_of(results, sequence::OPERATION));
        let end = match (&answer, &status) {
            (Ok(results), Some(Ok(Status::OK))) => CallEnd::Ran(results),
            (Ok(_), _) => CallEnd::NotRun,
            (Err(_), _) => CallEnd::Unknown,
        };
        show(self.channel, |session, now| {
            session.release(ticket, end, CallSends { count: 1, last: now }, now);
        });
        answer.and_then(|results| status_of(&results, sequence::OPERATION))
    }

    /// BIND_CONN_TO_SESSION for the calls of the client.
    fn bind(&self) -> io::Result<Status> {
        let (session, operation) = (self.session, bind_conn_to_session::OPERATION);
        let arguments = bind_conn_to_session::Arguments { session, direction: WantedUse::Calls, rdma: false };
        let minor_version = self.upkeep.minor_version;
        let results = self.call(&Alone { minor_version, operation, arguments: &arguments }, |_| ())?;
        status_of(&results, operation)
    }

    /// Makes a call over the connection, and gives its results.
    fn call(&self, arguments: &dyn Encode, stamp: impl FnOnce(&mut [u8])) -> io::Result<Vec<u8>> {
        let header = CallHeader {
            xid: XID,
            program: PROGRAM,
            version: VERSION,
            procedure: COMPOUND,
            credentials: Credentials::None,
        };
        let mut call = Encoder::to_vec(&header);
        let at = call.len();
        arguments.encode(&mut Encoder::new(&mut call));
        stamp(&mut call[at..]);
        let reply = first_call(self.connection, &call, self.deadline)?;
        let mut decoder = Decoder::new(&reply);
        match ReplyHeader::decode(&mut decoder) {
            Ok(ReplyHeader { xid: XID, outcome: Ok(_) }) => Ok(decoder.rest().to_vec()),
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }
}

/// How the first operation ended.
fn status_of(results: &[u8], operation: u32) -> io::Result<Status> {
    let status = ResultReader::begin(NAME, results).and_then(|mut reader| reader.status_of(operation));
    match status {
        Ok(status) | Err(Stopped::Refused(_, status)) => Ok(status),
        Err(Stopped::Malformed) => Err(io::ErrorKind::InvalidData.into()),
    }
}
