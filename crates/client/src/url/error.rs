//! Why a text is no URL of ours: each says what was typed and what would do.

use std::fmt;

use howdah_vfs::Shown;

use super::KNOWN_OPTIONS;

/// Why a text is no `nfs://` URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UrlError {
    /// Nothing was typed.
    Empty,
    /// It does not start with `nfs://`.
    Scheme(String),
    /// It starts with the scheme of another protocol.
    OtherScheme {
        /// Which.
        scheme: String,
        /// All of it.
        word: String,
    },
    /// It looks like a place on a server, and is neither that nor a file that exists.
    Unclear(String),
    /// An address without a path.
    Address(String),
    /// No host, or one that cannot be.
    Host(String),
    /// A port that is not 1 to 65535.
    Port(String),
    /// `%` without two hexadecimal digits after it.
    Escape(String),
    /// Bytes that are no text.
    NotText(Vec<u8>),
    /// A part of the path that cannot be a name on a server.
    PathPart {
        /// The part, decoded.
        part: String,
        /// Why not.
        problem: &'static str,
    },
    /// An option that nobody here knows.
    UnknownOption(String),
    /// The same without a value: perhaps the `?` is part of a name.
    NoOption(String),
    /// A value that the option does not take.
    OptionValue {
        /// The option.
        option: String,
        /// What was given.
        value: String,
        /// What it takes.
        takes: &'static str,
    },
    /// An option that libnfs has and that cannot be left out silently, but is not done here.
    Unsupported {
        /// The option with its value.
        option: String,
        /// Why, and what to do.
        why: &'static str,
    },
}

impl fmt::Display for UrlError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => formatter.write_str("a word is empty: type a path, HOST:/PATH or nfs://HOST/PATH"),
            Self::Scheme(text) => {
                write!(formatter, "{text:?} is no NFS URL: type nfs://HOST[:PORT]/PATH or HOST:/PATH")
            }
            Self::OtherScheme { scheme, word } => {
                write!(
                    formatter,
                    "\"{scheme}\" is no protocol of howdah: type nfs://HOST/PATH; for a local file ./{word}"
                )
            }
            Self::Unclear(word) if word.starts_with("mem:") => {
                write!(
                    formatter,
                    "\"{word}\" is no place: for an export in memory type memory:{}",
                    &word["mem:".len()..]
                )
            }
            Self::Unclear(word) => {
                write!(
                    formatter,
                    "\"{word}\" is neither a server nor a file that exists: for a server type HOST:/PATH or \
                     nfs://HOST:PORT/PATH, for a local file ./{word}"
                )
            }
            Self::Address(word) => {
                let host = if word.contains(':') { format!("[{word}]") } else { word.clone() };
                write!(
                    formatter,
                    "\"{word}\" is an address without a path: for a server type {host}:/PATH, for a local file ./{word}"
                )
            }
            Self::Host(host) if host.contains('@') => {
                write!(
                    formatter,
                    "{host:?} is no host: leave out the user and the @; the option uid= of the URL names a user"
                )
            }
            Self::Host(host) => {
                write!(
                    formatter,
                    "{host:?} is no host: expected a name, an IPv4 address, or an IPv6 address in brackets, as in nfs://[fd00::1]/data"
                )
            }
            Self::Port(port) => write!(
                formatter,
                "{port:?} is no port: expected a number from 1 to 65535, as in nfs://host:2049/data"
            ),
            Self::Escape(text) => {
                write!(formatter, "{text:?}: % must be followed by two hexadecimal digits; % itself is %25")
            }
            Self::NotText(typed) => {
                write!(
                    formatter,
                    "{}: in a URL, bytes that are no text are written as % and two hexadecimal digits",
                    Shown(typed)
                )
            }
            Self::PathPart { part, problem } => write!(formatter, "{part:?} in the path {problem}"),
            Self::UnknownOption(option) | Self::NoOption(option)
                if ["vers", "nfsvers", "v3", "v4"].contains(&option.as_str()) =>
            {
                write!(
                    formatter,
                    "a URL has no option {option:?}: use version=3, version=4, version=4.1 or version=4.2"
                )
            }
            Self::NoOption(option) => {
                write!(formatter, "a URL has no option {option:?}: where ? is part of a name, write %3F")
            }
            Self::UnknownOption(option) => {
                write!(formatter, "a URL has no option {option:?}; it has")?;
                KNOWN_OPTIONS.iter().try_for_each(|known| write!(formatter, " {}", known.name))
            }
            Self::OptionValue { option, value, takes } if ends_with_unit(value) => {
                write!(formatter, "the option {option}={value} is wrong: expected {takes}, without a unit")
            }
            Self::OptionValue { option, value, takes } => {
                write!(formatter, "the option {option}={value} is wrong: expected {takes}")
            }
            Self::Unsupported { option, why } => {
                write!(formatter, "the option {option} is not supported: {why}")
            }
        }
    }
}

/// Whether a number has a unit behind it.
fn ends_with_unit(value: &str) -> bool {
    value.starts_with(|letter: char| letter.is_ascii_digit())
        && value.ends_with(|letter: char| letter.is_ascii_alphabetic())
}

impl std::error::Error for UrlError {}
