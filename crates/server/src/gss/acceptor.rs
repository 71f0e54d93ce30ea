//! Who makes contexts of tokens.

use howdah_gss::LucidContext;

/// Makes contexts of the first tokens of clients. Several threads ask at the same time, and wait.
pub trait TokenAcceptor: Send + Sync {
    /// The context that a client begins with this token.
    ///
    /// # Errors
    /// Why there is none.
    fn accept(&self, token: &[u8]) -> Result<AcceptedToken, TokenRefusal>;

    /// How many threads may ask at the same time.
    fn width(&self) -> usize;
}

/// A context, and what the client needs to have it too.
#[derive(Debug)]
pub struct AcceptedToken {
    /// The token for the client.
    pub reply: Vec<u8>,
    /// The client's principal, with its realm: `alice@EXAMPLE.ORG`.
    pub client: String,
    /// The service that the client asked for: `nfs/server.example.org@EXAMPLE.ORG`.
    pub service: String,
    /// Its key, and when it ends.
    pub lucid: LucidContext,
}

/// Why a token makes no context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenRefusal {
    /// `GSS_S_…` (RFC 2743 1.2.1.1), for the client.
    pub major: u32,
    /// A code of the mechanism, for the client.
    pub minor: u32,
    /// Both in words, and what to do: for the log.
    pub why: String,
}
