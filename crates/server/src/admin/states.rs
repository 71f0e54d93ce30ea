//! `GET /v1/state` and `PUT /v1/state/{client}`: what clients have open and locked, which waits for which, and how an
//! administrator takes it from them.

use std::net::IpAddr;
use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use howdah_state::{ByteRange, ClientId, ClientStanding, ClientView, LockKind, LockOwner};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::task::spawn_blocking;

use super::asked::Asked;
use super::failure::Failure;
use crate::exports::Exports;
use crate::states::{FileKey, States, name_of_client};

/// What clients have.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StateReport {
    /// Whether clients of the run before may still reclaim what they had; others wait.
    pub grace: bool,
    /// How long a client keeps what it has without a word from it; 0 if NFSv4 is not served.
    pub lease_seconds: u64,
    /// Clients of NFSv4.
    pub clients: Vec<StateClient>,
    /// Locks that are held.
    pub locks: Vec<LockReport>,
    /// Why records of clients cannot be written, if they cannot: those who are not recorded wait.
    #[serde(default)]
    pub unwritable: Option<String>,
}

/// A client of NFSv4.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StateClient {
    /// By which it is released.
    pub id: String,
    /// What it calls itself.
    pub name: String,
    /// Where it came from when it was last introduced.
    pub address: IpAddr,
    /// `active`; `courtesy`: its lease has passed, and it keeps what nobody wants; `unconfirmed`: it has no session yet.
    pub standing: String,
    /// How long it has been silent.
    pub silent_seconds: u64,
    /// Sessions.
    pub sessions: usize,
    /// Slots that it uses, of the session of which it uses most: its calls at the same time.
    #[serde(default)]
    pub slots_used: u32,
    /// Slots that it may use there.
    #[serde(default)]
    pub slots: u32,
    /// Open files.
    pub opens: usize,
    /// Byte ranges that are locked.
    pub locks: usize,
    /// Read delegations.
    #[serde(default)]
    pub delegations: usize,
}

/// A lock that is held.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LockReport {
    /// The export.
    pub export: String,
    /// The file's number there, as `find -inum` takes it; none if it cannot be asked now.
    pub file: Option<u64>,
    /// `read` or `write`.
    pub kind: String,
    /// The first byte.
    pub first: u64,
    /// The last byte; none for the end of the file, wherever it is.
    pub last: Option<u64>,
    /// Whose.
    pub holder: String,
    /// Who waits for it.
    pub waiting: Vec<String>,
}

/// What to do with a client.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Release {
    /// Take everything from it.
    release: bool,
}

const EXAMPLE: &str = "the body is JSON, as in {\"release\": true}";

/// Answers with the state as it is now.
pub async fn states(State(asked): State<Arc<Asked>>) -> Json<StateReport> {
    Json(gather(asked).await)
}

/// The report. A file system that does not answer keeps only this question waiting, not the thread that answers all.
async fn gather(asked: Arc<Asked>) -> StateReport {
    let tell = move || {
        let service = &asked.shared.service;
        service.states.as_ref().map(|states| report(states, &service.exports())).unwrap_or_default()
    };
    spawn_blocking(tell).await.unwrap_or_default()
}

/// Takes everything from a client.
pub async fn release(
    State(asked): State<Arc<Asked>>,
    Path(client): Path<String>,
    body: Result<Bytes, BytesRejection>,
) -> Result<Json<StateReport>, Failure> {
    let body = body.map_err(|rejection| Failure::new(rejection.status(), rejection.body_text(), EXAMPLE))?;
    let wish: Release = serde_json::from_slice(&body).map_err(|error| {
        Failure::new(StatusCode::BAD_REQUEST, format!("reading the body: {error}"), EXAMPLE)
    })?;
    if !wish.release {
        return Err(Failure::new(StatusCode::BAD_REQUEST, "nothing is to be done".to_owned(), EXAMPLE));
    }
    let id = u64::from_str_radix(&client, 16).ok();
    let of = Arc::clone(&asked);
    let release = move || {
        let states = of.shared.service.states.as_ref();
        id.zip(states).is_some_and(|(id, states)| {
            states.ask(|state, now| Ok(state.release_client(now, ClientId(id)))).unwrap_or(false)
        })
    };
    if !spawn_blocking(release).await.unwrap_or(false) {
        let what = format!("there is no NFSv4 client {client}");
        return Err(Failure::new(StatusCode::NOT_FOUND, what, "howdah clients lists them"));
    }
    Ok(Json(gather(asked).await))
}

