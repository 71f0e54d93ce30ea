//! Why there is no file system: step, subject, cause, and what to do.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use howdah_rpc::client::FirstBytes;
use howdah_units::plain;
use howdah_vfs::{FsError, Shown};
use howdah_wire::rpc::AuthFlavor;

use crate::channel::{self, CallError, KerberosError};
use crate::mount::{Contact, MountError};
use crate::nfs4::EstablishError;

/// Why a URL did not become a file system.
#[derive(Debug, Clone)]
pub enum ConnectError {
    /// The host has no address.
    Resolve {
        /// The host.
        host: String,
        /// Why.
        cause: Arc<io::Error>,
    },
    /// Nothing was mounted.
    Mount {
        /// The host.
        host: String,
        /// Why.
        cause: MountError,
    },
    /// What TLS needs is not there.
    Tls {
        /// The host.
        host: String,
        /// What is wrong.
        why: String,
    },
    /// The server does not take what we prove ourselves with.
    Flavors {
        /// The host.
        host: String,
        /// What was asked for.
        asked: AuthFlavor,
        /// What it takes.
        taken: Vec<AuthFlavor>,
    },
    /// Nobody here has Kerberos tickets.
    NoKerberos {
        /// The host.
        host: String,
    },
    /// The caller has no Kerberos context with the server.
    Kerberos {
        /// The host.
        host: String,
        /// Why.
        cause: KerberosError,
    },
    /// NFS itself cannot be reached.
    Nfs {
        /// The host.
        host: String,
        /// Why.
        cause: channel::LaneConnectError,
    },
    /// NFS does not answer.
    Silent {
        /// The host.
        host: String,
        /// Where it was asked.
        address: SocketAddr,
        /// How long it was waited for.
        waited: Duration,
    },
    /// What answers is not NFS version 3.
    NotServed {
        /// The host.
        host: String,
        /// Where it was asked.
        address: SocketAddr,
        /// What it answers.
        cause: CallError,
    },
    /// NFSv4 gives no file system.
    Nfs4 {
        /// The host.
        host: String,
        /// Where it was asked.
        address: SocketAddr,
        /// Why.
        cause: Box<EstablishError>,
    },
    /// The first call on what was mounted was refused.
    Root {
        /// The host.
        host: String,
        /// What was mounted.
        path: Vec<u8>,
        /// Why.
        refusal: FsError,
    },
}

impl ConnectError {
    /// Whether this says that NFSv3 is not there, so that NFSv4 may be.
    pub(super) fn has_no_nfs3(&self) -> bool {
        match self {
            Self::NotServed { cause, .. } => cause.lacks_program(),
            Self::Mount { cause: MountError::Unreachable { cause, contact, .. }, .. } => {
                cause.lacks_program()
                    || *contact == Contact::Closes
                    || matches!(cause, CallError::Connect(channel::LaneConnectError::Failed { .. }))
            }
            _ => false,
        }
    }

    /// Whether a server that speaks NFSv4 says this.
    pub(super) fn is_of_nfs4(&self) -> bool {
        matches!(self, Self::Nfs4 { cause, .. } if !cause.is_other_version())
    }
}

impl fmt::Display for ConnectError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Resolve { host, cause } => {
                write!(formatter, "cannot find the address of {host}: {}; check the name", unresolved(cause))
            }
            Self::Tls { host, why } => write!(formatter, "{host}: securing the connection by TLS: {why}"),
            Self::Mount { host, cause: MountError::Unreachable { cause, .. } } if cause.is_tls() => {
                write!(formatter, "{host}: {cause}")
            }
            Self::Mount {
                host,
                cause: MountError::Unreachable { place, cause: CallError::TimedOut, contact },
            } if let Some(reason) = contact.told() => {
                let port = place.address.port();
                write!(
                    formatter,
                    "{}:{port} {reason}: another service may listen there; type the port of NFS, as in nfs://{}:2049/...",
                    in_url(host),
                    in_url(host)
                )
            }
            Self::Mount { host, cause: MountError::Unreachable { place, cause, .. } }
                if let Some(first) = cause.not_rpc() =>
            {
                formatter.write_str(&another_service(host, place.address, first))
            }
            Self::Mount {
                host,
                cause:
                    MountError::Unreachable {
                        cause: CallError::Connect(cause @ channel::LaneConnectError::Failed { .. }),
                        ..
                    },
            }
            | Self::Nfs { host, cause: cause @ channel::LaneConnectError::Failed { .. } } => {
                write!(formatter, "{cause}{}", advice(host, cause))
            }
            Self::Mount { host, cause: cause @ MountError::Unreachable { .. } } => {
                let named = in_url(host);
                write!(
                    formatter,
                    "{host}: {cause}; is an NFS server running there? a port can be given: nfs://{named}:PORT/...; \
                     version=4 needs no MOUNT"
                )
            }
            Self::Mount { host, cause } => write!(formatter, "{host}: {cause}"),
            Self::Flavors { host, asked, taken } => {
                let taken: Vec<_> = taken.iter().map(|&flavor| flavor_name(flavor)).collect();
                let (taken, asked) = (taken.join(", "), flavor_name(*asked));
                write!(
                    formatter,
                    "{host}: the server accepts {taken} for this export, not {asked}; choose one of these with sec="
                )
            }
            Self::NoKerberos { host } => {
                write!(formatter, "{host}: there are no Kerberos tickets here: use sec=sys")
            }
            Self::Kerberos { host, cause } => write!(formatter, "{host}: {cause}"),
            Self::Nfs { host, cause } => write!(formatter, "{host}: {cause}"),
            Self::Silent { host, address, waited } => {
                write!(
                    formatter,
                    "{host}: asking for NFS version 3 at {address}: no answer within {waited:?}; does an NFS server listen on that port?"
                )
            }
            Self::NotServed { host, address, cause } => match cause.not_rpc() {
                Some(first) => formatter.write_str(&another_service(host, *address, first)),
                None => write!(formatter, "{host}: asking for NFS version 3 at {address}: {cause}"),
            },
            Self::Nfs4 { host, address, cause } => match cause.not_rpc() {
                Some(first) => formatter.write_str(&another_service(host, *address, first)),
                None => write!(formatter, "{host}: {cause}"),
            },
            Self::Root { host, path, refusal } => {
                write!(formatter, "{host}: asking about {} (FSINFO): {refusal}", Shown(path))?;
                formatter.write_str(hint(*refusal))
            }
        }
    }
}

