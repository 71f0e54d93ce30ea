//! Where the files of an export come from, and how that is written.

use std::ffi::OsStr;
use std::fmt;
use std::net::IpAddr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use howdah_client::url::{NfsUrl, UrlError, url_of};
use howdah_net::memory_limits;
use howdah_tune::sizes::parse_size;

use super::directory::served;

/// How an export in memory is written on the command line.
const MEMORY: &str = "memory:";
/// The least memory that is worth serving, in bytes.
const LEAST_MEMORY: u64 = 1 << 20;

/// Where the files of an export come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A directory of this host; its path has no symbolic link.
    Directory(PathBuf),
    /// Memory, so many bytes at most. The files are gone when the server ends.
    Memory(u64),
    /// An export of another NFS server.
    Server(Box<NfsUrl>),
}

impl Source {
    /// What was typed: a directory, `memory:` with or without a size, or an `nfs://` URL.
    pub fn parse(typed: &OsStr) -> Result<Self, String> {
        if typed.is_empty() {
            return Err("the word is empty: type a directory, memory:SIZE or nfs://HOST/EXPORT".to_owned());
        }
        if let Some(size) = typed.to_str().and_then(|text| text.strip_prefix(MEMORY)) {
            return Self::memory(size);
        }
        if let Some(address) = typed.to_str().filter(|text| text.parse::<IpAddr>().is_ok())
            && Path::new(address).symlink_metadata().is_err()
        {
            return Err(format!(
                "{address} is an address, not a directory; to serve a directory there type howdah serve DIR --listen {address}"
            ));
        }
        let url = typed.to_str().map(url_of).transpose().map_err(|error| error.to_string())?;
        match url.flatten() {
            Some(url) => Self::server(&url),
            None => served(Path::new(typed)).map(Self::Directory),
        }
    }

    /// Memory of this size; without one, half of what this host has.
    pub fn memory(size: &str) -> Result<Self, String> {
        if size.is_empty() || size == "auto" {
            let host = memory_limits();
            return Ok(Self::Memory(host.group.map_or(host.total, |group| group.min(host.total)) / 2));
        }
        let bytes = parse_size(size).map_err(|why| format!("memory:{size}: {why}"))?;
        if bytes < LEAST_MEMORY {
            return Err(format!("memory:{size} is too small: memory for an export starts at 1M"));
        }
        let most = memory_limits().total;
        if bytes > most {
            let has = howdah_units::size(most);
            return Err(format!("memory:{size} is more than the memory of this host ({has})"));
        }
        Ok(Self::Memory(bytes))
    }

    /// The export that a URL names.
    pub fn server(url: &str) -> Result<Self, String> {
        let spelled = NfsUrl::of_host_and_path(url);
        let parsed = spelled.as_deref().unwrap_or(url).parse();
        parsed.map(|url| Self::Server(Box::new(url))).map_err(|error: UrlError| error.to_string())
    }

    /// The directory, if it is one.
    pub fn directory(&self) -> Option<&Path> {
        match self {
            Self::Directory(path) => Some(path),
            _ => None,
        }
    }

    /// Whether both lead to the same files: sizes and options of a URL may differ.
    pub fn is_same_place(&self, other: &Self) -> bool {
        self.place() == other.place()
    }

    /// The place as bytes that stay the same while it is the same place.
    pub fn place(&self) -> Vec<u8> {
        match self {
            Self::Directory(path) => path.as_os_str().as_bytes().to_vec(),
            Self::Memory(_) => MEMORY.into(),
            Self::Server(url) => {
                let port = url.port.map_or(String::new(), |port| format!(":{port}"));
                [format!("nfs://{}{port}", url.host).as_bytes(), &url.path_bytes()].concat()
            }
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Directory(path) => path.display().fmt(f),
            Self::Memory(bytes) => write!(f, "memory, {} MiB at most", bytes >> 20),
            Self::Server(url) => url.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_is_a_directory_memory_or_a_server() {
        let parse = |text: &str| Source::parse(OsStr::new(text));
        assert_eq!(parse("/usr"), Ok(Source::Directory("/usr".into())));
        assert_eq!(parse("memory:2M"), Ok(Source::Memory(2 << 20)));
        assert!(matches!(parse("memory:"), Ok(Source::Memory(size)) if size > LEAST_MEMORY));
        assert!(matches!(parse("nfs://host/x"), Ok(Source::Server(_))));
        assert_eq!(parse("host:/x"), parse("nfs://host/x"));
        for (text, part) in [
            ("/no/such/place", "there is no directory"),
            ("", "the word is empty"),
            ("memory:9", "starts at 1M"),
            ("memory:much", "memory:much: "),
            ("memory:-5M", "memory:-5M: "),
            ("memory:99999T", "more than the memory of this host ("),
            ("nfs://host/x?no-such-option", "no-such-option"),
        ] {
            let why = parse(text).expect_err(text);
            assert!(why.contains(part), "{text}: {why}");
        }
    }

    #[test]
    fn a_place_is_the_same_whatever_its_size_and_options() {
        let parse = |text: &str| Source::parse(OsStr::new(text)).expect("good");
        assert!(parse("memory:1M").is_same_place(&parse("memory:2M")));
        assert!(parse("nfs://host/x?lanes=2").is_same_place(&parse("nfs://host/x")));
        assert!(!parse("nfs://host/x").is_same_place(&parse("nfs://host/y")));
        assert!(!parse("nfs://host:2050/x").is_same_place(&parse("nfs://host/x")));
    }
}
