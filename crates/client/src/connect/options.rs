//! What the caller of a connection chooses; a URL's own options come first.

use std::sync::Arc;
use std::time::Duration;

use howdah_vfs::Caller;
use howdah_wire::portmap;

use super::own_caller;
use crate::channel::{ChannelOptions, Transport};
use crate::gss::TicketSource;
use crate::nfs4::HandleFileUse;

/// How long each answer may take until the file system is there, by default: then the error says who does not answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// What can be chosen of a connection to a server.
#[derive(Debug, Clone)]
pub struct ConnectOptions {
    /// How the channel behaves; `lanes` and `patience` give way to the URL's.
    pub channel: ChannelOptions,
    /// How messages travel, unless the URL says.
    pub transport: Transport,
    /// Who mounts: this process's user, unless the URL says.
    pub caller: Caller,
    /// How long one answer may take until the file system is there.
    pub patience: Duration,
    /// Where servers have their portmapper.
    pub portmap_port: u16,
    /// Whether the root is to be a directory: of a file that a server mounts, its directory is mounted, if the server mounts that.
    pub into_directory: bool,
    /// Whether the path may well be that of a file: its directory is asked for at the same time.
    pub may_be_file: bool,
    /// Where NFSv4 handles of more than 64 bytes are kept: then handles outlive this process. Without it, they are kept in memory.
    pub handle_file: Option<HandleFileUse>,
    /// Who has Kerberos tickets, for URLs that ask for them.
    pub tickets: Option<Arc<dyn TicketSource>>,
    /// Whose tickets are used for all callers; without one, each caller's own.
    pub ticket_user: Option<u32>,
}

impl Default for ConnectOptions {
    fn default() -> Self {
        Self {
            channel: ChannelOptions::default(),
            transport: Transport::Tcp,
            caller: own_caller(),
            patience: PATIENCE,
            portmap_port: portmap::PORT,
            into_directory: false,
            may_be_file: false,
            handle_file: None,
            tickets: None,
            ticket_user: None,
        }
    }
}
