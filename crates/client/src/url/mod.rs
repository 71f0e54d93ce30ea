//! `nfs://` URLs: what names a place on a server, as libnfs spells it (RFC 2224 with options), and what it may ask for.

mod error;
mod meant;
mod nfs_url;
mod option_table;
mod options;
mod password;
mod percent;
mod refusal;
mod taking;

pub use error::UrlError;
pub use meant::url_of;
pub use nfs_url::NfsUrl;
pub(crate) use nfs_url::join;
pub use option_table::{KNOWN_OPTIONS, KnownOption};
pub use options::{NfsVersion, Security, UrlOptions, WantedSecurity};
pub use password::without_password;
pub use percent::encoded;
