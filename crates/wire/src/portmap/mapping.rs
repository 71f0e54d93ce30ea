//! A mapping: the type that procedures share (RFC 1833 3.1, `mapping`).

use crate::message::{message, newtype};

newtype! {
    /// How a program is reached: a protocol number of IP.
    pub struct Protocol(pub u32), "protocol";
}

impl Protocol {
    /// `IPPROTO_TCP`
    pub const TCP: Self = Self(6);
    /// `IPPROTO_UDP`
    pub const UDP: Self = Self(17);
}

message! {
    /// Where a version of a program listens (`mapping`).
    #[derive(PartialOrd, Ord, Hash)]
    pub struct Mapping {
        /// The program.
        pub program: u32,
        /// Its version.
        pub version: u32,
        /// How it is reached.
        pub protocol: Protocol,
        /// Its port; as wide as on the wire, so that what does not fit a port is still shown as it came.
        pub port: u32,
    }
}
