//! rpcbind versions 3 and 4 (RFC 1833 2): which program listens on which address. One file per procedure that has
//! arguments or a result. Version 4 has all procedures of version 3 under the same numbers, and four more.

mod binding;
pub mod broadcast;
pub mod dump;
pub mod getaddr;
pub mod getaddrlist;
pub mod gettime;
mod network;
pub mod set;
mod text;
mod universal;
pub mod unset;

pub use crate::limits::TEXT_MAX;
pub use binding::Binding;
pub use network::Network;
pub use text::Text;
pub use universal::UniversalAddress;

/// The RPC program number: that of portmap, whose later versions these are.
pub const PROGRAM: u32 = crate::portmap::PROGRAM;
/// The version that brought universal addresses.
pub const VERSION_3: u32 = 3;
/// The version that brought GETVERSADDR, INDIRECT, GETADDRLIST and GETSTAT (statistics, not offered).
pub const VERSION_4: u32 = 4;
/// Number of NULL, which does nothing.
pub const NULL: u32 = 0;
