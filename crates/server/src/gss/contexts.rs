//! All contexts, by the names that clients send (RFC 2203 5.2.2). One may go at any time: its client makes another.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::net::IpAddr;
use std::sync::Arc;

use crate::limits::{CONTEXTS_MAX, CONTEXTS_OF_ONE_MAX};
use crate::locks::{Mutex, RwLock};
use crate::room::one_client;

use super::context::ClientContext;

/// What a client calls a context: random, so that nobody guesses one.
pub type ContextHandle = [u8; 16];

/// Parts of the table, by the first byte of the name.
const PARTS: usize = 16;

type Part = HashMap<ContextHandle, Arc<ClientContext>, BuildHasherDefault<HandleBits>>;

/// A hash of names that are random already: some of their bits. Every call needs one.
#[derive(Debug, Default)]
struct HandleBits(u64);

impl Hasher for HandleBits {
    fn write(&mut self, bytes: &[u8]) {
        for bytes in bytes.chunks_exact(8) {
            self.0 ^= u64::from_be_bytes(bytes.try_into().expect("eight bytes"));
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// All contexts.
#[derive(Debug, Default)]
pub struct ContextTable {
    parts: [RwLock<Part>; PARTS],
    /// How many each client has made that are still there. Also taken to add or remove one.
    of_client: Mutex<HashMap<IpAddr, usize>>,
}

impl ContextTable {
    /// The context of this name.
    pub fn find(&self, handle: &[u8]) -> Option<Arc<ClientContext>> {
        let handle: &ContextHandle = handle.try_into().ok()?;
        self.part(handle).read().get(handle).map(Arc::clone)
    }

    /// Another one. If its client has too many, or all have, one of them goes: of those whose user nobody knows the one that was
    /// used least of late, and else of all.
    pub fn add(&self, handle: ContextHandle, context: Arc<ClientContext>, now: u64) {
        let client = one_client(context.maker());
        let mut of_client = self.of_client.lock();
        let own = of_client.get(&client).copied().unwrap_or(0);
        if own >= CONTEXTS_OF_ONE_MAX {
            self.remove_least(&mut of_client, now, |other| one_client(other.maker()) == client);
        } else if of_client.values().sum::<usize>() >= CONTEXTS_MAX {
            self.remove_least(&mut of_client, now, |_| true);
        }
        *of_client.entry(client).or_default() += 1;
        self.part(&handle).write().insert(handle, context);
    }

    /// The context of this name is no more.
    pub fn remove(&self, handle: &[u8]) {
        let Ok(handle) = handle.try_into() else { return };
        Self::forget(&mut self.of_client.lock(), self.part(handle).write().remove(handle));
    }

    /// Removes those whose ticket has ended.
    pub fn sweep(&self, now: u64) {
        let mut of_client = self.of_client.lock();
        for part in &self.parts {
            let ended: Vec<_> = part.write().extract_if(|_, context| context.has_ended(now)).collect();
            ended.into_iter().for_each(|(_, context)| Self::forget(&mut of_client, Some(context)));
        }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.of_client.lock().values().sum()
    }

    fn remove_least(
        &self,
        of_client: &mut HashMap<IpAddr, usize>,
        now: u64,
        may_go: impl Fn(&ClientContext) -> bool,
    ) {
        let rank = |context: &ClientContext| {
            (!context.has_ended(now), context.principal().kind().user().is_some(), context.last_used())
        };
        let least_of = |part: &RwLock<Part>| {
            let part = part.read();
            let all = part.iter().filter(|(_, context)| may_go(context));
            all.map(|(handle, context)| (rank(context), *handle)).min()
        };
        if let Some((_, handle)) = self.parts.iter().filter_map(least_of).min() {
            Self::forget(of_client, self.part(&handle).write().remove(&handle));
        }
    }

    fn forget(of_client: &mut HashMap<IpAddr, usize>, context: Option<Arc<ClientContext>>) {
        let Some(context) = context else { return };
        let client = one_client(context.maker());
        if let Some(count) = of_client.get_mut(&client) {
            *count -= 1;
            if *count == 0 {
                of_client.remove(&client);
            }
        }
    }

    fn part(&self, handle: &ContextHandle) -> &RwLock<Part> {
        &self.parts[usize::from(handle[0]) % PARTS]
    }
}

#[cfg(test)]
mod tests {
    use howdah_gss::{ContextSide, LucidContext, SessionKey};

    use super::*;
    use crate::exports::{PrincipalMap, PrincipalSettings};
    use crate::gss::AcceptedToken;

    fn context(client: [u8; 4], principal: &str, expiry: u64, used: u64) -> Arc<ClientContext> {
        let key = SessionKey::new(18, &[7; 32]).expect("a key");
        let (side, acceptor_subkey, send_sequence) = (ContextSide::Acceptor, true, 1);
        let accepted = AcceptedToken {
            reply: Vec::new(),
            client: principal.to_owned(),
            service: "nfs/server@R".to_owned(),
            lucid: LucidContext { side, key, acceptor_subkey, send_sequence, expiry },
        };
        let principal = PrincipalMap::new(PrincipalSettings::default()).map(principal, "R");
        Arc::new(ClientContext::new(&accepted, principal, client.into(), used))
    }

    fn handle(number: usize) -> ContextHandle {
        let mut handle = [0; 16];
        handle[..8].copy_from_slice(&number.to_be_bytes());
        handle[0] = number as u8;
        handle
    }

    #[test]
    fn the_context_that_is_used_least_makes_room() {
        let table = ContextTable::default();
        let add = |number, context| table.add(handle(number), context, 100);
        add(0, context([192, 0, 2, 1], "host/a@R", 1000, 100));
        add(1, context([192, 0, 2, 1], "alice@R", 1000, 50));
        for number in 2..CONTEXTS_OF_ONE_MAX {
            add(number, context([192, 0, 2, 1], "bob@R", 1000, 60));
        }
        add(CONTEXTS_OF_ONE_MAX, context([192, 0, 2, 1], "carol@R", 1000, 99));
        assert_eq!(table.count(), CONTEXTS_OF_ONE_MAX);
        assert!(table.find(&handle(0)).is_none(), "of nobody's user, though it is in use");
        add(CONTEXTS_OF_ONE_MAX + 1, context([192, 0, 2, 1], "carol@R", 1000, 99));
        assert!(table.find(&handle(1)).is_none(), "the one that was used least of late");
        // Others have room until there is none in all.
        let mut number = CONTEXTS_OF_ONE_MAX + 2;
        while table.count() < CONTEXTS_MAX {
            add(number, context([192, 0, 2, 2 + (number / 1000) as u8], "bob@R", 1000, 70));
            number += 1;
        }
        add(number, context([198, 51, 100, 1], "dave@R", 1000, 99));
        assert_eq!(table.count(), CONTEXTS_MAX);
        assert!(table.find(&handle(number)).is_some());
    }

    #[test]
    fn those_whose_ticket_has_ended_are_removed() {
        let table = ContextTable::default();
        for (number, expiry) in [(1, 10), (2, 11), (3, 12)] {
            table.add(handle(number), context([192, 0, 2, 1], "alice@R", expiry, 1), 1);
        }
        // Clocks may differ by five minutes.
        table.sweep(309);
        assert_eq!(table.count(), 3);
        table.sweep(311);
        assert_eq!((table.count(), table.find(&handle(3)).is_some()), (1, true));
        table.remove(&handle(3));
        table.remove(&handle(3));
        table.remove(b"short");
        assert_eq!(table.count(), 0);
        table.add(handle(4), context([192, 0, 2, 1], "alice@R", 99, 1), 1);
        assert_eq!(table.count(), 1);
    }
}
