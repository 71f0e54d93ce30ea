//! The far server: where it is, what must be proven, and how a connection to it is made.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use howdah_client::channel::{Transport, is_tls, null_call, secure};
use howdah_client::connect::{ConnectError, own_caller, resolve, tls_of};
use howdah_client::mount::{Place, Search};
use howdah_client::url::NfsUrl;
use howdah_net::{ConnectSettings, Connection};
use howdah_tls::ClientTls;
use howdah_wire::rpc::{Accepted, Credentials, ReplyHeader};
use howdah_wire::xdr::{Decode, Decoder};
use howdah_wire::{mount, nfs3, portmap};
use parking_lot::{Mutex, RwLock};

/// How long one step of connecting may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long what was sent may stay unacknowledged before the far server counts as gone: as in `howdah mount`.
const SILENCE: Duration = Duration::from_secs(30);
/// A receive that waits does so no longer than this.
const TICK: Duration = Duration::from_secs(1);

/// A far server.
#[derive(Debug)]
pub struct Far {
    url: NfsUrl,
    nfs: u16,
    /// Where MOUNT is; `None`: nowhere.
    mount: Option<u16>,
    tls: RwLock<Option<ClientTls>>,
    /// The addresses that the name had last.
    addresses: Mutex<Vec<SocketAddr>>,
    /// The one that answered last.
    answered: Mutex<Option<IpAddr>>,
}

/// Why a far server cannot be passed on to.
#[derive(Debug)]
pub enum FarError {
    /// It has no address, or what TLS needs is missing.
    Connect(ConnectError),
    /// It cannot be reached, or is not who it should be.
    Unreachable(SocketAddr, io::Error),
    /// What answers there serves no NFS.
    NoNfs(SocketAddr),
}

impl fmt::Display for FarError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connect(error) => error.fmt(formatter),
            Self::Unreachable(address, error) if is_tls(error) => {
                write!(formatter, "the far server {address}: {error}")
            }
            Self::Unreachable(address, error) => write!(
                formatter,
                "cannot reach the far server {address}: {error}; does it run, and does a firewall let this host reach that port? \
                 Another port is named in the URL: nfs://HOST:PORT"
            ),
            Self::NoNfs(address) => write!(
                formatter,
                "{address} answers, but serves no NFS; name the port of NFS in the URL: nfs://HOST:PORT"
            ),
        }
    }
}

impl std::error::Error for FarError {}

impl Far {
    /// Finds a server's programs, and asks whether NFS is there.
    ///
    /// # Errors
    /// It cannot be reached, is not who it should be, or serves no NFS.
    pub fn find(url: &NfsUrl) -> Result<Self, FarError> {
        let tls = tls_of(url).map_err(FarError::Connect)?;
        let addresses = addresses(url).map_err(FarError::Connect)?;
        let mut last = None;
        for &portmapper in &addresses {
            let mut far = Self {
                url: url.clone(),
                nfs: portmapper.port(),
                mount: None,
                tls: RwLock::new(tls.clone()),
                addresses: Mutex::new(vec![portmapper]),
                answered: Mutex::new(None),
            };
            match far.look(portmapper) {
                Ok(()) => return Ok(Self { addresses: Mutex::new(addresses.clone()), ..far }),
                Err(error) => last = last.or(Some(error)),
            }
        }
        Err(last.expect("a host that was resolved has an address"))
    }

    /// Finds the ports of an address's programs.
    fn look(&mut self, portmapper: SocketAddr) -> Result<(), FarError> {
        let search = Search {
            portmapper,
            port: self.url.port,
            nfs_port: self.url.options.nfs_port,
            mount_port: self.url.options.mount_port,
            transport: Transport::Tcp,
            caller: own_caller(),
            patience: PATIENCE,
        };
        let places = search.run();
        self.nfs = places.nfs.port();
        let unreachable = |error| FarError::Unreachable(places.nfs, error);
        if !self.serves(self.nfs, (nfs3::PROGRAM, nfs3::VERSION)).map_err(unreachable)? {
            return Err(FarError::NoNfs(places.nfs));
        }
        let elsewhere = std::iter::once_with(|| search.elsewhere()).flatten();
        let streams = |place: &Place| !place.transport.is_datagrams();
        self.mount = (places.mount.into_iter().chain(elsewhere).filter(streams))
            .map(|place| place.address.port())
            .find(|&port| self.serves(port, (mount::PROGRAM, mount::VERSION_3)).unwrap_or(false));
        Ok(())
    }

    /// Whether a program is there, in any version.
    fn serves(&self, port: u16, program: (u32, u32)) -> io::Result<bool> {
        let settings = ConnectSettings { reserved_port: true, ..settings(None) };
        let connection = self.connect(port, settings)?;
        let answer = null_call(&connection, program, Credentials::None, Instant::now() + PATIENCE)?;
        connection.shut_down();
        let outcome = ReplyHeader::decode(&mut Decoder::new(&answer)).map(|header| header.outcome);
        Ok(!matches!(outcome, Ok(Ok(Accepted::ProgramUnavailable)) | Err(_)))
    }

