//! A head as it was typed.

use std::fmt;
use std::str::FromStr;

use howdah_client::url::NfsUrl;

/// A head: `HOST`, `HOST:PORT` or an `nfs://` URL. The path of the URL is ignored.
#[derive(Debug, Clone)]
pub struct ClusterHead {
    typed: String,
    /// Where it is.
    pub url: NfsUrl,
}

impl FromStr for ClusterHead {
    type Err = String;

    fn from_str(typed: &str) -> Result<Self, String> {
        let url = if NfsUrl::is_meant(typed) { typed.to_owned() } else { format!("nfs://{typed}") };
        let url: NfsUrl = url.parse().map_err(|error| format!("{error}"))?;
        if !url.path.is_empty() {
            return Err(
                "expected a head without a path, like nfs1 or nfs1:20049; all of its exports are compared"
                    .to_owned(),
            );
        }
        Ok(Self { typed: typed.to_owned(), url })
    }
}

impl fmt::Display for ClusterHead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.typed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_a_host() {
        let parse =
            |text: &str| text.parse::<ClusterHead>().map(|head| (head.url.host.clone(), head.url.port));
        assert_eq!(parse("nfs1"), Ok(("nfs1".to_owned(), None)));
        assert_eq!(parse("10.0.0.1:20049"), Ok(("10.0.0.1".to_owned(), Some(20049))));
        assert_eq!(parse("nfs://[::1]:1/"), Ok(("::1".to_owned(), Some(1))));
        assert!(parse("nfs1/data").is_err_and(|why| why.contains("without a path")));
    }
}
