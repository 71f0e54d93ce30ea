//! The options that a URL may carry: one row each, with what it takes and what is done with it.

use super::options::{self, UrlOptions};
use super::refusal::Refusal;

/// One option.
pub struct KnownOption {
    /// Its name.
    pub name: &'static str,
    /// What its value may be.
    pub takes: &'static str,
    /// What it is for.
    pub about: &'static str,
    /// Takes a value into the options; the refusal is why it cannot.
    pub(super) set: fn(&mut UrlOptions, &str) -> Result<(), Refusal>,
}

macro_rules! known_options {
    ($($name:literal, $takes:literal, $about:literal, $set:expr;)*) => {
        /// Every option there is, those of libnfs first.
        pub const KNOWN_OPTIONS: &[KnownOption] =
            &[$(KnownOption { name: $name, takes: $takes, about: $about, set: $set }),*];
    };
}

known_options! {
    "version", "3, 4, 4.1 or 4.2", "the version of NFS; 4 is the highest of 4.2 and 4.1 that the server speaks, and without the option 3 is tried first",
        options::set_version;
    "uid", "a user id", "acts as this user for all callers", |o, v| options::number(v, &mut o.user);
    "gid", "a group id", "acts as this group for all callers", |o, v| options::number(v, &mut o.group);
    "nfsport", "a port", "where NFS is, asking no portmapper", |o, v| options::port(v, &mut o.nfs_port);
    "mountport", "a port", "where MOUNT is, asking no portmapper", |o, v| options::port(v, &mut o.mount_port);
    "rsize", "a number of bytes from 1024 up", "the most bytes in one READ",
        |o, v| options::size(v, &mut o.read_size);
    "wsize", "a number of bytes from 1024 up", "the most bytes in one WRITE",
        |o, v| options::size(v, &mut o.write_size);
    "readdir-buffer", "one number of bytes from 1024 up, or two with a comma between", "the most bytes of a listing's answer",
        options::set_listing_size;
    "timeo", "tenths of a second, at least 1", "with soft: how long an answer may take",
        |o, v| options::positive(v, &mut o.timeout_tenths);
    "retrans", "a number", "with soft: how often that time is waited again",
        |o, v| options::number(v, &mut o.retransmissions);
    "autoreconnect", "-1, 0 or a number", "-1 waits for the server for ever (the default), any other does not",
        options::set_reconnect;
    "readahead", "a number of bytes", "how far is read ahead; 0 turns it off",
        |o, v| options::number(v, &mut o.read_ahead);
    "dircache", "0 or 1", "whether attributes and names are remembered", |o, v| options::flag(v, &mut o.cache);
    "sec", "sys, none, krb5, krb5i or krb5p", "the user that the server acts as, and what proves that: krb5 signs calls by Kerberos, krb5i their data too, and krb5p encrypts", options::set_security;
    "krb5name", "a host name", "with sec=krb5, krb5i or krb5p: the server's name in Kerberos, if it is not that of the URL (howdah's own)",
        |o, v| options::word(v, &mut o.kerberos_name);
    "xprtsec", "none, tls, mtls or direct", "how the transport is secured: mtls shows the server a certificate, too; direct begins TLS without asking, for cloud services", options::set_transport_security;
    "tlsca", "a file", "with xprtsec: the authorities that issue certificates of servers, in PEM; those of the system without it (howdah's own)",
        |o, v| options::file(v, &mut o.tls_authorities);
    "tlscert", "a file", "with xprtsec=mtls: the certificate, in PEM (howdah's own)", |o, v| options::file(v, &mut o.tls_certificate);
    "tlskey", "a file", "with xprtsec=mtls: its key, in PEM (howdah's own)", |o, v| options::file(v, &mut o.tls_key);
    "tlsname", "a host name or an address", "with xprtsec: the name in the server's certificate, if it is not that of the URL (howdah's own)",
        |o, v| options::word(v, &mut o.tls_name);
    "if", "an interface", "the interface to use", |_, _| Err(Refusal::Unsupported(
        "set a route to the server instead"));
    "auto-traverse-mounts", "0 or 1", "taken, without effect: exports inside exports are mounted by URLs of their own",
        |o, v| options::without_effect(o, "auto-traverse-mounts", v, &["0", "1"]);
    "pagecache", "a number", "taken, without effect", |o, v| options::ignored_number(o, "pagecache", v);
    "tcp-syncnt", "a number", "taken, without effect", |o, v| options::ignored_number(o, "tcp-syncnt", v);
    "debug", "a number", "taken, without effect", |o, v| options::ignored_number(o, "debug", v);
    "lanes", "auto, or 1 to 16", "how many connections to the server; auto begins with one and has more while they help (howdah's own)",
        options::set_lanes;
    "proto", "tcp, udp or quic", "the transport (howdah's own)", options::set_transport;
    "soft", "nothing, or seconds", "gives up when the server does not answer that long (howdah's own)", options::set_soft;
    "addresses", "IP addresses with commas between", "further addresses of the same server, for lanes (howdah's own)",
        options::set_addresses;
}
