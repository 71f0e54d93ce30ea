//! What was typed where a place is asked for: a path, or a URL.

use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::str::FromStr;

use howdah_client::url::{NfsUrl, UrlError};

/// A local path or an `nfs://` URL, not yet looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// A path on this machine.
    Local(PathBuf),
    /// A URL, `nfs://HOST[:PORT]/EXPORT/PATH?OPTIONS`, and what was typed.
    Nfs(Box<NfsUrl>, String),
}

impl Location {
    /// Whether it was typed with a slash at its end: a directory is meant.
    pub fn means_directory(&self) -> bool {
        match self {
            Self::Local(path) => path.as_os_str().as_bytes().ends_with(b"/"),
            Self::Nfs(_, typed) => typed.split('?').next().is_some_and(|place| place.ends_with('/')),
        }
    }

    /// The name that a copy of it gets in a directory: the last part of the path, if that is a name. What ends in `/.` has
    /// none: its content is meant.
    pub fn last_name(&self) -> Option<Vec<u8>> {
        match self {
            Self::Local(path) if path.as_os_str().as_bytes().ends_with(b"/.") => None,
            Self::Local(path) => path.file_name().map(OsStr::as_bytes).map(<[u8]>::to_vec),
            Self::Nfs(url, _) => url.path.last().cloned(),
        }
    }
}

impl FromStr for Location {
    type Err = UrlError;

    fn from_str(text: &str) -> Result<Self, UrlError> {
        Ok(match NfsUrl::is_meant(text) {
            true => Self::Nfs(Box::new(text.parse()?), text.to_owned()),
            false => Self::Local(PathBuf::from(text)),
        })
    }
}

impl fmt::Display for Location {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local(path) => path.display().fmt(formatter),
            Self::Nfs(_, typed) => typed.fmt(formatter),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_a_url_and_all_else_a_path() {
        let parse = |text: &str| text.parse::<Location>().expect("well formed");
        assert!(matches!(parse("nfs://host/x"), Location::Nfs(..)));
        assert_eq!(parse("./nfs://host"), Location::Local("./nfs://host".into()));
        assert!(parse("nfs://host/x/?uid=0").means_directory() && parse("a/").means_directory());
        assert!(!parse("nfs://host/x?uid=0").means_directory() && !parse("a").means_directory());
        assert!("nfs://host/x?no-such-option".parse::<Location>().is_err());
    }

    #[test]
    fn a_copy_is_called_like_the_last_part() {
        let name = |text: &str| text.parse::<Location>().expect("well formed").last_name();
        assert_eq!(name("nfs://host:1/x/a%20b/?uid=0"), Some(b"a b".to_vec()));
        assert_eq!((name("nfs://host/"), name("nfs://host")), (None, None));
        assert_eq!(name("/srv/x/"), Some(b"x".to_vec()));
        assert_eq!((name("/"), name(".."), name("x/.")), (None, None, None));
    }
}
