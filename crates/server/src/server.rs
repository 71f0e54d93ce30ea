//! A running server: started with sockets and exports, stopped when its calls are done.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use howdah_net::{EngineSecret, InterfaceEvents, Listener, LocalListener, QuicPort, UdpSocket};
use howdah_tls::ServerTls;
use howdah_tune::Tuner;

use crate::Transport;
use crate::admin::{Admin, AdminAddress, AdminSockets, MetricsSettings};
use crate::caps::CapRule;
use crate::client_lines::ClientLines;
use crate::crew::Crew;
use crate::exports::Exports;
use crate::heads::head_report;
use crate::limits;
use crate::nsm::Notices;
use crate::secure::TlsDoor;
use crate::service::Service;
use crate::shared::Shared;
use crate::states::{ServingHead, States};
use crate::tuning::{self, Knob, KnobError, Knobs, Sizing, Tuning, TuningReport, Watcher};
use crate::udp::{Follower, PerInterface, UdpSettings, UdpTraffic};
use crate::watch::Watch;
use crate::weights::ShareRule;
use crate::worker::Worker;

/// How often a stopping server looks whether its calls are done.
const DRAIN_STEP: Duration = Duration::from_millis(5);
/// How often it is looked whether leases have ended.
const LEASE_STEP: Duration = Duration::from_secs(1);
/// How often while nobody has one: shorter than any lease.
const LEASE_REST: Duration = Duration::from_secs(5);
/// How often the watch on files ends of which nobody has a delegation any more.
const WATCHED_STEP: Duration = Duration::from_secs(30);
/// How long the end of a server waits for its threads, all together.
const END_PATIENCE: Duration = Duration::from_secs(1);

/// The sockets that a server serves.
#[derive(Debug, Default)]
pub struct Sockets {
    /// Listening.
    pub tcp: Vec<Listener>,
    /// Bound.
    pub udp: Vec<UdpSocket>,
    /// Bound, for QUIC.
    pub quic: Vec<QuicPort>,
    /// What interfaces have sockets for besides.
    pub per_interface: PerInterface,
    /// Where the server may be asked what it does.
    pub admin: Option<LocalListener>,
    /// Where those may ask it who have the token: a browser.
    pub admin_address: Option<AdminAddress>,
    /// Where monitors may ask, and nothing but figures.
    pub metrics: Option<Listener>,
}

/// How a server runs.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Calls of one export that may wait for storage at the same time. So many threads there are at least; others are started
    /// while calls wait.
    pub workers: usize,
    /// How connections are sized.
    pub tuning: Tuning,
    /// Who is shown every look at a connection; needs tuning.
    pub watcher: Option<Watcher>,
    /// What monitors are told beyond the usual.
    pub metrics: MetricsSettings,
    /// What connections are encrypted with, if clients ask for that.
    pub tls: Option<ServerTls>,
    /// What some clients may have at most.
    pub caps: Vec<CapRule>,
    /// How much clients get of what is short, against others.
    pub shares: Vec<ShareRule>,
    /// What every call waits for before it reaches storage, for an experiment: it is named where it limits.
    pub delay: Option<Duration>,
}

/// A server that runs until it is stopped or dropped.
pub struct Server {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    interfaces: Option<Arc<InterfaceEvents>>,
    knobs: Arc<Knobs>,
    /// A thread waits for replies that caps hold.
    has_caps: bool,
    admin: Option<Admin>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            workers: limits::WORKERS,
            tuning: Tuning::default(),
            watcher: None,
            metrics: MetricsSettings::default(),
            tls: None,
            caps: Vec::new(),
            shares: Vec::new(),
            delay: None,
        }
    }
}

impl Sockets {
    /// Binds TCP and, unless told otherwise, UDP at each address. With port 0, UDP takes the port that TCP was given.
    ///
    /// # Errors
    /// The address that could not be bound, how, and why.
    pub fn bind(addresses: &[SocketAddr], udp: bool) -> Result<Self, BindError> {
        Self::bind_with(addresses, udp.then(UdpSettings::default).as_ref())
    }

    /// The same with so many UDP sockets, or none.
    ///
    /// # Errors
    /// As [`Sockets::bind`].
    pub fn bind_with(addresses: &[SocketAddr], udp: Option<&UdpSettings>) -> Result<Self, BindError> {
        let mut sockets = Self::default();
        for &address in addresses {
            let fail = |transport| move |cause| BindError { address, transport, cause };
            let listener = Listener::bind(address).map_err(fail(Transport::Tcp))?;
            let real = listener.address();
            sockets.tcp.push(listener);
            let Some(udp) = udp else { continue };
            sockets.udp.extend(udp.bind(real).map_err(fail(Transport::Udp))?);
            if udp.follows(real) {
                sockets.per_interface.addresses.push(real);
                sockets.per_interface.sockets = udp.group();
            }
        }
        Ok(sockets)
    }