    /// A connection for calls of that program. From a port below 1024 only if the client's is one: servers take it for a sign that the
    /// client's superuser vouches for who calls. A window of that size is offered from the start, where it may be.
    ///
    /// # Errors
    /// The server cannot be reached, or is not who it should be.
    pub fn open(
        &self,
        program: Option<u32>,
        reserved_port: bool,
        window: Option<u64>,
    ) -> io::Result<Connection> {
        let port = match program {
            Some(mount::PROGRAM) => self.mount.unwrap_or(self.nfs),
            _ => self.nfs,
        };
        self.refresh();
        let settings = ConnectSettings { reserved_port, ..settings(window) };
        let connection = self.connect(port, settings)?;
        connection.block_never()?;
        Ok(connection)
    }

    /// Connects to the first address that answers, beginning with the one that did last. They share the time that connecting may take.
    fn connect(&self, port: u16, settings: ConnectSettings) -> io::Result<Connection> {
        let (mut addresses, answered) = (self.addresses.lock().clone(), *self.answered.lock());
        addresses.sort_by_key(|address| Some(address.ip()) != answered);
        let timeout = PATIENCE / u32::try_from(addresses.len().max(1)).unwrap_or(u32::MAX);
        let settings = ConnectSettings { timeout: timeout.max(TICK), ..settings };
        let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
        for mut address in addresses {
            address.set_port(port);
            match Connection::open(address, &settings).and_then(|connection| self.secured(connection, port)) {
                Ok(connection) => {
                    *self.answered.lock() = Some(address.ip());
                    return Ok(connection);
                }
                // A far server that is not who it should be is reported, whatever the others are.
                Err(error) if is_tls(&error) => return Err(error),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// With TLS, if the URL asks for it. A MOUNT daemon of its own, as on Linux, knows no TLS.
    fn secured(&self, connection: Connection, port: u16) -> io::Result<Connection> {
        match self.tls.read().clone().filter(|_| port == self.nfs) {
            Some(tls) => secure(connection, &tls, (nfs3::PROGRAM, nfs3::VERSION), Instant::now() + PATIENCE),
            None => Ok(connection),
        }
    }

    /// The name may lead elsewhere by now.
    fn refresh(&self) {
        match addresses(&self.url) {
            Ok(found) => *self.addresses.lock() = found,
            Err(error) => tracing::debug!(%error, "the addresses of before are tried"),
        }
    }

    /// Reads the files of TLS again, for connections that are made from then on.
    ///
    /// # Errors
    /// One cannot be read or does not hold what it should; then all stays as it was.
    pub fn renew_tls(&self) -> Result<(), ConnectError> {
        *self.tls.write() = tls_of(&self.url)?;
        Ok(())
    }

    /// As it was named.
    pub fn url(&self) -> &NfsUrl {
        &self.url
    }

    /// Where NFS is.
    pub fn nfs_port(&self) -> u16 {
        self.nfs
    }

    /// Where MOUNT is, if it is anywhere.
    pub fn mount_port(&self) -> Option<u16> {
        self.mount
    }

    /// The addresses that its name has.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.addresses.lock().clone()
    }

    /// Who it must prove to be, if connections are protected by TLS.
    pub fn tls_name(&self) -> Option<String> {
        self.tls.read().as_ref().map(ClientTls::name)
    }

    /// Whether we prove who we are by a certificate.
    pub fn has_certificate(&self) -> bool {
        self.tls.read().as_ref().is_some_and(ClientTls::has_certificate)
    }
}

fn settings(window: Option<u64>) -> ConnectSettings {
    ConnectSettings {
        timeout: PATIENCE,
        silence: SILENCE,
        reserved_port: false,
        from: None,
        tick: TICK,
        window,
    }
}

fn addresses(url: &NfsUrl) -> Result<Vec<SocketAddr>, ConnectError> {
    resolve(&url.host, portmap::PORT)
        .map_err(|cause| ConnectError::Resolve { host: url.host.clone(), cause: cause.into() })
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn the_address_that_answered_last_is_tried_first() {
        let good = TcpListener::bind("127.0.0.3:0").expect("any port");
        let port = good.local_addr().expect("bound").port();
        let address = |text: &str| SocketAddr::new(text.parse().expect("an address"), port);
        let far = Far {
            url: "nfs://far/".parse().expect("a URL"),
            nfs: port,
            mount: None,
            tls: RwLock::new(None),
            addresses: Mutex::new(vec![address("127.0.0.2"), address("127.0.0.3")]),
            answered: Mutex::new(None),
        };
        let connected = || far.connect(port, settings(None)).map(|connection| connection.peer());
        assert_eq!(connected().expect("the second answers"), good.local_addr().expect("bound"));
        let _late = TcpListener::bind(address("127.0.0.2")).expect("free");
        assert_eq!(connected().expect("it answers"), good.local_addr().expect("bound"));
        drop(good);
        assert_eq!(connected().expect("the first answers by now"), address("127.0.0.2"));
    }
}
