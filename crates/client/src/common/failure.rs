//! Calls without an answer, as refusals of the file system.

use howdah_vfs::FsError;
use howdah_wire::rpc::{Accepted, Denied};

use crate::channel::{CallError, CallRefusal, KerberosError};

/// What a call that got no answer is to the file system's user.
pub(crate) fn failure(procedure: &str, error: &CallError) -> FsError {
    match error {
        // Their sources say so, once.
        CallError::Away | CallError::Kerberos(_) => tracing::debug!(procedure, %error, "a call got no reply"),
        _ => tracing::warn!(procedure, %error, "a call got no reply"),
    }
    match error {
        CallError::TimedOut => FsError::TimedOut,
        CallError::Away => FsError::Delay,
        CallError::Refused(CallRefusal::Denied(Denied::Authentication(_))) => FsError::AccessDenied,
        CallError::Refused(CallRefusal::NotRun(Accepted::ProcedureUnavailable)) => FsError::NotSupported,
        CallError::Refused(_) | CallError::Malformed(_) | CallError::Nonsense(_) => FsError::ServerFault,
        CallError::NewKeys { .. } => FsError::AccessDenied,
        CallError::Kerberos(error) => without_context(error),
        CallError::Connect(_) | CallError::Closed | CallError::Payload(_) | CallError::TooLarge { .. } => {
            FsError::Io
        }
    }
}

fn without_context(error: &KerberosError) -> FsError {
    match error {
        KerberosError::Expired(_) => FsError::KeyExpired,
        KerberosError::NoAnswer { is_late: true, .. } => FsError::TimedOut,
        KerberosError::NoAnswer { .. } => FsError::Io,
        KerberosError::NoTicket(_)
        | KerberosError::Unavailable(_)
        | KerberosError::Refused { .. }
        | KerberosError::NotGenuine
        | KerberosError::Malformed(_) => FsError::AccessDenied,
    }
}
