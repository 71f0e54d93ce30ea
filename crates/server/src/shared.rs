//! What workers share: the sockets, the connections, the queue of connections handed on.

use std::collections::VecDeque;
use std::io;
use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use howdah_net::{Interest, Interface, Listener, Poller, QuicListener, Stream, Token, UdpSocket, Waker};
use howdah_rpc::server::BufferStore;
use howdah_tune::{SizeChange, Tuner};

use crate::activity::Activity;
use crate::caps::Caps;
use crate::connection::{Connection, Onlooker};
use crate::connections::Connections;
use crate::gates::Gates;
use crate::held_replies::HeldReplies;
use crate::limits::{CONNECTIONS_FLOOR, RECORD_MAX};
use crate::locks::{Mutex, MutexGuard};
use crate::parked::{Call, Parked};
use crate::room::{self, Place, WhoGoes};
use crate::samples::Samples;
use crate::secure::TlsDoor;
use crate::service::Service;
use crate::shares::Shares;
use crate::tuning::{Endings, Gone, Pressing};
use crate::udp::{Port, Ports};
use crate::weights::Weights;

/// The waker's token.
pub const WAKER: Token = Token(0);
/// Token of the first listener; connections come after the listeners.
const FIRST_SOCKET: u64 = 1;

/// What an event's token names.
pub enum Source {
    /// The waker.
    Waker,
    /// A listener, of TCP or, behind those, of QUIC.
    Listener(usize),
    /// A UDP socket.
    Udp(Arc<Port>),
    /// A connection.
    Connection(Arc<Connection>),
    /// A connection or UDP socket that is gone.
    Gone,
}

/// The state behind all workers.
pub struct Shared {
    /// What the programs share.
    pub service: Service,
    /// Readiness of every socket.
    pub poller: Poller,
    /// Wakes workers for the ready queue, and to stop.
    pub waker: Waker,
    /// Listening sockets.
    pub listeners: Vec<Listener>,
    /// Ports of QUIC.
    pub quic: Vec<QuicListener>,
    /// Datagram sockets.
    pub udp: Ports,
    /// Begins TLS, if there is a certificate for it.
    pub tls: Option<Arc<TlsDoor>>,
    /// Workers end when they see it.
    pub stopping: AtomicBool,
    /// No new call is read.
    pub draining: AtomicBool,
    /// Processors that we may use.
    pub processors: usize,
    /// Whether a second processor could take over what waits.
    pub parallel: bool,
    /// Who has had more than its share of them.
    pub shares: Shares,
    /// What waits until they have nothing better to do.
    pub parked: Parked,
    /// Tokens of Kerberos that wait for a helper.
    pub tokens: Parked,
    /// Receive buffers that all workers keep together.
    pub buffers: Arc<BufferStore>,
    /// Listeners that rest because no connection could be accepted.
    pub resting: Mutex<Vec<usize>>,
    /// What limits each connection, and how large its buffers are.
    pub tuner: Mutex<Tuner<Token>>,
    /// What connections are to be told because somebody turned a knob.
    pub told: Mutex<Vec<(Token, SizeChange)>>,
    /// What comes of memory being short.
    pub pressing: Pressing,
    /// What connections had moved when they ended.
    pub endings: Endings,
    /// Clients that have left of late.
    pub gone: Mutex<Gone>,
    /// What was seen of connections of late.
    pub samples: Mutex<Samples>,
    /// What the watch is to look at.
    pub watch: Activity,
    /// What the thread that sizes connections is to look at.
    pub sizing: Activity,
    /// The moment from which the tuner counts.
    pub started: Instant,
    /// What waits for exports that have as many calls as they may.
    pub gates: Gates,
    /// How much clients get of what is short, against others.
    pub weights: Weights,
    /// What some clients may have at most.
    pub caps: Caps,
    /// Replies that caps hold.
    pub held: HeldReplies,
    /// Workers that are to end.
    pub dismissed: AtomicUsize,
    /// Datagrams whose calls run now.
    pub datagrams_running: AtomicUsize,
    ready: Mutex<VecDeque<Arc<Connection>>>,
    connections: Connections,
    next_token: AtomicU64,
}

impl Shared {
    /// Everything in place, no socket armed yet, and no port of QUIC.
    #[cfg(test)]
    pub fn new(service: Service, listeners: Vec<Listener>, tuner: Tuner<Token>) -> io::Result<Self> {
        Self::with_quic(service, (listeners, Vec::new()), tuner)
    }

