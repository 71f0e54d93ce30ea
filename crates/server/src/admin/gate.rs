//! Who may ask: callers that name this server, and not another name that was made to lead here; over TCP, callers with the
//! token.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::{
    AUTHORIZATION, CACHE_CONTROL, HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN, WWW_AUTHENTICATE,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::access_token::AccessToken;
use super::certificate::Certificate;
use super::failure::Failure;

/// What holds at one place where questions come in.
#[derive(Debug)]
pub enum Gate {
    /// The Unix socket, where the kernel says who asks, and no browser comes.
    Socket,
    /// What anybody on this host may ask over loopback.
    Loopback,
    /// A TCP address.
    Remote {
        /// Callers must send it.
        token: AccessToken,
        /// The names in it are ours.
        certificate: Option<Certificate>,
    },
}

impl Gate {
    /// Whether a browser that asks for this host means us. A name that its owner lets lead to our address (DNS rebinding) is the
    /// origin of his page, which then could ask us: addresses cannot be made to lead elsewhere, nor names of this host.
    fn is_called(&self, host: &str) -> bool {
        let name = name_of(host);
        let address = name.trim_start_matches('[').trim_end_matches(']');
        if name.eq_ignore_ascii_case("localhost") || address.parse::<IpAddr>().is_ok() {
            return true;
        }
        match self {
            Self::Socket => true,
            // Any other name may be made to lead here, also one without a dot, by the owner of a domain that is searched.
            Self::Loopback => is_this_host(name),
            Self::Remote { certificate, .. } => {
                certificate.as_ref().is_some_and(|certificate| certificate.is_for(name))
            }
        }
    }
}

/// Refuses what is not meant for this server, and says to browsers what all answers have in common.
pub async fn is_meant(State(gate): State<Arc<Gate>>, request: Request, next: Next) -> Response {
    let mut response = match meant(&gate, request.headers()) {
        Ok(()) => next.run(request).await,
        Err(failure) => failure.into_response(),
    };
    let headers = response.headers_mut();
    let mut set = |name: HeaderName, value| drop(headers.insert(name, HeaderValue::from_static(value)));
    set(CACHE_CONTROL, "no-store");
    set(X_CONTENT_TYPE_OPTIONS, "nosniff");
    set(HeaderName::from_static("cross-origin-resource-policy"), "same-origin");
    response
}

/// Refuses who does not know the token.
pub async fn has_token(State(gate): State<Arc<Gate>>, request: Request, next: Next) -> Response {
    let Gate::Remote { token, .. } = &*gate else { return next.run(request).await };
    match said(request.headers()) {
        Some(said) if token.is(said) => next.run(request).await,
        said => without_token(said.is_some()),
    }
}

fn meant(gate: &Gate, headers: &HeaderMap) -> Result<(), Failure> {
    let text = |value: &HeaderValue| value.to_str().unwrap_or_default().to_owned();
    let hosts: Vec<String> = headers.get_all(HOST).iter().map(text).collect();
    if let Some(host) = hosts.iter().find(|host| !gate.is_called(host)) {
        return Err(Failure::new(
            StatusCode::MISDIRECTED_REQUEST,
            format!("this server is not called {}", name_of(host)),
            "ask by its address, as localhost, or by a name in its certificate",
        ));
    }
    let own = |origin: &str| {
        let host = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        host.is_some_and(|host| hosts.iter().any(|own| own.eq_ignore_ascii_case(host)))
    };
    match headers.get(ORIGIN).map(text) {
        Some(origin) if !own(&origin) => Err(Failure::new(
            StatusCode::FORBIDDEN,
            "a page of another site asks",
            "open this server's own page, or ask without a browser",
        )),
        _ => Ok(()),
    }
}

/// Whether a name is what this host calls itself, with its domain or without.
fn is_this_host(name: &str) -> bool {
    let uname = rustix::system::uname();
    let own = uname.nodename().to_string_lossy();
    let short = own.split('.').next().unwrap_or_default();
    !short.is_empty() && (name.eq_ignore_ascii_case(&own) || name.eq_ignore_ascii_case(short))
}

/// A host without its port.
fn name_of(host: &str) -> &str {
    let port = host.rsplit_once(':').filter(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()));
    port.map_or(host, |(name, _)| name)
}

/// The token that comes with a question (RFC 6750 2.1).
fn said(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
}

fn without_token(is_wrong: bool) -> Response {
    let (error, challenge) = match is_wrong {
        true => ("that is not the token of this server", "Bearer realm=\"howdah\", error=\"invalid_token\""),
        false => ("this needs the token of the server", "Bearer realm=\"howdah\""),
    };
    let hint = "send it as `Authorization: Bearer TOKEN`; the screen at start names the file that it is in";
    let mut response = Failure::new(StatusCode::UNAUTHORIZED, error, hint).into_response();
    response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static(challenge));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(host: &str, origin: Option<&str>) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, host.parse().expect("a host"));
        origin.map(|origin| headers.insert(ORIGIN, origin.parse().expect("an origin")));
        headers
    }

    #[test]
    fn only_what_means_this_server_is_heard() {
        let token = AccessToken::parse("0123456789abcdef").expect("a token");
        let remote = Gate::Remote { token, certificate: None };
        for (host, local, over_tcp) in [
            ("127.0.0.1:9048", true, true),
            ("[::1]:9048", true, true),
            ("[::1]", true, true),
            ("LocalHost:1", true, true),
            ("10.0.0.7", true, true),
            ("howdah", false, false),
            ("evil.example:9048", false, false),
            ("127.0.0.1.evil.example", false, false),
            ("localhost.evil.example", false, false),
        ] {
            assert_eq!(meant(&Gate::Loopback, &headers(host, None)).is_ok(), local, "{host}");
            assert_eq!(meant(&remote, &headers(host, None)).is_ok(), over_tcp, "{host}");
        }
        let own = rustix::system::uname().nodename().to_string_lossy().into_owned();
        assert!(meant(&Gate::Loopback, &headers(&format!("{own}:9049"), None)).is_ok(), "{own}");
        assert!(meant(&Gate::Socket, &headers("howdah", None)).is_ok(), "no browser comes by a socket");
        let mut two = headers("localhost", None);
        two.append(HOST, HeaderValue::from_static("evil.example"));
        assert!(meant(&remote, &two).is_err());
    }

    #[test]
    fn pages_of_others_are_not_heard() {
        for (origin, is_ours) in [
            ("http://localhost:9048", true),
            ("https://localhost:9048", true),
            ("http://localhost:8000", false),
            ("http://evil.example", false),
            ("null", false),
        ] {
            assert_eq!(
                meant(&Gate::Loopback, &headers("localhost:9048", Some(origin))).is_ok(),
                is_ours,
                "{origin}"
            );
        }
    }
}
