//! Where the bulk data of a reply goes: straight to a buffer of the caller's.

/// A buffer for the data of a reply, and how to find that data.
#[derive(Debug)]
pub struct ReceiveInto {
    /// The data is appended here, straight from the socket; what it holds already stays.
    pub buffer: Vec<u8>,
    /// The most bytes of data that are taken.
    pub most: usize,
    /// Finds the data: looks at the first bytes of the results, which follow the header of the reply.
    pub locate: fn(&[u8]) -> Locate,
}

/// Where the data of a reply is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Locate {
    /// These bytes are not enough yet.
    NeedMore,
    /// There is none, as in a refusal.
    NoData,
    /// Here.
    Data {
        /// How many bytes of the results come before it.
        at: usize,
        /// Its length in bytes, without padding.
        length: usize,
    },
}