    /// Everything in place, no socket armed yet.
    pub fn with_quic(
        service: Service,
        (listeners, quic): (Vec<Listener>, Vec<QuicListener>),
        tuner: Tuner<Token>,
    ) -> io::Result<Self> {
        let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
        let first_connection = FIRST_SOCKET + (listeners.len() + quic.len()) as u64;
        Ok(Self {
            service,
            poller: Poller::new()?,
            waker: Waker::new()?,
            listeners,
            quic,
            udp: Ports::default(),
            tls: None,
            stopping: AtomicBool::new(false),
            draining: AtomicBool::new(false),
            processors,
            parallel: processors > 1,
            shares: Shares::new(processors),
            parked: Parked::default(),
            tokens: Parked::default(),
            resting: Mutex::default(),
            buffers: BufferStore::new(RECORD_MAX),
            tuner: Mutex::new(tuner),
            told: Mutex::default(),
            pressing: Pressing::default(),
            endings: Endings::default(),
            gone: Mutex::default(),
            samples: Mutex::default(),
            watch: Activity::default(),
            sizing: Activity::default(),
            started: Instant::now(),
            gates: Gates::new(),
            weights: Weights::default(),
            caps: Caps::default(),
            held: HeldReplies::default(),
            dismissed: AtomicUsize::new(0),
            datagrams_running: AtomicUsize::new(0),
            ready: Mutex::default(),
            connections: Connections::default(),
            next_token: AtomicU64::new(first_connection),
        })
    }

