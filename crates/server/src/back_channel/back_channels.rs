//! The back channels of all sessions.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use crate::locks::Mutex;
use howdah_net::Token;
use howdah_state::{ClientId, SessionId, StateId};
use howdah_wire::nfs4::sequence::CALLBACK_PATH_DOWN;

use super::back_call::BackCall;
use super::channel::{BackChannel, BackRecord};
use super::session::{BackCredentials, BackSession};
use crate::exports::Exported;
use crate::states::{ClientNews, FileKey, States};

/// Sends records over connections that clients opened.
pub trait SendRecord: Send + Sync {
    /// Queues a message as a record, unless the connection is gone.
    fn send(&self, line: Token, message: &[u8]);
}

/// The back channels of all sessions.
pub struct BackChannels {
    states: Arc<States>,
    exported: Arc<Exported>,
    table: Mutex<Table>,
    lines: OnceLock<Box<dyn SendRecord>>,
    calls: AtomicU32,
}

#[derive(Default)]
struct Table {
    channels: HashMap<SessionId, BackChannel>,
    /// Sessions of each client.
    clients: HashMap<ClientId, Vec<SessionId>>,
    /// Sessions whose channel each connection carries.
    lines: HashMap<Token, Vec<SessionId>>,
}

impl BackChannels {
    /// None yet, of the clients of this state.
    pub fn new(states: Arc<States>, exported: Arc<Exported>) -> Self {
        let calls = AtomicU32::new(std::process::id().rotate_left(16));
        Self { states, exported, table: Mutex::default(), lines: OnceLock::new(), calls }
    }

    /// From now on records are sent so. Only the first one is used.
    pub fn send_over(&self, lines: Box<dyn SendRecord>) {
        let _ = self.lines.set(lines);
    }

    /// A session began; calls of it go over this connection, if over one.
    pub fn begin(&self, session: BackSession, line: Option<Token>) {
        let (id, client) = (session.id, session.client);
        {
            let mut table = self.table.lock();
            table.channels.insert(id, BackChannel::new(session));
            table.clients.entry(client).or_default().push(id);
        }
        if let Some(line) = line {
            self.bind(id, line);
        }
    }

    /// A connection carries the calls of a session from now on, too.
    pub fn bind(&self, session: SessionId, line: Token) {
        self.change(|table| {
            let channel = table.channels.get_mut(&session)?;
            channel.bind(line);
            let client = channel.session().client;
            let sessions = table.lines.entry(line).or_default();
            if !sessions.contains(&session) {
                sessions.push(session);
            }
            Some(vec![client])
        });
    }

    /// A client wants to be called in another way.
    pub fn control(&self, session: SessionId, program: u32, credentials: BackCredentials) {
        if let Some(channel) = self.table.lock().channels.get_mut(&session) {
            channel.change(program, credentials);
        }
    }

    /// A session ended.
    pub fn end(&self, session: SessionId) {
        self.table.lock().remove(session);
    }

    /// Whether some session of a client can be called.
    pub fn reaches(&self, client: ClientId) -> bool {
        self.table.lock().channel_of(client).is_some_and(|channel| channel.is_up())
    }

    /// A connection is gone.
    pub fn gone(&self, line: Token) {
        self.change(|table| {
            let sessions = table.lines.remove(&line)?;
            let unbind = |session: &SessionId| {
                let channel = table.channels.get_mut(session)?;
                channel.unbind(line);
                Some(channel.session().client)
            };
            Some(sessions.iter().filter_map(unbind).collect())
        });
    }

    /// A message came over a connection that is no call. Whether it may be an answer to one of ours.
    pub fn answer(&self, line: Token, message: &[u8]) -> bool {
        let now = self.states.now();
        let mut is_bound = false;
        self.change(|table| {
            let sessions = table.lines.get(&line)?;
            is_bound = true;
            let answered = sessions.iter().find_map(|session| {
                let channel = table.channels.get_mut(session)?;
                let (call, status) = channel.answer(now, line, message)?;
                Some((channel.session().client, call, status))
            });
            let (client, call, status) = answered?;
            tracing::debug!(client = client.0, ?call, ?status, "a client answered a callback");
            Some(vec![client])
        });
        is_bound
    }

    /// Lets time pass.
    pub fn tick(&self) {
        let now = self.states.now();
        let outgoing = {
            let mut table = self.table.lock();
            let late = table
                .channels
                .values_mut()
                .filter_map(|channel| channel.expire(now).then(|| channel.session().client));
            let late: Vec<ClientId> = late.collect();
            late.into_iter().for_each(|client| self.flag(&table, client));
            table.channels.values_mut().filter_map(|channel| channel.next(now, || self.xid())).collect()
        };
        self.send(outgoing);
    }

