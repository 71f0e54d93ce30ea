//! URLs as people type them.

use std::time::Duration;

use super::*;
use crate::channel::{Lanes, Transport};

fn url(text: &str) -> NfsUrl {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn wrong(text: &str) -> String {
    text.parse::<NfsUrl>().expect_err(text).to_string()
}

#[test]
fn places_are_parsed() {
    for (text, host, port, path) in [
        ("nfs://server", "server", None, "/"),
        ("nfs://server/", "server", None, "/"),
        ("NFS://server:2050/a/b", "server", Some(2050), "/a/b"),
        ("nfs://192.0.2.1//data/tmp/", "192.0.2.1", None, "/data/tmp"),
        ("nfs://[2001:db8::1]:2049/x", "2001:db8::1", Some(2049), "/x"),
        ("nfs://[fe80::1%25eth0]/x", "fe80::1%eth0", None, "/x"),
        ("nfs://server/my%3Fpath/100%25", "server", None, "/my?path/100%"),
        ("nfs://server/./a", "server", None, "/a"),
        ("nfs://server?version=3", "server", None, "/"),
        ("nfs://server?version=4.2", "server", None, "/"),
    ] {
        let url = url(text);
        assert_eq!((&url.host[..], url.port), (host, port), "{text}");
        assert_eq!(String::from_utf8_lossy(&url.path_bytes()), path, "{text}");
    }
}

#[test]
fn a_url_is_shown_as_it_can_be_typed_again() {
    for text in [
        "nfs://server/",
        "nfs://server:2050/a%20b/%FF?uid=1&soft",
        "nfs://[2001:db8::1]:2049/x",
        "nfs://[fe80::1%25eth0]/x",
    ] {
        assert_eq!(url(text).to_string(), text);
        assert_eq!(url(&url(text).to_string()), url(text));
    }
}

#[test]
fn what_is_no_place_says_why() {
    for (text, part) in [
        ("/local/path", "is no NFS URL"),
        ("http://server/x", "is no NFS URL"),
        ("nfs:///x", "\"\" is no host"),
        ("nfs://::1/x", "in brackets"),
        ("nfs://[::1/x", "in brackets"),
        ("nfs://[server]/x", "in brackets"),
        ("nfs://me@server/x", "\"me@server\" is no host"),
        ("nfs://me:secret@server/x", "\"me:...@server\" is no host: leave out the user and the @"),
        ("nfs://me:secret@server:2049/x", "\"me:...@server:2049\" is no host"),
        ("nfs://server:0/x", "\"0\" is no port"),
        ("nfs://server:65536/x", "from 1 to 65535"),
        ("nfs://server:/x", "\"\" is no port"),
        ("nfs://server/a%2", "two hexadecimal digits"),
        ("nfs://server/a%2Fb", "a slash or a NUL"),
        ("nfs://server/a/../b", "leave .. out"),
    ] {
        let said = wrong(text);
        assert!(said.contains(part) && !said.contains("secret"), "{text}: {said}");
    }
}

#[test]
fn options_are_those_of_libnfs_and_our_own() {
    let options =
        url("nfs://server/x?version=3&uid=10&gid=20&nfsport=2050&mountport=2051&rsize=65536&wsize=32768\
         &readdir-buffer=4096,8192&readahead=1048576&dircache=0&sec=none&xprtsec=none&auto-traverse-mounts=1\
         &pagecache=4&tcp-syncnt=3&debug=9&lanes=4&proto=udp&addresses=192.0.2.1,2001:db8::1")
        .options;
    assert_eq!((options.user, options.group), (Some(10), Some(20)));
    assert_eq!((options.nfs_port, options.mount_port), (Some(2050), Some(2051)));
    assert_eq!((options.read_size, options.write_size), (Some(65_536), Some(32_768)));
    assert_eq!((options.listing_size, options.read_ahead), (Some(8192), Some(1 << 20)));
    assert_eq!((options.cache, options.lanes), (Some(false), Some(Lanes::Fixed(4))));
    assert_eq!((options.transport, options.addresses.len()), (Some(Transport::Udp), 2));
    assert_eq!(options.without_effect, ["auto-traverse-mounts", "pagecache", "tcp-syncnt", "debug"]);
    assert_eq!(options.gives_up_after(), None);
}

#[test]
fn soft_gives_up_after_the_time_asked_for() {
    for (query, seconds) in [
        ("soft", Some(180)),
        ("soft=7", Some(7)),
        ("soft&timeo=50&retrans=1", Some(10)),
        ("timeo=50&retrans=0&autoreconnect=0", Some(5)),
        ("timeo=50", None),
        ("soft=4294967295", Some(u32::MAX.into())),
        ("soft&timeo=4294967295&retrans=4294967295", Some(u32::MAX.into())),
        ("autoreconnect=-1", None),
    ] {
        let options = url(&format!("nfs://server/x?{query}")).options;
        assert_eq!(options.gives_up_after(), seconds.map(Duration::from_secs), "{query}");
    }
}

#[test]
fn options_that_cannot_be_say_what_can() {
    for (query, parts) in [
        ("colour=red", &["no option \"colour\"", "version", "lanes"][..]),
        ("b#c", &["no option \"b#c\"", "write %3F"]),
        ("version=4.0", &["no sessions", "version=4"]),
        ("version=x", &["version=x is wrong: expected 3, 4, 4.1 or 4.2"]),
        ("sec=krb4", &["krb5, krb5i or krb5p"]),
        ("xprtsec=ssl", &["none, tls, mtls or direct"]),
        ("if=eth0", &["a route to the server"]),
        ("lanes=17", &["1 to 16"]),
        ("lanes=0", &["1 to 16"]),
        ("rsize=10", &["from 1024 up"]),
        ("proto=sctp", &["tcp, udp or quic"]),
        ("soft=0", &["seconds"]),
        ("soft=18446744073709551615", &["seconds"]),
        ("uid", &["uid= is wrong: expected a user id"]),
    ] {
        let said = wrong(&format!("nfs://server/x?{query}"));
        assert!(parts.iter().all(|part| said.contains(part)), "{query}: {said}");
    }
}

#[test]
fn a_host_and_a_path_are_a_url() {
    for (text, wanted) in [
        ("host:/", Some("nfs://host/")),
        ("10.0.0.7:/a b/c?d", Some("nfs://10.0.0.7/a%20b/c%3Fd")),
        ("[fd00::7]:/data", Some("nfs://[fd00::7]/data")),
        ("fd00::7:/data", None),
        ("./host:/data", None),
        ("/a:/b", None),
        (":/data", None),
        ("a b:/data", None),
        ("http://host/data", None),
        ("host:data", None),
    ] {
        let url = NfsUrl::of_host_and_path(text);
        assert_eq!(url.as_deref(), wanted, "{text}");
        assert!(url.is_none_or(|url| url.parse::<NfsUrl>().is_ok()), "{text}");
    }
}

#[test]
fn whoever_asks_to_be_somebody_else_keeps_no_groups() {
    let groups = howdah_vfs::GroupList::new([7, 8]);
    let me = Caller { groups, ..Caller::new(1000, 100) };
    assert_eq!(url("nfs://server/x").caller(me.clone()), me);
    assert_eq!(url("nfs://server/x?uid=5").caller(me.clone()), Caller::new(5, 100));
    assert_eq!(url("nfs://server/x?gid=0").caller(me), Caller::new(1000, 0));
}