/// What to do when there is no connection. Another port helps only where the host answers; what is no error of the system (QUIC)
/// has its advice already.
fn advice(host: &str, cause: &channel::LaneConnectError) -> String {
    let channel::LaneConnectError::Failed { cause, .. } = cause else { return String::new() };
    match cause.kind() {
        _ if cause.get_ref().is_some() => String::new(),
        io::ErrorKind::ConnectionRefused | io::ErrorKind::ConnectionReset => {
            format!(
                "; is an NFS server running there? if it has another port: nfs://{}:PORT/...",
                in_url(host)
            )
        }
        io::ErrorKind::NetworkUnreachable | io::ErrorKind::HostUnreachable | io::ErrorKind::TimedOut => {
            "; check the address, the network and the firewall".to_owned()
        }
        _ => String::new(),
    }
}

/// The resolver's words, without the name of the function that says them.
fn unresolved(cause: &io::Error) -> String {
    let said = plain(&cause.to_string());
    said.strip_prefix("failed to lookup address information: ").unwrap_or(&said).to_lowercase()
}

/// An IPv6 address has brackets in a URL (RFC 3986 3.2.2).
fn in_url(host: &str) -> String {
    if host.contains(':') && !host.starts_with('[') { format!("[{host}]") } else { host.to_owned() }
}

fn another_service(host: &str, address: SocketAddr, first: FirstBytes) -> String {
    format!(
        "{}:{} answers, but not with RPC (its first bytes are {first}): another service listens there; type the port of NFS, as in nfs://{}:2049/...",
        in_url(host),
        address.port(),
        in_url(host)
    )
}

fn hint(refusal: FsError) -> &'static str {
    match refusal {
        FsError::NotPermitted | FsError::AccessDenied => {
            "; does it require TLS (xprtsec=tls or xprtsec=mtls)? is it exported to this client, and to ports that anybody may use (its option `insecure`)?"
        }
        _ => "",
    }
}

fn flavor_name(flavor: AuthFlavor) -> String {
    match flavor.0 {
        0 => "none".to_owned(),
        1 => "sys".to_owned(),
        _ if flavor == AuthFlavor::KRB5 => "krb5".to_owned(),
        _ if flavor == AuthFlavor::KRB5I => "krb5i".to_owned(),
        _ if flavor == AuthFlavor::KRB5P => "krb5p".to_owned(),
        other => format!("flavor {other}"),
    }
}

impl std::error::Error for ConnectError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_port_is_proposed_only_where_the_host_answers() {
        let said = |cause: io::Error| {
            let address = SocketAddr::from(([10, 0, 0, 9], 2049));
            let cause = channel::LaneConnectError::Failed { address, cause: Arc::new(cause) };
            ConnectError::Nfs { host: "far".to_owned(), cause }.to_string()
        };
        let refused = said(io::ErrorKind::ConnectionRefused.into());
        assert!(refused.ends_with("if it has another port: nfs://far:PORT/..."), "{refused}");
        for errno in [101, 113, 110] {
            let said = said(io::Error::from_raw_os_error(errno));
            assert!(said.ends_with("; check the address, the network and the firewall"), "{said}");
        }
        let of_quic = said(io::Error::new(io::ErrorKind::TimedOut, "no answer; proto=tcp uses TCP"));
        assert!(of_quic.ends_with("; proto=tcp uses TCP"), "{of_quic}");
    }
}
