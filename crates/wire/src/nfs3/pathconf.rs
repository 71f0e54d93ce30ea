//! PATHCONF (RFC 1813 3.3.20): what POSIX wants to know of a node.

use super::{Attributes, FileHandle, Refused, message::message};

/// Number of the procedure.
pub const PROCEDURE: u32 = 20;

message! {
    /// Arguments of PATHCONF (`PATHCONF3args`).
    pub struct Arguments<'a> {
        /// The node.
        pub node: FileHandle<'a>,
    }
}

message! {
    /// Answer of a PATHCONF that went well (`PATHCONF3resok`).
    pub struct Success {
        /// The node's attributes.
        pub attributes: Option<Attributes>,
        /// The most hard links (`linkmax`).
        pub most_links: u32,
        /// The longest name, in bytes (`name_max`).
        pub longest_name: u32,
        /// Whether a longer name is refused, not cut (`no_trunc`).
        pub refuses_long_names: bool,
        /// Whether only the superuser may give a file away (`chown_restricted`).
        pub chown_restricted: bool,
        /// Whether two names that differ only in case are one name.
        pub case_insensitive: bool,
        /// Whether the case of a name is kept.
        pub case_preserving: bool,
    }
}

/// Answer of a PATHCONF (`PATHCONF3res`).
pub type Reply = Result<Success, Refused<Option<Attributes>>>;
