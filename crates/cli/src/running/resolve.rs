//! From host names to addresses: at start and at every reload, never while a call waits.

use std::collections::HashMap;
use std::net::{IpAddr, ToSocketAddrs};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::configuration::{ClientPattern, ExportConfig};

/// How long all look-ups together may hold up a start or a reload.
const PATIENCE: Duration = Duration::from_secs(10);

/// The addresses of each host name in these exports. A name that is not answered in time, or not at all, is warned
/// of and matches nobody until the next reload.
pub fn addresses_of(exports: &[ExportConfig]) -> HashMap<String, Vec<IpAddr>> {
    let names = exports.iter().flat_map(|export| &export.clients).filter_map(|rule| match &rule.who {
        ClientPattern::Host(name) => Some(name.clone()),
        _ => None,
    });
    let mut found: HashMap<String, Vec<IpAddr>> = names.map(|name| (name, Vec::new())).collect();
    let (sender, receiver) = channel();
    for name in found.keys() {
        let (name, sender) = (name.clone(), sender.clone());
        // One thread each: the system's resolver has no time limit of its own that we could set.
        let ask = move || {
            let addresses = (name.as_str(), 0).to_socket_addrs();
            let addresses = addresses.map(|all| all.map(|one| one.ip().to_canonical()).collect::<Vec<_>>());
            let _ = sender.send((name, addresses));
        };
        if let Err(error) = thread::Builder::new().name("resolver".to_owned()).spawn(ask) {
            tracing::warn!(%error, "starting a thread to look up a client's name");
        }
    }
    drop(sender);
    let deadline = Instant::now() + PATIENCE;
    loop {
        match receiver.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok((name, Ok(addresses))) => {
                tracing::debug!(name, ?addresses, "looked up a client's name");
                found.insert(name, addresses);
            }
            Ok((name, Err(error))) => tracing::debug!(name, %error, "looking up a client's name"),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
        }
    }
    for (name, _) in found.iter().filter(|(_, addresses)| addresses.is_empty()) {
        tracing::warn!(name, "this client's name has no address: it may mount nothing until the next reload");
    }
    found
}