    /// Whether one of the workers is to end: the caller.
    pub fn dismisses_one(&self) -> bool {
        let fewer = |count: usize| count.checked_sub(1);
        self.dismissed.load(Ordering::Relaxed) > 0
            && self.dismissed.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fewer).is_ok()
    }

    /// Arms the waker and all listeners.
    pub fn open(&self) -> io::Result<()> {
        self.poller.add_waker(&self.waker, WAKER)?;
        for (index, listener) in self.listeners.iter().enumerate() {
            self.poller.add(listener, self.listener_token(index), Interest::READABLE)?;
        }
        for (index, listener) in self.quic.iter().enumerate() {
            let token = self.listener_token(self.listeners.len() + index);
            self.poller.add(listener, token, Interest::READABLE)?;
        }
        Ok(())
    }

    /// What a token names.
    pub fn source(&self, token: Token) -> Source {
        if token == WAKER {
            return Source::Waker;
        }
        if Ports::is_ours(token) {
            return self.udp.get(token).map_or(Source::Gone, Source::Udp);
        }
        let index = (token.0 - FIRST_SOCKET) as usize;
        if index < self.listeners.len() + self.quic.len() {
            return Source::Listener(index);
        }
        self.connections.get(token).map_or(Source::Gone, Source::Connection)
    }

    /// Arms a listener again.
    pub fn arm_listener(&self, index: usize) -> io::Result<()> {
        let token = self.listener_token(index);
        match self.listeners.get(index) {
            Some(listener) => self.poller.arm(listener, token, Interest::READABLE),
            None => self.poller.arm(&self.quic[index - self.listeners.len()], token, Interest::READABLE),
        }
    }

    /// The next connection, or stream of QUIC, that waits at a listener.
    pub fn accept(&self, index: usize) -> io::Result<Option<Stream>> {
        match self.listeners.get(index) {
            Some(listener) => listener.accept(),
            None => Ok(self.quic[index - self.listeners.len()].accept()),
        }
    }

    /// Arms a UDP socket again.
    pub fn arm_udp(&self, port: &Port) -> io::Result<()> {
        self.poller.arm(port, port.token(), Interest::READABLE)
    }

    /// Takes a UDP socket in: from now on workers answer what comes there.
    pub fn add_udp(&self, socket: UdpSocket, interface: Option<Interface>) -> io::Result<()> {
        let port = self.udp.add(socket, interface);
        let added = self.poller.add(&*port, port.token(), Interest::READABLE);
        if added.is_err() {
            self.udp.remove(&port);
        }
        added
    }

    /// Takes a new connection in.
    pub fn add(&self, stream: Stream) -> io::Result<()> {
        self.make_room();
        let token = Token(self.next_token.fetch_add(1, Ordering::Relaxed));
        let connection = Arc::new(Connection::new(token, stream));
        tracing::debug!(client = %connection.peer().ends.client, "connected");
        self.connections.insert(&connection);
        self.moved(&connection);
        let added = self.poller.add(connection.stream(), token, Interest::READABLE);
        if let Err(error) = &added {
            self.forget(&connection, error);
        }
        added
    }

    /// Whether a new connection is not taken in, since the kernel's memory is short: some are all the same, and one of each
    /// client, so that the server stays of use.
    pub fn turns_away(&self, stream: &Stream) -> bool {
        if !self.pressing.refuses() {
            return false;
        }
        let client = room::one_client(stream.peer().ends.client.ip());
        let is_its = |one: &Connection| room::one_client(one.peer().ends.client.ip()) == client;
        let turned_away = self.connections.count() >= CONNECTIONS_FLOOR && self.connections.any(is_its);
        if turned_away {
            self.pressing.count_refused();
            tracing::debug!(client = %stream.peer().ends.client, "turned away: the memory of connections is used up");
        }
        turned_away
    }

    /// Ends a connection: it closes when the last call that runs on it is done.
    pub fn close(&self, connection: &Connection, why: &dyn std::fmt::Display) {
        if self.forget(connection, why) {
            connection.stream().shut_down();
        }
    }

    /// Ends a connection for the sake of what it holds, in the kernel too: its peer gets no reply that it has not taken yet.
    pub fn cut(&self, connection: &Connection, why: &dyn std::fmt::Display) {
        if self.forget(connection, why) {
            connection.stream().cut();
        }
    }

    /// A call waits for those who are patient, unless its connection is gone: it would hold that.
    pub fn park(&self, call: Call) {
        let connection = Arc::clone(&call.connection);
        let weight = self.weights.of(connection.peer().ends.client.ip());
        self.parked.push(call, weight);
        // Who ended it meanwhile may have looked before.
        if !matches!(self.source(connection.token()), Source::Connection(_)) {
            self.parked.forget(&connection);
        }
    }

    fn forget(&self, connection: &Connection, why: &dyn std::fmt::Display) -> bool {
        let was_there = self.connections.remove(connection.token());
        if was_there {
            connection.onlookers().end();
            self.endings.add(self.started.elapsed(), connection);
            self.sizing.wake();
            if connection.is_parked() {
                self.parked.forget(connection);
            }
            if self.service.dispatcher.gss.is_some() {
                self.tokens.forget(connection);
            }
            self.gates.leave(connection);
            if connection.held().count() > 0 {
                self.held.forget(connection);
            }
            self.service.lost(connection.token());
            tracing::debug!(client = %connection.peer().ends.client, why = %why, "connection closed");
        }
        was_there
    }

    /// Whether a connection that nobody has seen the end of ended in order: its client sends no more, and has every answer.
    pub fn has_ended_in_order(&self, token: Token) -> bool {
        match self.source(token) {
            Source::Connection(connection) => connection.has_ended_in_order(),
            _ => false,
        }
    }

    /// All connections.
    pub fn connections(&self) -> Vec<Arc<Connection>> {
        let mut list = Vec::new();
        self.list_connections(&mut list);
        list
    }

    /// Bytes came over a connection, or some are sent that nobody asked for: those who look at connections look at it.
    pub fn moved(&self, connection: &Arc<Connection>) {
        if connection.onlookers().is_on_all() {
            return;
        }
        for (observer, activity) in [(Onlooker::Watch, &self.watch), (Onlooker::Sizing, &self.sizing)] {
            if connection.onlookers().put(observer) {
                activity.add(connection);
            }
        }
    }

    /// The tuner as it is now: while nothing moves, nobody else lets time pass for it.
    pub fn tuner_now(&self) -> MutexGuard<'_, Tuner<Token>> {
        let mut tuner = self.tuner.lock();
        tuner.on_time(self.started.elapsed());
        tuner
    }

    /// Appends all connections to a list that is used again and again.
    pub fn list_connections(&self, list: &mut Vec<Arc<Connection>>) {
        self.connections.each(|connection| list.push(Arc::clone(connection)));
    }

    /// Puts a connection before another worker: bytes of it are at hand that no event tells of.
    pub fn hand_on(&self, connection: Arc<Connection>) {
        self.ready.lock().push_back(connection);
        self.waker.wake();
    }

    /// The next connection that was handed on. If more wait, another worker is woken for them: two wakes may have
    /// come as one.
    pub fn next_ready(&self) -> Option<Arc<Connection>> {
        let mut ready = self.ready.lock();
        let next = ready.pop_front();
        if !ready.is_empty() {
            self.waker.wake();
        }
        next
    }

    /// Frees a place if all are taken: of the client that has most, an idle connection goes, if there is one.
    fn make_room(&self) {
        if room::has_place(self.connections.count()) {
            return;
        }
        if let Some(choice) = self.who_gives_way() {
            self.close_chosen(choice.token, "all connections are taken, and this client has most of them");
        }
    }

    /// Frees a file descriptor, if the client that has most connections has several, and an idle one; says whether it
    /// did. It does no more than that, since descriptors may have run out for other reasons than connections.
    pub fn free_descriptor(&self) -> bool {
        let choice = self.who_gives_way().filter(|choice| choice.idle && choice.of > 1);
        choice.is_some_and(|choice| {
            self.close_chosen(choice.token, "file descriptors ran out, and this client has most connections")
        })
    }

    fn who_gives_way(&self) -> Option<WhoGoes> {
        let place = |connection: &Arc<Connection>| Place {
            client: connection.peer().ends.client.ip(),
            idle: connection.is_idle(),
            calls: connection.inbox().records(),
            token: connection.token(),
        };
        let mut places = Vec::new();
        self.connections.each(|connection| places.push(place(connection)));
        room::who_gives_way(&places)
    }

    fn close_chosen(&self, token: Token, why: &str) -> bool {
        let Source::Connection(connection) = self.source(token) else { return false };
        self.close(&connection, &why);
        true
    }

    fn listener_token(&self, index: usize) -> Token {
        Token(FIRST_SOCKET + index as u64)
    }
}
