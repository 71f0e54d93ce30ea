//! The URL: host, port, path, options.

use std::fmt;
use std::net::Ipv6Addr;
use std::str::FromStr;

use howdah_vfs::{Caller, Name, NameError};

use super::{UrlError, UrlOptions, percent, taking, without_password};

/// What every URL of ours starts with.
const SCHEME: &str = "nfs://";

/// A place on a server: `nfs://host[:port]/path[?option=value[&...]]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NfsUrl {
    /// A name or an address, without brackets.
    pub host: String,
    /// The port of all programs of the server, if the URL gives one.
    pub port: Option<u16>,
    /// The names on the way from `/`, decoded: none at all is `/` itself.
    pub path: Vec<Vec<u8>>,
    /// What else it asks for.
    pub options: UrlOptions,
    /// The options as they were typed, to be shown again.
    query: String,
}

impl NfsUrl {
    /// Whether a text means to be a URL of ours, and not a local path.
    pub fn is_meant(text: &str) -> bool {
        text.get(..SCHEME.len()).is_some_and(|start| start.eq_ignore_ascii_case(SCHEME))
    }

    /// `HOST:/PATH`, as mount(8) and scp(1) have it, as a URL; none of another text. In such a path nothing is escaped, and an IPv6
    /// address stands in brackets.
    pub fn of_host_and_path(text: &str) -> Option<String> {
        let (host, path) = text.split_once(":/")?;
        let is_host = !host.is_empty() && !host.contains(['/', ' ']) && !path.starts_with('/');
        let is_bare = !host.contains(':') || (host.starts_with('[') && host.ends_with(']'));
        let mut url = format!("{SCHEME}{host}/");
        for (number, name) in path.split('/').enumerate() {
            if number > 0 {
                url.push('/');
            }
            percent::encode(name.as_bytes(), &mut url);
        }
        (is_host && is_bare).then_some(url)
    }

    /// `nfs://HOST[:PORT]`.
    pub fn authority(&self) -> String {
        let host = match self.host.contains(':') {
            true => format!("[{}]", self.host.replace('%', "%25")),
            false => self.host.clone(),
        };
        let port = self.port.map_or(String::new(), |port| format!(":{port}"));
        format!("{SCHEME}{host}{port}")
    }

    /// The path as a server's MOUNT takes it: names after slashes, byte for byte.
    pub fn path_bytes(&self) -> Vec<u8> {
        join(&self.path)
    }

    /// The user of calls: `uid` and `gid` if the URL gives them, else those of `caller`.
    pub fn caller(&self, caller: Caller) -> Caller {
        match (self.options.user, self.options.group) {
            (None, None) => caller,
            // A caller that acts as another user does not keep its own groups.
            (user, group) => Caller::new(user.unwrap_or(caller.user), group.unwrap_or(caller.group)),
        }
    }

    /// The same server and options with another path.
    pub fn with_path(&self, path: Vec<Vec<u8>>) -> Self {
        Self { path, ..self.clone() }
    }
}

/// A path of these names; none at all is `/`.
pub(crate) fn join(names: &[Vec<u8>]) -> Vec<u8> {
    if names.is_empty() {
        return b"/".to_vec();
    }
    names.iter().flat_map(|name| [&b"/"[..], name].concat()).collect()
}

impl FromStr for NfsUrl {
    type Err = UrlError;

    fn from_str(text: &str) -> Result<Self, UrlError> {
        if !Self::is_meant(text) {
            return Err(UrlError::Scheme(without_password(text)));
        }
        let (place, query) = text[SCHEME.len()..].split_once('?').unwrap_or((&text[SCHEME.len()..], ""));
        let (authority, path) = place.split_once('/').unwrap_or((place, ""));
        let (host, port) = host_and_port(authority)?;
        Ok(Self { host, port, path: parts(path)?, options: options(query)?, query: query.to_owned() })
    }
}

fn host_and_port(authority: &str) -> Result<(String, Option<u16>), UrlError> {
    let wrong = || UrlError::Host(without_password(authority));
    if authority.contains('@') {
        return Err(wrong());
    }
    let (host, rest) = match authority.strip_prefix('[') {
        Some(bracketed) => {
            let (host, rest) = bracketed.split_once(']').ok_or_else(wrong)?;
            // The interface of a link-local address stands after a percent sign, escaped or not (RFC 6874).
            let host = host.replace("%25", "%");
            host.split('%').next().and_then(|address| Ipv6Addr::from_str(address).ok()).ok_or_else(wrong)?;
            (host, rest)
        }
        None => {
            let end = authority.find(':').unwrap_or(authority.len());
            (authority[..end].to_owned(), &authority[end..])
        }
    };
    if host.is_empty() || host.contains(char::is_whitespace) {
        return Err(wrong());
    }
    match rest.strip_prefix(':') {
        Some(port) if port.contains(':') => Err(wrong()),
        Some(port) => Ok((host, Some(port_number(port)?))),
        None if rest.is_empty() => Ok((host, None)),
        None => Err(wrong()),
    }
}

fn port_number(text: &str) -> Result<u16, UrlError> {
    text.parse().ok().filter(|&port| port > 0).ok_or_else(|| UrlError::Port(text.to_owned()))
}

fn parts(path: &str) -> Result<Vec<Vec<u8>>, UrlError> {
    let parts = path.split('/').filter(|part| !part.is_empty() && *part != ".");
    parts.map(|part| percent::decode(part).and_then(checked)).collect()
}

fn checked(part: Vec<u8>) -> Result<Vec<u8>, UrlError> {
    let problem = match Name::parse(&part) {
        Ok(_) => return Ok(part),
        Err(NameError::DotDot | NameError::Dot) => "is no name: leave .. out, and name the directory itself",
        Err(NameError::TooLong) => "is longer than a name can be (255 bytes)",
        Err(NameError::Empty | NameError::ForbiddenByte) => "holds a slash or a NUL, which no name can",
    };
    Err(UrlError::PathPart { part: String::from_utf8_lossy(&part).into_owned(), problem })
}

fn options(query: &str) -> Result<UrlOptions, UrlError> {
    let mut options = UrlOptions::default();
    for option in query.split('&').filter(|option| !option.is_empty()) {
        let split = option.split_once('=');
        let (name, value) = split.unwrap_or((option, ""));
        let value = percent::decode(value)?;
        taking::take(&mut options, name, &String::from_utf8_lossy(&value)).map_err(|error| match error {
            UrlError::UnknownOption(name) if split.is_none() => UrlError::NoOption(name),
            error => error,
        })?;
    }
    Ok(options)
}

impl fmt::Display for NfsUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = self.authority();
        if self.path.is_empty() {
            text.push('/');
        }
        for name in &self.path {
            text.push('/');
            percent::encode(name, &mut text);
        }
        if !self.query.is_empty() {
            text.push('?');
            text.push_str(&self.query);
        }
        formatter.write_str(&text)
    }
}

#[cfg(test)]
mod tests;
