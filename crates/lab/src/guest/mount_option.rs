//! The options of mount(8) and nfs(5) that versions 3 and 4 over a network know, so that a typo is found before a guest boots.

use anyhow::{Result, bail, ensure};

/// What the value of an option may be.
enum Takes {
    Nothing,
    Number,
    OneOf(&'static [&'static str]),
    Text,
}

const TRANSPORTS: &[&str] = &["tcp", "udp", "tcp6", "udp6"];

/// Options with the same kind of value.
const KNOWN: [(Takes, &[&str]); 11] = [
    (
        Takes::Nothing,
        &[
            "ac",
            "acl",
            "async",
            "atime",
            "bg",
            "cto",
            "defaults",
            "dev",
            "diratime",
            "dirsync",
            "exec",
            "fg",
            "fsc",
            "hard",
            "intr",
            "lock",
            "noac",
            "noacl",
            "noatime",
            "nocto",
            "nodev",
            "nodiratime",
            "noexec",
            "nofsc",
            "nointr",
            "nolock",
            "nordirplus",
            "norelatime",
            "noresvport",
            "nosharecache",
            "nosuid",
            "rdirplus",
            "relatime",
            "resvport",
            "ro",
            "rw",
            "sharecache",
            "sloppy",
            "soft",
            "softerr",
            "softreval",
            "suid",
            "sync",
            "tcp",
            "udp",
        ],
    ),
    (
        Takes::Number,
        &[
            "acdirmax",
            "acdirmin",
            "acregmax",
            "acregmin",
            "actimeo",
            "max_connect",
            "mountport",
            "namlen",
            "nconnect",
            "port",
            "retrans",
            "retry",
            "rsize",
            "timeo",
            "wsize",
        ],
    ),
    (Takes::OneOf(TRANSPORTS), &["proto", "mountproto"]),
    (Takes::OneOf(&["3", "4.1", "4.2"]), &["vers", "nfsvers"]),
    (Takes::OneOf(&["3"]), &["mountvers"]),
    (Takes::OneOf(&["all", "none", "pos", "positive"]), &["lookupcache"]),
    (Takes::OneOf(&["all", "flock", "posix", "none"]), &["local_lock"]),
    (Takes::OneOf(&["lazy", "eager", "wait"]), &["write"]),
    (Takes::OneOf(&["sys", "none", "krb5", "krb5i", "krb5p"]), &["sec"]),
    (Takes::OneOf(&["none", "tls", "mtls"]), &["xprtsec"]),
    (Takes::Text, &["mounthost", "addr", "mountaddr"]),
];

/// Refuses an option that is unknown, and a value that the option does not take.
pub fn check(word: &str) -> Result<()> {
    let (name, value) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
    let Some((takes, _)) = KNOWN.iter().find(|(_, names)| names.contains(&name)) else {
        let mut known: Vec<&str> = KNOWN.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        known.sort_unstable();
        bail!(
            "mount option \"{name}\" is unknown; the possible words are {}, read_ahead_kb",
            known.join(", ")
        );
    };
    match (takes, value) {
        (Takes::Nothing, value) => ensure!(value.is_none(), "mount option \"{word}\" takes no value"),
        (Takes::Number, value) => ensure!(
            value.is_some_and(|value| value.parse::<u32>().is_ok()),
            "mount option \"{word}\" takes a number"
        ),
        (Takes::OneOf(possible), value) => ensure!(
            value.is_some_and(|value| possible.contains(&value)),
            "mount option \"{word}\" takes one of {}",
            possible.join(", ")
        ),
        (Takes::Text, value) => ensure!(value.is_some(), "mount option \"{word}\" takes a value"),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_known_with_their_values() {
        for word in
            ["ro", "nconnect=4", "proto=tcp6", "vers=3", "lookupcache=pos", "xprtsec=mtls", "sec=krb5p"]
        {
            assert!(check(word).is_ok(), "{word}");
        }
        for (word, says) in [
            ("nconect=4", "nconnect"),
            ("ro=1", "no value"),
            ("rsize", "a number"),
            ("rsize=1M", "a number"),
            ("proto=tpc", "tcp, udp"),
            ("vers=4", "one of 3"),
        ] {
            let error = check(word).expect_err(word).to_string();
            assert!(
                error.contains(word.split('=').next().unwrap_or_default()) && error.contains(says),
                "{error}"
            );
        }
    }
}
