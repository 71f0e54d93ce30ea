//! What was typed where a place is asked for: a path, or a URL.

use std::convert::Infallible;
use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::str::FromStr;

/// What NFS URLs begin with.
const SCHEME: &str = "nfs://";

/// A local path or an `nfs://` URL, not yet looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// A path on this machine.
    Local(PathBuf),
    /// A URL, `nfs://HOST[:PORT]/EXPORT/PATH?OPTIONS`.
    Nfs(String),
}

impl Location {
    /// Whether it was typed with a slash at its end: a directory is meant.
    pub fn means_directory(&self) -> bool {
        match self {
            Self::Local(path) => path.as_os_str().as_bytes().ends_with(b"/"),
            Self::Nfs(url) => path_of(url).ends_with('/'),
        }
    }

    /// The name that a copy of it gets in a directory: the last part of the path, if that is a name.
    pub fn last_name(&self) -> Option<Vec<u8>> {
        let last = match self {
            Self::Local(path) => path.file_name().map(OsStr::as_bytes),
            Self::Nfs(url) => path_of(url).trim_end_matches('/').rsplit('/').next().map(str::as_bytes),
        };
        let name = last.map(|name| match self {
            Self::Local(_) => name.to_vec(),
            Self::Nfs(_) => decode(name),
        });
        name.filter(|name| !name.is_empty())
    }
}

/// The path of a URL, without host and options.
fn path_of(url: &str) -> &str {
    let rest = url.strip_prefix(SCHEME).unwrap_or(url);
    let rest = rest.split('?').next().unwrap_or(rest);
    rest.find('/').map_or("", |slash| &rest[slash..])
}

/// Takes `%20` and the like for what they stand for; anything else stays.
fn decode(text: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&first, after)) = rest.split_first() {
        let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = digits.filter(|_| first == b'%').and_then(|digits| u8::from_str_radix(digits, 16).ok());
        plain.push(byte.unwrap_or(first));
        rest = if byte.is_some() { &after[2..] } else { after };
    }
    plain
}

impl FromStr for Location {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(match text.starts_with(SCHEME) {
            true => Self::Nfs(text.to_owned()),
            false => Self::Local(PathBuf::from(text)),
        })
    }
}

impl fmt::Display for Location {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local(path) => path.display().fmt(formatter),
            Self::Nfs(url) => url.fmt(formatter),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_a_url_and_all_else_a_path() {
        let parse = |text: &str| text.parse::<Location>().expect("infallible");
        assert_eq!(parse("nfs://host/x"), Location::Nfs("nfs://host/x".into()));
        assert_eq!(parse("./nfs://host"), Location::Local("./nfs://host".into()));
        assert!(parse("nfs://host/x/?uid=0").means_directory() && parse("a/").means_directory());
        assert!(!parse("nfs://host/x?a=/").means_directory() && !parse("a").means_directory());
    }

    #[test]
    fn a_copy_is_called_like_the_last_part() {
        let name = |text: &str| text.parse::<Location>().expect("infallible").last_name();
        assert_eq!(name("nfs://host:1/x/a%20b%zz/?uid=0"), Some(b"a b%zz".to_vec()));
        assert_eq!(name("nfs://host/"), None);
        assert_eq!(name("nfs://host"), None);
        assert_eq!(name("/srv/x/"), Some(b"x".to_vec()));
        assert_eq!((name("/"), name("..")), (None, None));
    }
}
