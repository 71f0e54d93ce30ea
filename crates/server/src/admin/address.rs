//! A TCP address where the admin interface answers whoever has the token: its page, in a browser.

use howdah_net::Listener;

use super::access_token::AccessToken;
use super::certificate::Certificate;

/// Where, for whom, and as whom.
#[derive(Debug)]
pub struct AdminAddress {
    /// Listening.
    pub listener: Listener,
    /// What whoever asks must know.
    pub token: AccessToken,
    /// With it TLS is spoken, and nothing else. Without it what goes there may be read on the way: for loopback alone.
    pub certificate: Option<Certificate>,
}
