//! Who has tickets.

use std::fmt;

use howdah_gss::LucidContext;

use crate::channel::KerberosError;

/// A context that was established.
#[derive(Debug)]
pub struct EstablishedContext {
    /// The principal of the user.
    pub client: String,
    /// Its key.
    pub lucid: LucidContext,
}

/// Takes a token to the server, and gives that of its answer.
pub type TokenExchange<'e> = dyn FnMut(&[u8]) -> Result<Vec<u8>, KerberosError> + 'e;

/// Makes contexts by the tickets of users.
pub trait TicketSource: fmt::Debug + Send + Sync {
    /// Makes a context of this user with a service, such as `nfs@HOST`. May wait for a KDC.
    ///
    /// # Errors
    /// The user has no ticket, the service is not known, or `exchange` fails.
    fn establish(
        &self,
        user: u32,
        service: &str,
        exchange: &mut TokenExchange<'_>,
    ) -> Result<EstablishedContext, KerberosError>;
}
