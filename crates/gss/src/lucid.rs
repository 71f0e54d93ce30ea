//! What the library that established a context exports of it (`gss_krb5_lucid_context_v1_t`): a key, and how to use it.

use std::fmt;

use zeroize::Zeroizing;

use crate::enctype::Enctype;

/// Which side of a context this one is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ContextSide {
    /// The client, which has a ticket.
    Initiator,
    /// The server, which has a key.
    Acceptor,
}

impl ContextSide {
    /// The other side.
    pub fn peer(self) -> Self {
        match self {
            Self::Initiator => Self::Acceptor,
            Self::Acceptor => Self::Initiator,
        }
    }
}

/// The key of a context. Its bytes are not shown, and are wiped when it is dropped.
#[derive(Clone)]
pub struct SessionKey {
    enctype: Enctype,
    bytes: Zeroizing<[u8; 32]>,
}

impl SessionKey {
    /// A key of a type, by its number.
    ///
    /// # Errors
    /// The type is not accepted, or its keys have another length.
    pub fn new(enctype: u32, key: &[u8]) -> Result<Self, LucidError> {
        let enctype = Enctype::from_number(enctype).ok_or(LucidError::Enctype(enctype))?;
        if key.len() != enctype.key_length() {
            return Err(LucidError::KeyLength(enctype, key.len()));
        }
        let mut bytes = Zeroizing::new([0; 32]);
        bytes[..key.len()].copy_from_slice(key);
        Ok(Self { enctype, bytes })
    }

    /// Its type.
    pub fn enctype(&self) -> Enctype {
        self.enctype
    }

    /// Its bytes: for who hands it on, and for derivation.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.enctype.key_length()]
    }
}

impl fmt::Debug for SessionKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "SessionKey({})", self.enctype)
    }
}

/// An established context.
#[derive(Debug, Clone)]
pub struct LucidContext {
    /// Which side it was exported on.
    pub side: ContextSide,
    /// The key: the acceptor's subkey if there is one, else the initiator's.
    pub key: SessionKey,
    /// Whether the key is the acceptor's subkey: all tokens then say so.
    pub acceptor_subkey: bool,
    /// The number of the first token that this side sends.
    pub send_sequence: u64,
    /// When the ticket ends, in seconds since 1970. The context is of no use afterwards.
    pub expiry: u64,
}

/// Why an exported context cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LucidError {
    /// Its enctype, by number, is not accepted.
    Enctype(u32),
    /// Its key has so many bytes, and not as many as its enctype's.
    KeyLength(Enctype, usize),
}

impl fmt::Display for LucidError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Enctype(number) => write!(
                formatter,
                "encryption type {number} is not accepted (only AES: 17, 18, 19 and 20); create AES keys for this principal"
            ),
            Self::KeyLength(enctype, length) => {
                write!(formatter, "a key of {enctype} has {} bytes, not {length}", enctype.key_length())
            }
        }
    }
}

impl std::error::Error for LucidError {}
