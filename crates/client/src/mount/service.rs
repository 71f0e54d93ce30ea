//! Single calls to a program beside NFS: MOUNT or the portmapper. Each waits no longer than its caller allows.

use std::net::SocketAddr;
use std::time::Duration;

use howdah_tls::ClientTls;
use howdah_vfs::Caller;
use howdah_wire::nfs3;
use howdah_wire::xdr::{DecodeError, Decoder, Encode};

use crate::channel::{
    CallError, Channel, ChannelOptions, ChannelReport, LaneConnectError, Patience, Pending, ProcedureReport,
    Request, Target, Transport,
};
use crate::common::{Identity, machine_name};

/// The connection to a program.
pub(super) struct Service {
    channel: Channel,
    program: (u32, u32),
    caller: Caller,
    machine: Vec<u8>,
}

impl Service {
    /// Connects. `program` is its number and version.
    pub(super) fn open(
        address: SocketAddr,
        transport: Transport,
        program: (u32, u32),
        caller: Caller,
        patience: Duration,
        tls: Option<ClientTls>,
    ) -> Result<Self, LaneConnectError> {
        let options = ChannelOptions {
            patience: Patience::Soft(patience),
            connect_timeout: patience,
            tls: tls.map(|tls| (tls, (nfs3::PROGRAM, nfs3::VERSION))),
            ..ChannelOptions::default()
        };
        let channel = Channel::open(Target { addresses: vec![address], transport }, options)?;
        Ok(Self { channel, program, caller, machine: machine_name() })
    }

    /// What was called so far.
    pub(super) fn procedures(&self) -> Vec<ProcedureReport> {
        self.report().procedures
    }

    /// The channel as it is now.
    pub(super) fn report(&self) -> ChannelReport {
        self.channel.report()
    }

    /// Makes a call, and takes out of the results what is needed of them.
    pub(super) fn call<T>(
        &self,
        procedure: u32,
        arguments: &dyn Encode,
        take: impl FnOnce(&mut Decoder<'_>) -> Result<T, DecodeError>,
    ) -> Result<T, CallError> {
        results(self.start(procedure, arguments), take)
    }

    /// Makes a call, to be waited for later, or never.
    pub(super) fn start(&self, procedure: u32, arguments: &dyn Encode) -> Pending {
        self.channel.start(request(self.program, procedure, (&self.caller, &self.machine), arguments))
    }
}

/// Waits for a call, and takes out of the results what is needed of them.
pub(super) fn results<T>(
    pending: Pending,
    take: impl FnOnce(&mut Decoder<'_>) -> Result<T, DecodeError>,
) -> Result<T, CallError> {
    take(&mut Decoder::new(&pending.wait()?.results)).map_err(CallError::Malformed)
}

/// A call to a program beside NFS.
pub(super) fn request<'r>(
    (program, version): (u32, u32),
    procedure: u32,
    (caller, machine): (&Caller, &'r [u8]),
    arguments: &'r dyn Encode,
) -> Request<'r> {
    // A second MNT or UMNT ends as the first one did.
    Request {
        procedure,
        credentials: Identity::Caller.credentials(caller, machine),
        arguments,
        ..Request::null(program, version)
    }
}
