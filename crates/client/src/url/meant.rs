//! What a word means where a place is asked for: one rule for all commands.

use std::net::IpAddr;
use std::path::Path;

use super::{NfsUrl, UrlError, without_password};

/// The text of the URL that a word means, or none if it is a local path.
///
/// A URL begins with `nfs://`; `HOST:/PATH` is `nfs://HOST/PATH`. As in scp(1) and rsync(1), a local path with a colon before its first
/// slash is written with `./` before it. Other words with such a colon are local files if they exist.
///
/// # Errors
/// A word that looks like a place on a server and is none.
pub fn url_of(word: &str) -> Result<Option<String>, UrlError> {
    if NfsUrl::is_meant(word) {
        return Ok(Some(word.to_owned()));
    }
    if word.parse::<IpAddr>().is_ok() && Path::new(word).symlink_metadata().is_err() {
        return Err(UrlError::Address(word.to_owned()));
    }
    let Some((start, rest)) = word.split_once(':').filter(|(start, _)| !start.contains('/')) else {
        return Ok(None);
    };
    // "nfs:/HOST/PATH": a slash is missing. A host of that name would be a rare one.
    if start.eq_ignore_ascii_case("nfs") && rest.starts_with('/') {
        return Err(UrlError::Scheme(without_password(word)));
    }
    if rest.starts_with("//") {
        return Err(UrlError::OtherScheme { scheme: start.to_owned(), word: without_password(word) });
    }
    let url = NfsUrl::of_host_and_path(word);
    match url.is_some() || Path::new(word).symlink_metadata().is_ok() {
        true => Ok(url),
        false => Err(UrlError::Unclear(without_password(word))),
    }
}

#[cfg(test)]
mod tests {
    use super::url_of;

    #[test]
    fn a_word_is_a_url_or_a_path() {
        for (word, wanted) in [
            ("nfs://host/x", Some("nfs://host/x")),
            ("NFS://host", Some("NFS://host")),
            ("host:/x", Some("nfs://host/x")),
            ("[fd00::1]:/x", Some("nfs://[fd00::1]/x")),
            ("host", None),
            ("./host:/x", None),
            ("/srv/a:/b", None),
            ("a/b:c", None),
        ] {
            assert_eq!(url_of(word), Ok(wanted.map(str::to_owned)), "{word}");
        }
        for (word, advice) in [
            ("http://host/x", "type nfs://HOST/PATH"),
            ("127.0.0.1::", "for a server type HOST:/PATH"),
            ("127.0.0.1", "type 127.0.0.1:/PATH"),
            ("fd00::1", "type [fd00::1]:/PATH"),
            ("nfs:/host/x", "type nfs://HOST"),
            ("mem:64M", "type memory:64M"),
            ("host:data", "for a local file ./host:data"),
            ("host:2049:/x", "nfs://HOST:PORT/PATH"),
        ] {
            let why = url_of(word).expect_err(word).to_string();
            assert!(why.contains(advice), "{word}: {why}");
        }
    }
}
