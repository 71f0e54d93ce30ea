//! What was typed where a place is asked for: a path, or a URL.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::builder::{OsStringValueParser, TypedValueParser, ValueParser, ValueParserFactory};
use howdah_client::url::{NfsUrl, UrlError, url_of};
use howdah_vfs::{Caller, FileKind, Node, Shown};
use rustix::process::{getegid, geteuid};

/// A local path or an `nfs://` URL, not yet looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// A path on this machine.
    Local(PathBuf),
    /// A URL, `nfs://HOST[:PORT]/EXPORT/PATH?OPTIONS` or `HOST:/EXPORT/PATH`, and what was typed.
    Nfs(Box<NfsUrl>, String),
}

impl Location {
    /// Whether calls are made there as root, of a server.
    pub fn is_root_at_server(&self) -> bool {
        match self {
            Self::Local(_) => false,
            Self::Nfs(url, _) => {
                let me = Caller::new(geteuid().as_raw(), getegid().as_raw());
                url.caller(me).user == 0
            }
        }
    }

    /// What was typed.
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Local(path) => path.as_os_str().as_bytes(),
            Self::Nfs(_, typed) => typed.as_bytes(),
        }
    }

    /// Its path in messages, without escapes: names below it are appended, and [`spelled`](super::spelled) shows the whole.
    pub fn unescaped(&self) -> Vec<u8> {
        match self {
            Self::Nfs(url, typed) if NfsUrl::is_meant(typed) => {
                let slash = if self.means_directory() && !url.path.is_empty() { "/" } else { "" };
                [url.authority().as_bytes(), &url.path_bytes(), slash.as_bytes()].concat()
            }
            _ => self.as_bytes().to_vec(),
        }
    }

    /// Whether it was typed with a slash at its end: a directory is meant.
    pub fn means_directory(&self) -> bool {
        match self {
            Self::Local(path) => path.as_os_str().as_bytes().ends_with(b"/"),
            Self::Nfs(_, typed) => typed.split('?').next().is_some_and(|place| place.ends_with('/')),
        }
    }

    /// Refuses a file that was typed with a slash at its end.
    pub fn refuse_slash(&self, node: &Node) -> Result<()> {
        if self.means_directory() && node.attributes.kind != FileKind::Directory {
            bail!("{self} is not a directory; leave out the slash");
        }
        Ok(())
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

impl TryFrom<OsString> for Location {
    type Error = UrlError;

    fn try_from(typed: OsString) -> std::result::Result<Self, UrlError> {
        if typed.is_empty() {
            return Err(UrlError::Empty);
        }
        let Some(text) = typed.to_str() else {
            return match NfsUrl::is_meant(&typed.to_string_lossy()) {
                true => Err(UrlError::NotText(typed.as_bytes().to_vec())),
                false => Ok(Self::Local(PathBuf::from(typed))),
            };
        };
        match url_of(text)? {
            Some(url) => Ok(Self::Nfs(Box::new(url.parse()?), text.to_owned())),
            None => Ok(Self::Local(PathBuf::from(typed))),
        }
    }
}

/// Names of files are any bytes, so arguments are, too.
impl ValueParserFactory for Location {
    type Parser = ValueParser;

    fn value_parser() -> ValueParser {
        ValueParser::new(OsStringValueParser::new().try_map(Self::try_from))
    }
}

impl fmt::Display for Location {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        Shown(self.as_bytes()).fmt(formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_a_url_and_all_else_a_path() {
        let parse = |text: &str| Location::try_from(OsString::from(text)).expect("well formed");
        assert!(matches!(parse("nfs://host/x"), Location::Nfs(..)));
        assert_eq!(parse("./nfs://host"), Location::Local("./nfs://host".into()));
        assert!(parse("nfs://host/x/?uid=0").means_directory() && parse("a/").means_directory());
        assert!(!parse("nfs://host/x?uid=0").means_directory() && !parse("a").means_directory());
        assert!(Location::try_from(OsString::from("nfs://host/x?no-such-option")).is_err());
        let bytes = |bytes: &[u8]| Location::try_from(OsStr::from_bytes(bytes).to_owned());
        assert_eq!(bytes(b"\xff").map(|place| place.to_string()), Ok(r"\xff".to_owned()));
        assert_eq!(bytes(b"nfs://h/\xff"), Err(UrlError::NotText(b"nfs://h/\xff".to_vec())));
        assert!(matches!(parse("host:/x y/"), Location::Nfs(url, _) if url.path == [b"x y"]));
        assert!(parse("host:/x/").means_directory());
        for (typed, unescaped) in [
            ("nfs://[fd00::1]:2050/100%25/?uid=5", "nfs://[fd00::1]:2050/100%/"),
            ("nfs://host", "nfs://host/"),
            ("host:/a b", "host:/a b"),
            ("./a%b/", "./a%b/"),
        ] {
            assert_eq!(parse(typed).unescaped(), unescaped.as_bytes());
        }
    }

    #[test]
    fn a_copy_is_called_like_the_last_part() {
        let name = |text: &str| Location::try_from(OsString::from(text)).expect("well formed").last_name();
        assert_eq!(name("nfs://host:1/x/a%20b/?uid=0"), Some(b"a b".to_vec()));
        assert_eq!((name("nfs://host/"), name("nfs://host")), (None, None));
        assert_eq!(name("/srv/x/"), Some(b"x".to_vec()));
        assert_eq!((name("/"), name(".."), name("x/.")), (None, None, None));
    }
}