    /// Binds a UDP port for QUIC at each address.
    ///
    /// # Errors
    /// The address that could not be bound, and why.
    pub fn bind_quic(&mut self, addresses: &[SocketAddr], tls: &ServerTls) -> Result<(), BindError> {
        for &address in addresses {
            let fail = |cause| BindError { address, transport: Transport::Quic, cause };
            self.quic.push(QuicPort::bind(address, tls.clone()).map_err(fail)?);
        }
        Ok(())
    }

    /// Each transport and address served, but for QUIC, which no portmapper knows.
    pub fn addresses(&self) -> Vec<(Transport, SocketAddr)> {
        let tcp = self.tcp.iter().map(|socket| (Transport::Tcp, socket.address()));
        let mut udp: Vec<_> = self.udp.iter().map(|socket| (Transport::Udp, socket.address())).collect();
        // Sockets that share an address follow each other.
        udp.dedup();
        tcp.chain(udp).collect()
    }
}

/// An address that cannot be bound.
#[derive(Debug)]
pub struct BindError {
    /// The address.
    pub address: SocketAddr,
    /// For which transport.
    pub transport: Transport,
    /// Why.
    pub cause: io::Error,
}

impl std::fmt::Display for BindError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "binding {} for {}: {}", self.address, self.transport, self.cause)
    }
}

impl std::error::Error for BindError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.cause)
    }
}

impl Server {
    /// Starts to serve.
    ///
    /// # Errors
    /// What the host refuses: threads, descriptors.
    pub fn start(settings: &Settings, sockets: Sockets, exports: Exports) -> io::Result<Self> {
        Self::start_service(settings, sockets, Service::new(exports))
    }

    /// Starts to serve what was put together elsewhere.
    ///
    /// # Errors
    /// As [`Server::start`].
    pub fn start_service(settings: &Settings, sockets: Sockets, service: Service) -> io::Result<Self> {
        *service.listeners.write() = sockets.addresses();
        let sizes = settings.tuning.on_this_host()?;
        if settings.tuning.enabled {
            tracing::info!("{}", sizes.host.explain());
            if let Some(unmet) = settings.tuning.unmet(&sizes.host) {
                tracing::warn!("{unmet}");
            }
        }
        for listener in &sockets.tcp {
            listener.set_congestion(sizes.congestion)?;
            listener.set_unsent_mark(if settings.tuning.enabled { tuning::FIRST_MARK } else { 0 })?;
            if settings.tuning.enabled {
                listener.bound_retransmission();
            }
        }
        let secret = service.quic_secret();
        let quic = sockets.quic.into_iter().map(|port| port.serve(EngineSecret(secret)));
        let quic = quic.collect::<io::Result<Vec<_>>>()?;
        let mut shared = Shared::with_quic(service, (sockets.tcp, quic), Tuner::new(sizes))?;
        shared.tls = settings.tls.clone().map(|tls| Arc::new(TlsDoor::new(tls)));
        let shared = Arc::new(shared);
        let knobs = Arc::new(Knobs::new(None));
        let mut server = Self {
            shared: Arc::clone(&shared),
            threads: Vec::new(),
            interfaces: None,
            knobs,
            has_caps: false,
            admin: None,
        };
        let crew = Crew::start(Arc::clone(&shared), settings.workers.max(1))?;
        for index in 0..shared.processors.min(limits::PATIENT_WORKERS_MAX) {
            let worker = Worker::patient(Arc::clone(&shared));
            server.spawn(format!("patient-{index}"), move || worker.run_patiently())?;
        }
        if let Some(door) = shared.service.dispatcher.gss.clone() {
            for index in 0..door.width() {
                let (worker, door) = (Worker::patient(Arc::clone(&shared)), Arc::clone(&door));
                server.spawn(format!("tokens-{index}"), move || worker.run_tokens(&door))?;
            }
        }
        let watch = Watch::new(Arc::clone(&shared), crew);
        server.spawn("watch".into(), move || watch.run())?;
        if let Some(back) = &shared.service.back_channels {
            back.send_over(Box::new(ClientLines::new(&shared)));
        }
        if let Some(states) = shared.service.states.clone() {
            let shared = Arc::clone(&shared);
            server.spawn("leases".into(), move || pass_time(&shared, &states))?;
        }
        if settings.tuning.enabled {
            let networks = settings.tuning.networks.clone();
            let sizing = Sizing::new(Arc::clone(&shared), settings.watcher.clone(), networks, settings.delay);
            server.spawn("sizing".into(), move || sizing.run())?;
            server.knobs = Arc::new(Knobs::new(server.threads.last().map(|thread| thread.thread().clone())));
        }
        let admin =
            AdminSockets { local: sockets.admin, address: sockets.admin_address, metrics: sockets.metrics };
        if admin.is_some() {
            let (shared, knobs) = (Arc::clone(&shared), Arc::clone(&server.knobs));
            server.admin = Some(Admin::start(shared, knobs, admin, settings.metrics)?);
        }
        server.set_caps(&settings.caps)?;
        server.set_shares(settings.shares.clone());
        shared.open()?;
        for socket in sockets.udp {
            shared.add_udp(socket, None)?;
        }
        server.follow_interfaces(sockets.per_interface)?;
        server.call_for_locks()?;
        Ok(server)
    }

