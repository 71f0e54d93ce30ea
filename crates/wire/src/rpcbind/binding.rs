//! A binding: the type that procedures share (RFC 1833 2.1, `rpcb`).

use super::Text;
use crate::message::message;

message! {
    /// Where a version of a program listens (`rpcb`).
    #[derive(Hash)]
    pub struct Binding<'a> {
        /// The program.
        pub program: u32,
        /// Its version.
        pub version: u32,
        /// How it is reached: a network id such as `tcp6`.
        pub network: Text<'a>,
        /// Where: a universal address. A caller of GETADDR may put here the address at which it reached the server.
        pub address: Text<'a>,
        /// Who registered it.
        pub owner: Text<'a>,
    }
}
