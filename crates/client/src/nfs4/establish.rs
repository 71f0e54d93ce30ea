//! From a channel to a file system: EXCHANGE_ID, CREATE_SESSION, and the path, a round trip each.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use howdah_session::ClientSession;
use howdah_vfs::Caller;
use howdah_wire::nfs4::Status;

use super::client::Nfs4Client;
use super::client_name::{ClientName, Introduction, StepError};
use super::delegations::ClientDelegations;
use super::error::{EstablishError, EstablishStep};
use super::exchange::CompoundCalls;
use super::handle_file::HandleFileUse;
use super::handles::Handles;
use super::open_states::OpenStates;
use super::session::{Session, UpkeepCalls};
use super::upkeep::{Upkeep, show};
use super::walk::walk;
use crate::channel::Channel;
use crate::common::{Identity, Jukebox, Wanted, machine_name};

/// The minor versions that are asked for, in order.
const MINOR_VERSIONS: [u32; 2] = [2, 1];
/// The fewest operations in a compound that the longest one here fits.
const OPERATIONS_MIN: u32 = 12;

/// How a client acts.
#[derive(Debug, Clone)]
pub(crate) struct Nfs4Settings {
    /// Where the server is.
    pub(crate) address: SocketAddr,
    /// The user that calls name.
    pub(crate) identity: Identity,
    /// Sizes that the user asked for.
    pub(crate) wanted: Wanted,
    /// After so long of "not now" from a server, the call fails; `None`: never.
    pub(crate) patience: Option<Duration>,
    /// How long each answer may take until there is a session.
    pub(crate) connect_patience: Duration,
    /// Where long handles are kept; without it, in memory.
    pub(crate) handle_file: Option<HandleFileUse>,
    /// The minor version; without it, the highest that the server has.
    pub(crate) minor_version: Option<u32>,
}

/// The file system at the end of a path, as `caller`, over a channel that was opened with [`session_protocol`](super::session_protocol).
///
/// # Errors
/// The server does not answer, speaks another version, or refuses: each says the step and what to do.
pub(crate) fn establish(
    channel: Arc<Channel>,
    calls: UpkeepCalls,
    path: &[Vec<u8>],
    caller: &Caller,
    settings: &Nfs4Settings,
) -> Result<Nfs4Client, EstablishError> {
    let file = settings.handle_file.as_ref();
    let handles = Handles::open(file)
        .map_err(|cause| EstablishError::handle_file(file.map(|file| file.path.as_path()), cause))?;
    let name = ClientName::new(caller.clone(), settings.identity.clone());
    // The session says what it needs, which is what there is to do here, in this order.
    show(&channel, ClientSession::poll);
    let Introduction { known, server } = identify(&channel, &name, settings)?;
    let server = format!("{} {server}", settings.address);
    show(&channel, |session, now| session.on_exchanged(Ok(known.exchanged), now));
    show(&channel, ClientSession::poll);
    let back = Arc::clone(&calls.back);
    let mut jukebox = Jukebox::new(Some(settings.connect_patience));
    let made = loop {
        match name.create_session((&channel, &back), known, Some(settings.connect_patience)) {
            Err(StepError::Refused(Status::DELAY)) if jukebox.wait().is_ok() => {}
            outcome => break outcome.map_err(|error| of_step(EstablishStep::Session, error))?,
        }
    };
    show(&channel, |session, now| {
        session.set_uses_callbacks(back.is_up());
        session.on_created(Ok((made.session, made.fore.slots)), now);
    });
    show(&channel, ClientSession::poll);
    let minor_version = known.minor_version;
    tracing::debug!(minor_version, sizes = ?made.fore, "there is a session");
    let (opens, handles) = (Arc::<OpenStates>::default(), Arc::new(handles));
    let delegations = Arc::new(ClientDelegations::new(Arc::clone(&handles)));
    back.set_delegations(Arc::clone(&delegations));
    let upkeep = Upkeep {
        name,
        minor_version,
        back,
        opens: Arc::clone(&opens),
        delegations: Arc::clone(&delegations),
        handles: Arc::clone(&handles),
    };
    let session = Session::new(upkeep, Arc::clone(&channel), made.fore, calls);
    let granted = session.sizes().operations;
    if granted < OPERATIONS_MIN {
        return Err(EstablishError::FewOperations { granted, needed: OPERATIONS_MIN });
    }
    let calls = CompoundCalls {
        session,
        channel,
        identity: settings.identity.clone(),
        machine: machine_name(),
        handles,
        patience: settings.patience,
    };
    let walked = walk(&calls, caller, path)?;
    calls.session.set_lease(walked.facts.lease);
    Ok(Nfs4Client::new(calls, (opens, delegations), (server, walked), &settings.wanted))
}

/// Makes the client known, in the highest minor version that both speak.
fn identify(
    channel: &Channel,
    name: &ClientName,
    settings: &Nfs4Settings,
) -> Result<Introduction, EstablishError> {
    let chosen = settings.minor_version.map(|minor| [minor]);
    let versions = chosen.as_ref().map_or(&MINOR_VERSIONS[..], |chosen| chosen);
    let mut jukebox = Jukebox::new(Some(settings.connect_patience));
    for &minor_version in versions {
        loop {
            match name.exchange_id(channel, (minor_version, 0), Some(settings.connect_patience)) {
                Err(StepError::Refused(Status::MINOR_VERS_MISMATCH)) => break,
                Err(StepError::Refused(Status::DELAY)) if jukebox.wait().is_ok() => {}
                outcome => return outcome.map_err(|error| of_step(EstablishStep::Client, error)),
            }
        }
    }
    Err(EstablishError::MinorVersion(match versions {
        [1] => "NFSv4.1",
        [2] => "NFSv4.2",
        _ => "NFSv4.2 or NFSv4.1",
    }))
}

pub(super) fn of_step(step: EstablishStep, error: StepError) -> EstablishError {
    match error {
        StepError::Call(error) => EstablishError::Call(step, error),
        StepError::Silent(waited) => EstablishError::Silent(step, waited),
        StepError::Refused(status) => EstablishError::Refused(step, status),
        StepError::Malformed => EstablishError::Malformed(step),
    }
}