    /// Starts what calls clients for their locks: those that had some reclaim them now that they are answered.
    fn call_for_locks(&mut self) -> io::Result<()> {
        let service = &self.shared.service;
        let Some((calls, states)) = service.lock_calls.clone().zip(service.states.clone()) else {
            return Ok(());
        };
        let hosts = states.hosts_to_notify();
        let tellers = Notices::threads_for(hosts.len());
        calls.notices.tell(hosts);
        for index in 0..limits::CALLBACK_THREADS {
            let granting = calls.granting.clone();
            self.spawn(format!("nlm-calls-{index}"), move || granting.run_grants())?;
        }
        for index in 0..limits::ANSWER_THREADS {
            let granting = calls.granting.clone();
            self.spawn(format!("nlm-answers-{index}"), move || granting.run_answers())?;
        }
        for index in 0..tellers {
            let notices = Arc::clone(&calls.notices);
            self.spawn(format!("nsm-calls-{index}"), move || notices.run())?;
        }
        Ok(())
    }

    /// That the kernel does not tell of interfaces is no failure: the wildcards are there.
    fn follow_interfaces(&mut self, wanted: PerInterface) -> io::Result<()> {
        if wanted.addresses.is_empty() {
            return Ok(());
        }
        match Follower::start(Arc::clone(&self.shared), wanted) {
            Ok(follower) => {
                self.interfaces = Some(follower.events());
                self.spawn("interfaces".into(), move || follower.run())
            }
            Err(error) => {
                tracing::warn!(%error, "no UDP sockets per interface: the kernel does not report interfaces");
                Ok(())
            }
        }
    }

    /// Each transport and address served, with real ports.
    pub fn addresses(&self) -> Vec<(Transport, SocketAddr)> {
        let mut addresses = self.shared.service.listeners.read().clone();
        addresses.extend(self.shared.quic.iter().map(|port| (Transport::Quic, port.address())));
        addresses
    }

    /// What came and went over UDP, by address and interface.
    pub fn udp_traffic(&self) -> Vec<UdpTraffic> {
        self.shared.udp.traffic()
    }

    /// What the programs share: exports, mounts.
    pub fn service(&self) -> &Service {
        &self.shared.service
    }

    /// Serves other exports from now on; no connection is dropped, and calls that run keep the old ones.
    pub fn reload(&self, exports: Exports) {
        self.shared.service.set_exports(exports);
        self.shared.caps.set_places(&self.shared.service.dispatcher.counts.named_places());
    }

    /// From now on clients have these weights.
    pub fn set_shares(&self, shares: Vec<ShareRule>) {
        self.shared.weights.set(shares);
    }

