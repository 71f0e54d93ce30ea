//! A TCP address where the admin interface answers callers with the token: its page, in a browser.

use howdah_net::Listener;

use super::access_token::AccessToken;
use super::certificate::Certificate;

/// The listener, the token of its callers, and its certificate.
#[derive(Debug)]
pub struct AdminAddress {
    /// Listening.
    pub listener: Listener,
    /// What callers must send.
    pub token: AccessToken,
    /// With it TLS is spoken, and nothing else. Without it what goes there may be read on the way: for loopback alone.
    pub certificate: Option<Certificate>,
}
