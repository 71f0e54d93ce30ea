//! The exports: what is served, under which name, to whom, and as whom its clients act.
//!
//! They are asked on every call, not only when a client mounts: a handle that was learned once gives no right by
//! itself. An [`Exports`] never changes; a reload puts a new one in its place ([`Exported`]).

mod certificate_pattern;
mod clients;
mod delegation_policy;
mod export;
mod exported;
mod groups;
mod host_directory;
mod host_pattern;
mod identity;
mod moved;
mod netgroup;
mod path;
mod principal;
mod quota;
mod security_flavor;
mod table;
mod tls_policy;

pub use certificate_pattern::CertificatePattern;
pub use clients::{Anonymous, ClientRule, Clients, PrivilegedPorts, Squash};
pub use delegation_policy::DelegationPolicy;
pub use export::{Admission, Export, NotAdmitted, UNPRIVILEGED_PORTS};
pub use exported::Exported;
pub use groups::{GroupSource, KnownUser, UserAccount, UserGroups, UserNames};
pub use host_directory::{HostDirectory, HostSource, NameVerdict};
pub use host_pattern::HostPattern;
pub use identity::{Identity, PrincipalIdentity};
pub(crate) use moved::are_judged_alike;
pub use netgroup::Netgroup;
pub use path::{MountedPath, ResolveError};
pub use principal::{KerberosPrincipal, PrincipalKind, PrincipalMap, PrincipalSettings};
pub(crate) use quota::QuotaRefusal;
pub use security_flavor::{SecurityFlavor, SecurityFlavors};
pub use table::{Exports, ExportsError};
pub use tls_policy::TlsPolicy;