    /// From now on these are the caps of clients. The first ones start a thread, which waits for replies that are held.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn set_caps(&mut self, rules: &[CapRule]) -> io::Result<()> {
        if !rules.is_empty() && !std::mem::replace(&mut self.has_caps, true) {
            let worker = Worker::patient(Arc::clone(&self.shared));
            self.spawn("held-replies".into(), move || worker.run_held())?;
        }
        self.shared.caps.set_rules(rules, &self.shared.service.dispatcher.counts.named_places());
        Ok(())
    }

    /// What can be set while it runs, as it stands.
    pub fn knobs(&self) -> Vec<Knob> {
        self.knobs.show(&self.shared)
    }

    /// Sets a knob: new connections have it at once, live ones as far as the kernel allows. `auto` and `0` go back to
    /// automatic.
    ///
    /// # Errors
    /// There is no such knob, or it cannot be set to that, for the reason told.
    pub fn set_knob(&self, name: &str, value: &str) -> Result<Knob, KnobError> {
        self.knobs.set(&self.shared, name, value)
    }

    /// What limits each connection, what it was given, where its time went.
    pub fn tuning_report(&self) -> TuningReport {
        tuning::report(&self.shared, self.knobs.are_on())
    }

    /// Stops: reads no further call, finishes those that run, sends their replies and sees them arrive, as far as `patience`
    /// reaches. Says whether all that was done.
    pub fn stop(mut self, patience: Duration) -> bool {
        self.shared.draining.store(true, Ordering::SeqCst);
        self.shared.held.release();
        let deadline = Instant::now() + patience;
        let mut done = self.is_idle();
        while !done && Instant::now() < deadline {
            std::thread::sleep(DRAIN_STEP);
            done = self.is_idle();
        }
        self.end();
        done
    }

    fn is_idle(&self) -> bool {
        self.shared.datagrams_running.load(Ordering::SeqCst) == 0
            && self.shared.connections().iter().all(|connection| {
                // A connection of which nothing can be told is gone.
                connection.is_idle() && connection.stream().has_arrived().unwrap_or(true)
            })
    }

    fn end(&mut self) {
        self.admin = None;
        self.shared.stopping.store(true, Ordering::SeqCst);
        self.shared.parked.end();
        self.shared.tokens.end();
        self.shared.held.end();
        if let Some(calls) = &self.shared.service.lock_calls {
            calls.granting.end();
            calls.notices.end();
        }
        if let Some(interfaces) = &self.interfaces {
            interfaces.wake();
        }
        for thread in &self.threads {
            self.shared.waker.wake();
            thread.thread().unpark();
        }
        let deadline = Instant::now() + END_PATIENCE;
        for thread in self.threads.drain(..) {
            while !thread.is_finished() && Instant::now() < deadline {
                std::thread::sleep(Duration::from_millis(1));
            }
            if thread.is_finished() {
                let _ = thread.join();
            }
        }
        for connection in self.shared.connections() {
            self.shared.close(&connection, &"the server stops");
        }
    }

    fn spawn(&mut self, name: String, body: impl FnOnce() + Send + 'static) -> io::Result<()> {
        self.threads.push(std::thread::Builder::new().name(name).stack_size(limits::STACK).spawn(body)?);
        Ok(())
    }
}

/// Lets time pass for the state of clients until the server stops.
fn pass_time(shared: &Shared, states: &States) {
    let mut tidied = Instant::now();
    while !shared.stopping.load(Ordering::SeqCst) {
        if let Some(cluster) = states.cluster() {
            follow_addresses(shared, states, cluster);
        }
        states.tick();
        tidied = tidy_watched(shared, tidied);
        if let Some(back) = &shared.service.back_channels {
            back.tick();
        }
        std::thread::park_timeout(if states.is_at_rest() { LEASE_REST } else { LEASE_STEP });
    }
}

/// Lets file systems notice no longer what happens to files that nobody has a delegation of any more. Says when that was done last.
fn tidy_watched(shared: &Shared, last: Instant) -> Instant {
    if last.elapsed() < WATCHED_STEP {
        return last;
    }
    let exports = shared.service.exports();
    exports.iter().filter_map(|export| export.local_changes()).for_each(|local| local.tidy());
    Instant::now()
}

/// Looks which addresses clients call, and which ones other heads of the cluster have taken. Clients of version 3 that have locks say
/// nothing until they are told to reclaim them.
fn follow_addresses(shared: &Shared, states: &States, cluster: &ServingHead) {
    let lost = states.leave_lost_addresses();
    for connection in shared.connections() {
        let address = connection.peer().ends.server.ip().to_canonical();
        if lost.contains(&address) {
            // Left open, it would be taken for one that came after the address was back.
            shared.cut(&connection, &"another head serves its address");
            continue;
        }
        // What fails was logged, and is tried again.
        let _ = states.serve_address(address);
    }
    cluster.publish(&head_report(shared));
    let untold = cluster.untold_hosts();
    if let Some(calls) = shared.service.lock_calls.as_ref().filter(|_| !untold.is_empty()) {
        calls.notices.tell(untold);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}
