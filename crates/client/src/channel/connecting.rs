//! Connecting to a server, and what is done on a connection before calls go over it.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use howdah_net::{ConnectSettings, Connection, QuicDialer};

use super::{ChannelOptions, Patience, sizes};

/// How long a receive waits before it looks whether it is still wanted.
pub(super) const RECEIVE_TICK: Duration = Duration::from_millis(100);

/// What is done on each connection that was just made, before calls go over it: TLS begins, a session is bound to it.
pub trait ConnectStep: Send + Sync {
    /// Does it, until `deadline`.
    ///
    /// # Errors
    /// The connection is of no use, and why.
    fn run(&self, connection: Connection, deadline: Instant) -> io::Result<Connection>;
}

/// How a channel connects.
pub(super) struct Connector {
    settings: ConnectSettings,
    steps: Vec<Arc<dyn ConnectStep>>,
    /// Opens streams of QUIC, where lanes are that.
    quic: Option<Quic>,
}

/// A first call, until a deadline.
pub(super) type Proof = Box<dyn Fn(&Connection, Instant) -> io::Result<()> + Send + Sync>;

/// How streams of QUIC are opened.
pub(super) struct Quic {
    pub(super) dialer: QuicDialer,
    /// Makes sure that the server took our certificate, if we have one.
    pub(super) proof: Option<Proof>,
}

impl Connector {
    /// With these options, and these steps.
    pub(super) fn new(
        options: &ChannelOptions,
        steps: Vec<Arc<dyn ConnectStep>>,
        quic: Option<Quic>,
    ) -> Self {
        let tick = match options.patience {
            Patience::Soft(patience) => patience.max(Duration::from_millis(1)),
            Patience::Hard | Patience::WhileHeard(_) => Duration::MAX,
        };
        let settings = ConnectSettings {
            timeout: options.connect_timeout,
            silence: options.silence,
            reserved_port: options.reserved_port,
            from: None,
            tick: RECEIVE_TICK.min(tick),
            window: sizes::first_window(options.memory_budget as u64),
        };
        Self { settings, steps, quic }
    }

    /// Whether lanes are streams of QUIC.
    pub(super) fn is_quic(&self) -> bool {
        self.quic.is_some()
    }

    /// Connects for the first time, and takes no steps.
    pub(super) fn open_first(&self, address: SocketAddr) -> io::Result<Connection> {
        let Some(quic) = &self.quic else { return Connection::open(address, &self.settings) };
        let connection = quic.dialer.open(address, &self.settings)?;
        if let Some(prove) = &quic.proof {
            // The handshake is done before the server has looked at our certificate.
            prove(&connection, Instant::now() + self.settings.timeout)
                .map_err(|error| connection.why_lost().unwrap_or(error))?;
        }
        Ok(connection)
    }

    /// How a socket is made and connected.
    pub(super) fn settings(&self) -> &ConnectSettings {
        &self.settings
    }

    /// Connects, and takes the steps.
    pub(super) fn open(&self, address: SocketAddr) -> io::Result<Connection> {
        let connection = match &self.quic {
            Some(quic) => quic.dialer.open(address, &self.settings)?,
            None => Connection::open(address, &self.settings)?,
        };
        self.prepare(connection)
    }

    /// The same from this port, no longer than so.
    pub(super) fn open_from(&self, address: SocketAddr, port: u16, most: Duration) -> io::Result<Connection> {
        if self.is_quic() {
            return self.open(address);
        }
        let timeout = self.settings.timeout.min(most);
        let settings = ConnectSettings { from: Some(port), timeout, ..self.settings };
        self.prepare(Connection::open(address, &settings)?)
    }

    /// Takes the steps on a connection that was just made.
    pub(super) fn prepare(&self, connection: Connection) -> io::Result<Connection> {
        let deadline = Instant::now() + self.settings.timeout;
        self.steps.iter().try_fold(connection, |connection, step| step.run(connection, deadline))
    }
}
