//! URLs that lead back to the server that would serve their files: it would wait for its own answer.

use std::net::{IpAddr, SocketAddr};

use anyhow::{Result, bail};
use howdah_client::connect::resolve;
use howdah_client::url::NfsUrl;
use howdah_net::OwnAddresses;

use howdah_config::{DEFAULT_PORT, ExportConfig, Source};

/// Refuses exports of another server that is this one, which listens there. `asks`: whether names are looked up, which may take long.
pub fn refuse_own_exports(exports: &[ExportConfig], listening: &[SocketAddr], asks: bool) -> Result<()> {
    let urls = exports.iter().filter_map(|export| match &export.source {
        Source::Server(url) => Some(url),
        _ => None,
    });
    let needs_no_look = |url: &NfsUrl| url.host == "localhost" || url.host.parse::<IpAddr>().is_ok();
    urls.filter(|url| asks || needs_no_look(url)).try_for_each(|url| refuse_own_url(url, listening))
}

/// Refuses a URL whose host and port are those of this process. A name without addresses is left to those who connect: they explain it.
pub fn refuse_own_url(url: &NfsUrl, listening: &[SocketAddr]) -> Result<()> {
    let port = url.options.nfs_port.or(url.port).unwrap_or(DEFAULT_PORT);
    let own = OwnAddresses::default();
    let far = resolve(&url.host, port).unwrap_or_default();
    if let Some(address) =
        far.into_iter().find(|far| listening.iter().any(|ours| leads_to(*far, *ours, &own)))
    {
        bail!(
            "{url} leads back to this server: it listens on {address} itself; name another server, or add the port of another \
             server of this host (nfs://HOST:PORT/EXPORT)"
        );
    }
    Ok(())
}

/// Whether who connects to the first address reaches what listens on the other one.
fn leads_to(far: SocketAddr, ours: SocketAddr, own: &OwnAddresses) -> bool {
    let (far_ip, our_ip) = (far.ip().to_canonical(), ours.ip().to_canonical());
    let is_reached = if our_ip.is_unspecified() {
        // Linux takes the unspecified address as that of this host. A socket of IPv6 takes IPv4, too.
        (ours.is_ipv6() || far_ip.is_ipv4()) && (far_ip.is_unspecified() || own.contains(far_ip))
    } else {
        our_ip == far_ip
    };
    is_reached && far.port() == ours.port()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_of_this_very_server_is_refused_however_it_is_written() {
        let refused = |url: &str, listening: &str| {
            let Source::Server(url) = Source::server(url).expect("a URL") else { panic!("{url}") };
            refuse_own_url(&url, &[listening.parse().expect("an address")]).is_err()
        };
        for (url, listening, is_own) in [
            ("nfs://127.0.0.1/", "0.0.0.0:2049", true),
            ("nfs://127.0.0.1/data", "[::]:2049", true),
            ("nfs://[::1]/", "[::]:2049", true),
            ("nfs://[::1]/", "0.0.0.0:2049", false),
            ("nfs://127.0.0.1:3049/", "0.0.0.0:3049", true),
            ("nfs://127.0.0.1/?nfsport=3049", "0.0.0.0:3049", true),
            ("nfs://127.0.0.1:3049/", "0.0.0.0:2049", false),
            ("nfs://127.0.0.2/", "127.0.0.1:2049", false),
            ("nfs://127.0.0.2/", "127.0.0.2:2049", true),
            ("nfs://0.0.0.0/", "0.0.0.0:2049", true),
            // RFC 5737: nobody's.
            ("nfs://192.0.2.1/", "0.0.0.0:2049", false),
        ] {
            assert_eq!(refused(url, listening), is_own, "{url} of a server on {listening}");
        }
    }

    #[test]
    fn the_refusal_names_the_url_and_what_to_do() {
        let Source::Server(url) = Source::server("nfs://127.0.0.1:3049/a").expect("a URL") else { panic!() };
        let refused = refuse_own_url(&url, &["127.0.0.1:3049".parse().expect("an address")]);
        let why = refused.expect_err("its own").to_string();
        assert!(why.contains("nfs://127.0.0.1:3049/a leads back to this server"), "{why}");
        assert!(why.contains("name another server"), "{why}");
    }
}
