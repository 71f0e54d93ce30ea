//! The user that calls name.

use std::sync::Arc;

use howdah_vfs::Caller;
use howdah_wire::rpc::{AuthSys, Credentials};

use crate::channel::{CallError, CallProtection};
use crate::gss::UserContexts;

/// Where a Linux host's name stands.
const HOST_NAME: &str = "/proc/sys/kernel/hostname";
/// The longest machine name of AUTH_SYS, in bytes (RFC 5531 14).
const MACHINE_NAME_MAX: usize = 255;

/// The user that calls name.
#[derive(Debug, Clone, Default)]
pub enum Identity {
    /// The user who makes the call.
    #[default]
    Caller,
    /// This one, no matter which user makes the call.
    Always(Caller),
    /// Nobody in particular (AUTH_NONE).
    Nobody,
    /// The caller, by their Kerberos ticket (RPCSEC_GSS).
    Kerberos(Arc<UserContexts>),
}

impl Identity {
    /// The credentials of a call.
    pub(crate) fn credentials<'m>(&self, caller: &Caller, machine: &'m [u8]) -> Credentials<'m> {
        let caller = match self {
            Self::Caller => caller,
            Self::Always(always) => always,
            // Each sending of the call has credentials of its own.
            Self::Nobody | Self::Kerberos(_) => return Credentials::None,
        };
        Credentials::Sys(AuthSys::new(machine, caller.user, caller.group, caller.groups.as_slice()))
    }

    /// What protects a call. Waits for a context where Kerberos needs one.
    pub(crate) fn protection(&self, caller: &Caller) -> Result<Option<Arc<dyn CallProtection>>, CallError> {
        match self {
            Self::Kerberos(contexts) => contexts.protection(caller.user).map(Some),
            Self::Caller | Self::Always(_) | Self::Nobody => Ok(None),
        }
    }
}

/// This host's name, which servers log and otherwise do not look at.
pub(crate) fn machine_name() -> Vec<u8> {
    let mut name = std::fs::read(HOST_NAME).unwrap_or_default();
    name.truncate(name.trim_ascii_end().len().min(MACHINE_NAME_MAX));
    if name.is_empty() { b"localhost".to_vec() } else { name }
}