/// A lock, with what is only known under the lock on all state.
struct Found {
    key: FileKey,
    owner: LockOwner,
    kind: LockKind,
    range: ByteRange,
    waiting: Vec<LockOwner>,
}

fn report(states: &States, exports: &Exports) -> StateReport {
    let found = states.ask(|state, now| {
        let waits: Vec<_> = state
            .files()
            .locks
            .waits()
            .map(|wait| (*wait.key, wait.owner.clone(), wait.holder.cloned()))
            .collect();
        let waiting = |key: &FileKey, owner: &LockOwner| {
            let of_lock =
                waits.iter().filter(|(file, _, holder)| file == key && holder.as_ref() == Some(owner));
            of_lock.map(|(_, waiter, _)| waiter.clone()).collect()
        };
        let lock = |lock: howdah_state::LockView<'_, FileKey>| Found {
            key: *lock.key,
            owner: lock.owner.clone(),
            kind: lock.kind,
            range: lock.range,
            waiting: waiting(lock.key, lock.owner),
        };
        let locks: Vec<Found> = state.files().locks.held().map(lock).collect();
        Ok((state.is_grace(), state.clients(now).collect::<Vec<_>>(), locks))
    });
    let (grace, clients, locks) = found.unwrap_or_default();
    let locks = locks.iter().map(|lock| held(lock, &clients, exports)).collect();
    let lease_seconds = states.lease().as_secs();
    let clients = clients.iter().map(client).collect();
    StateReport { grace, lease_seconds, locks, clients, unwritable: states.unwritable() }
}

fn client(view: &ClientView) -> StateClient {
    StateClient {
        id: format!("{:x}", view.client.0),
        name: name(name_of_client(&view.owner)),
        address: view.peer,
        standing: match view.standing {
            ClientStanding::Unconfirmed => "unconfirmed",
            ClientStanding::Active => "active",
            ClientStanding::Courtesy => "courtesy",
        }
        .to_owned(),
        silent_seconds: view.silence.as_secs(),
        sessions: view.sessions,
        slots_used: view.slots.0,
        slots: view.slots.1,
        opens: view.opens,
        locks: view.locks,
        delegations: view.delegations,
    }
}

fn held(lock: &Found, clients: &[ClientView], exports: &Exports) -> LockReport {
    let export = exports.find(lock.key.export);
    LockReport {
        export: export
            .map_or_else(|| format!("export {}", lock.key.export), |export| export.name().to_owned()),
        file: export.and_then(|export| export.file_number(&lock.key.node)),
        kind: match lock.kind {
            LockKind::Read => "read",
            LockKind::Write => "write",
        }
        .to_owned(),
        first: lock.range.first,
        last: (lock.range.last != u64::MAX).then_some(lock.range.last),
        holder: holder(&lock.owner, clients),
        waiting: lock.waiting.iter().map(|owner| holder(owner, clients)).collect(),
    }
}

fn holder(owner: &LockOwner, clients: &[ClientView]) -> String {
    match owner {
        LockOwner::V4 { client, .. } => match clients.iter().find(|view| view.client == *client) {
            Some(view) => format!("{} ({})", name(name_of_client(&view.owner)), view.peer),
            None => format!("NFSv4 client {:x}", client.0),
        },
        LockOwner::Local => "a process of this host".to_owned(),
        LockOwner::Nlm(owner) => format!("process {} by {}", owner.svid, name(&owner.oh)),
    }
}

/// What a client calls itself, harmless to a terminal.
fn name(bytes: &[u8]) -> String {
    howdah_vfs::Shown(bytes).to_string()
}
