//! The admin interface over TCP: its socket, its token, its certificate.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use howdah_config::{AdminListen, TlsFiles};
use howdah_net::Listener;
use howdah_server::admin::{AccessToken, AdminAddress, Certificate};

use crate::host::{admin_token, admin_token_file, is_full_or_read_only};

/// What is named where a certificate is no good.
const WHICH: &str = "admin_certificate and admin_key";

/// Where the live page is, for the screen.
#[derive(Debug, Clone)]
pub struct LivePage {
    /// Without the token.
    pub url: String,
    /// The file of the token.
    pub file: PathBuf,
    token: AccessToken,
    certificate: Option<(Certificate, TlsFiles)>,
}

impl LivePage {
    /// With the token where browsers keep it to themselves, behind `#`: not for logs.
    pub fn url_with_token(&self) -> String {
        format!("{}#token={}", self.url, self.token.reveal())
    }

    /// Reads the certificate and its key again; if they are no good, it stays as it was.
    pub fn renew_certificate(&self) -> Result<()> {
        let Some((certificate, files)) = &self.certificate else { return Ok(()) };
        certificate.renew(&files.certificate, &files.key).context(WHICH)
    }
}

/// Listens there.
pub fn admin_listener(listen: &AdminListen) -> Result<Listener> {
    let step =
        || format!("listening on {} for the live page; --admin-listen names another place", listen.address);
    Listener::bind(listen.address).with_context(step)
}

/// What answers there, with the token of that state directory if no other file is named; nothing if there is no token and none can be
/// written.
pub fn admin_address(
    listen: &AdminListen,
    listener: Listener,
    state: &Path,
) -> Result<Option<(AdminAddress, LivePage)>> {
    let certificate = listen.tls.as_ref().map(read).transpose()?;
    let file = admin_token_file(state, listen.token.as_deref());
    let token = match admin_token(&file) {
        Err(error) if is_full_or_read_only(&error) => {
            tracing::warn!("no live page until howdah is restarted: {error:#}");
            return Ok(None);
        }
        token => token?,
    };
    let url = url(listener.address(), certificate.as_ref());
    tracing::info!("live page: {url}; its token is in {}", file.display());
    let certificates = certificate.clone().zip(listen.tls.clone());
    let page = LivePage { url, file, token: token.clone(), certificate: certificates };
    Ok(Some((AdminAddress { listener, token, certificate }, page)))
}

fn read(tls: &TlsFiles) -> Result<Certificate> {
    Certificate::read(&tls.certificate, &tls.key).context(WHICH)
}

/// What a person may open: on this host, unless the certificate is for other names alone.
fn url(address: SocketAddr, certificate: Option<&Certificate>) -> String {
    let here = if address.ip().is_unspecified() { "localhost".to_owned() } else { address.ip().to_string() };
    let host = certificate.and_then(|certificate| certificate.name(&here)).unwrap_or(here);
    let host = if host.contains(':') { format!("[{host}]") } else { host };
    let scheme = if certificate.is_some() { "https" } else { "http" };
    format!("{scheme}://{host}:{}/", address.port())
}
