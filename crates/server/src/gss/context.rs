//! A context as this server has it. Threads share it, and it has no lock.

use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};

use howdah_gss::{GssContext, SequenceWindow};

use super::acceptor::AcceptedToken;
use crate::exports::KerberosPrincipal;

/// By how much clocks may differ in Kerberos, in seconds. A client whose clock is late still sends a ticket that has ended here.
const SKEW: u64 = 300;

/// A context with a client.
#[derive(Debug)]
pub struct ClientContext {
    keys: GssContext,
    window: SequenceWindow,
    principal: KerberosPrincipal,
    /// When its ticket ends, in seconds since 1970.
    expiry: u64,
    /// The host that made it, by which room is shared out. Calls may come from others.
    maker: IpAddr,
    /// In seconds since 1970.
    last_used: AtomicU64,
}

impl ClientContext {
    /// The context that a token made, of this principal, on behalf of this host.
    pub fn new(accepted: &AcceptedToken, principal: KerberosPrincipal, maker: IpAddr, now: u64) -> Self {
        Self {
            keys: GssContext::new(&accepted.lucid),
            window: SequenceWindow::new(),
            principal,
            expiry: accepted.lucid.expiry,
            maker,
            last_used: AtomicU64::new(now),
        }
    }

    /// What signs and encrypts.
    pub fn keys(&self) -> &GssContext {
        &self.keys
    }

    /// Which calls it has had.
    pub fn window(&self) -> &SequenceWindow {
        &self.window
    }

    /// Who is at the other end.
    pub fn principal(&self) -> &KerberosPrincipal {
        &self.principal
    }

    /// The host that made it.
    pub fn maker(&self) -> IpAddr {
        self.maker
    }

    /// Whether its ticket has ended by every clock, in seconds since 1970.
    pub fn has_ended(&self, now: u64) -> bool {
        self.expiry.saturating_add(SKEW) <= now
    }

    /// A call came through it.
    pub fn touch(&self, now: u64) {
        // One that is seldom written is shared by all caches.
        if self.last_used.load(Ordering::Relaxed) != now {
            self.last_used.store(now, Ordering::Relaxed);
        }
    }

    /// When the last call came through it, in seconds since 1970.
    pub fn last_used(&self) -> u64 {
        self.last_used.load(Ordering::Relaxed)
    }
}
