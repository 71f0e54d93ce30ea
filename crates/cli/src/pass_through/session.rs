//! A pass-through relay from its start to its end, and what signals say meanwhile.

use std::process;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use anyhow::{Context, Error, Result};
use howdah_confine::{ConfinementPlan, confine};
use howdah_daemon::host::{
    RunningFile, ServiceManager, Signal, allow_many_open_files, catch_signals, own_addresses, prepare_state,
    read_signals, start_log,
};
use howdah_daemon::serve::has_low_ports;
use howdah_daemon::serve::{admin_socket, listeners, refuse_own_url};
use howdah_net::{Listener, LocalListener};
use howdah_relay::{Far, Relay};

use super::answers::RelayAnswers;
use super::screen::RelayScreen;
use super::settings::{PassingSettings, connections_within};
use crate::arguments::RelayArguments;
use crate::commands::Failure;
use crate::report::{self, reachable};

/// The longest time between two keep-alive messages to the service manager (`WATCHDOG=1`).
const LOOK: Duration = Duration::from_secs(10);

/// Passes calls through until a signal says to stop.
pub fn run(arguments: &RelayArguments) -> Result<(), Failure> {
    let mut settings = PassingSettings::of(arguments).map_err(Failure::Usage)?;
    start_log(arguments.log.log.as_deref(), arguments.log.log_format.unwrap_or_default());
    // Before anything else is started: a signal must not end us half way.
    let caught = catch_signals()?;
    let open_files = allow_many_open_files();
    let wanted = settings.relay.connections_max;
    settings.relay.connections_max = connections_within(wanted, open_files);
    if settings.relay.connections_max < wanted {
        let most = settings.relay.connections_max;
        tracing::warn!(
            "the limit of {open_files} open files allows {most} connections; raise it (ulimit -n, or LimitNOFILE= in the unit)"
        );
    }
    let listeners = listeners(&settings.listen)?;
    let listening: Vec<_> = listeners.iter().map(Listener::address).collect();
    refuse_own_url(&settings.far, &listening)?;
    let metrics = settings.metrics.map(listen_for_monitors).transpose()?;
    prepare_state(&settings.state)?;
    let mut file = RunningFile::new(&settings.state)?;
    let admin = admin_socket(&settings.admin, &file)?;
    tracing::info!("sandbox: {}", confine(&plan()));
    let signals = read_signals(caught)?;
    let far = Far::find(&settings.far).map_err(Error::from)?;
    let relay = Relay::start(far, listeners, &settings.relay).context("starting the relay")?;
    answer(&relay, admin.as_ref(), metrics.as_ref())?;
    let mut manager = ServiceManager::of_this_process();
    welcome(&relay, &settings, admin.as_ref(), &mut file, &manager)?;
    follow(&relay, &signals, &mut manager);
    manager.stopping();
    tracing::info!("stopping: closing client connections");
    drop(relay);
    Ok(())
}

/// Ports below 1024 are needed for clients that call from such. Certificates and names of hosts are read again as time goes by.
fn plan() -> ConfinementPlan<'static> {
    ConfinementPlan {
        low_ports: true,
        files: Err("certificates and the names of hosts are read again".to_owned()),
        system_calls: Err("a relay makes others".to_owned()),
    }
}

fn listen_for_monitors(address: std::net::SocketAddr) -> Result<Listener> {
    let step = || format!("listening on {address} for metrics; --metrics names another place");
    Listener::bind(address).with_context(step)
}

fn answer(relay: &Relay, admin: Option<&LocalListener>, metrics: Option<&Listener>) -> Result<()> {
    let answers = Arc::new(RelayAnswers::new(relay.reporter(), relay.addresses().to_vec()));
    if let Some(admin) = admin {
        Arc::clone(&answers).on_socket(admin)?;
    }
    if let Some(metrics) = metrics {
        answers.on_address(metrics)?;
        tracing::info!("metrics: http://{}/metrics", metrics.address());
    }
    Ok(())
}

/// Says in the log, to the service manager, to `howdah exports` and on the screen that we carry.
fn welcome(
    relay: &Relay,
    settings: &PassingSettings,
    admin: Option<&LocalListener>,
    file: &mut RunningFile,
    manager: &ServiceManager,
) -> Result<()> {
    let hosts = reachable(relay.addresses(), &own_addresses());
    let screen = RelayScreen {
        far: relay.far(),
        has_low_ports: has_low_ports(),
        sizing: &relay.report().sizing,
        connections_max: settings.relay.connections_max,
        hosts: &hosts,
        admin: admin.map(LocalListener::path),
        process: process::id(),
    };
    let screen = screen.text();
    file.show(&screen)?;
    let addresses: Vec<String> = relay.addresses().iter().map(ToString::to_string).collect();
    let addresses = addresses.join(", ");
    tracing::info!(%addresses, far = %relay.far().url(), "passing calls through");
    manager.ready(&format!("Passing calls through to {} on {addresses}", relay.far().url()));
    report::print(&screen);
    Ok(())
}

/// Does what signals say, until one says to stop.
fn follow(relay: &Relay, signals: &Receiver<Signal>, manager: &mut ServiceManager) {
    loop {
        match signals.recv_timeout(manager.due_in().unwrap_or(LOOK)) {
            Ok(Signal::Reload) => match relay.far().renew_tls() {
                Ok(()) => tracing::info!("certificates reloaded: new connections use them"),
                Err(error) => tracing::warn!("reload refused, the old certificates stay: {error}"),
            },
            Ok(Signal::Stop) | Err(RecvTimeoutError::Disconnected) => return,
            Err(RecvTimeoutError::Timeout) => manager.alive(),
        }
    }
}
