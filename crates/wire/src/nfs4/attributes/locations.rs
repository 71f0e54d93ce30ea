//! Where a file system that is not here can be had: the value of `fs_locations` (RFC 8881 11.17).

use crate::limits::ITEMS4_MAX;
use crate::message::message;
use crate::nfs4::{Name, Opaque};
use crate::xdr::Array;

message! {
    /// The places of a file system (`fs_locations4`).
    pub struct Locations<'a> {
        /// The path of its root on the server that was asked (`fs_root`).
        pub root: Array<'a, Name<'a>, ITEMS4_MAX>,
        /// Where it is, the best place first.
        pub places: Array<'a, Location<'a>, ITEMS4_MAX>,
    }
}

message! {
    /// A place of a file system (`fs_location4`).
    pub struct Location<'a> {
        /// Host names or addresses of one server.
        pub servers: Array<'a, Opaque<'a>, ITEMS4_MAX>,
        /// The path of the file system's root there.
        pub root: Array<'a, Name<'a>, ITEMS4_MAX>,
    }
}