    /// Calls a client, once it can be called.
    pub fn call(&self, client: ClientId, call: BackCall) {
        self.change(|table| {
            table.channel_of(client)?.push(call);
            Some(vec![client])
        });
    }

    /// The handle of a file, as clients have it.
    fn handle_of(&self, file: &FileKey) -> Box<[u8]> {
        Box::from(self.exported.now().seal_as(file.export, &file.node).as_wire().0)
    }

    /// Changes the table, flags clients whose path came up or went down, and sends what is to be sent to them.
    fn change(&self, change: impl FnOnce(&mut Table) -> Option<Vec<ClientId>>) {
        let now = self.states.now();
        let outgoing: Vec<BackRecord> = {
            let mut table = self.table.lock();
            let Some(clients) = change(&mut table) else { return };
            clients.iter().for_each(|client| self.flag(&table, *client));
            let sessions: Vec<SessionId> =
                clients.iter().filter_map(|client| table.clients.get(client)).flatten().copied().collect();
            sessions.iter().filter_map(|session| self.next(&mut table, *session, now)).collect()
        };
        self.send(outgoing);
    }

    fn next(&self, table: &mut Table, session: SessionId, now: Duration) -> Option<BackRecord> {
        table.channels.get_mut(&session)?.next(now, || self.xid())
    }

    /// Not while the table is locked: a connection that turns out to be gone changes it.
    fn send(&self, outgoing: Vec<BackRecord>) {
        if let Some(lines) = self.lines.get() {
            outgoing.iter().for_each(|BackRecord { line, message }| lines.send(*line, message));
        }
    }

    fn xid(&self) -> u32 {
        self.calls.fetch_add(1, Ordering::Relaxed)
    }

    /// Says in each answer to a client whether it can be called (CB_PATH_DOWN).
    fn flag(&self, table: &Table, client: ClientId) {
        let sessions = table.clients.get(&client).into_iter().flatten();
        let channels: Vec<&BackChannel> = sessions.filter_map(|id| table.channels.get(id)).collect();
        let is_down = channels.iter().any(|one| one.is_down()) && !channels.iter().any(|one| one.is_up());
        let (set, clear) = if is_down { (CALLBACK_PATH_DOWN, 0) } else { (0, CALLBACK_PATH_DOWN) };
        if let Some(session) = channels.first().and_then(|one| self.states.sessions().find(one.session().id))
        {
            session.change_flags(set, clear);
        }
    }
}

impl Table {
    fn channel_of(&mut self, client: ClientId) -> Option<&mut BackChannel> {
        let sessions = self.clients.get(&client)?;
        let is_up = |id: &&SessionId| self.channels.get(id).is_some_and(BackChannel::is_up);
        let id = *sessions.iter().find(is_up).or_else(|| sessions.first())?;
        self.channels.get_mut(&id)
    }

    fn remove(&mut self, session: SessionId) {
        let Some(channel) = self.channels.remove(&session) else { return };
        let client = channel.session().client;
        if let Some(sessions) = self.clients.get_mut(&client) {
            sessions.retain(|other| *other != session);
            if sessions.is_empty() {
                self.clients.remove(&client);
            }
        }
        for line in channel.lines() {
            if let Some(sessions) = self.lines.get_mut(line) {
                sessions.retain(|other| *other != session);
                if sessions.is_empty() {
                    self.lines.remove(line);
                }
            }
        }
    }
}

impl ClientNews for BackChannels {
    fn lock_is_free(&self, client: ClientId, owner: &[u8], file: &FileKey) {
        let node = self.handle_of(file);
        self.call(client, BackCall::NotifyLock { node, client: client.0, owner: owner.into() });
    }

    fn recall(&self, client: ClientId, delegation: StateId, file: &FileKey) {
        let delegation = howdah_wire::nfs4::StateId { sequence: delegation.seqid, other: delegation.other };
        self.call(client, BackCall::Recall { node: self.handle_of(file), delegation });
    }

    fn returned(&self, client: ClientId, file: &FileKey) {
        let node = self.handle_of(file);
        let mut table = self.table.lock();
        let Table { channels, clients, .. } = &mut *table;
        let sessions = clients.get(&client).into_iter().flatten();
        sessions.for_each(|session| _ = channels.get_mut(session).map(|channel| channel.returned(&node)));
    }

    fn ended(&self, client: ClientId) {
        let mut table = self.table.lock();
        let sessions = table.clients.remove(&client).unwrap_or_default();
        sessions.into_iter().for_each(|session| table.remove(session));
    }
}
