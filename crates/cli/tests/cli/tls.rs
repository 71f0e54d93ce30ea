//! TLS as people set it up: certificates made, served with, renewed while it runs, and checked.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use rustix::process::Signal;

use crate::server::{HOWDAH, Server, home, run, serve};

/// Makes certificates in a directory: exit code, output, errors.
fn certificate(directory: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    run(Command::new(HOWDAH).arg("certificate").arg(directory).args(arguments))
}

/// Lists the server's export over TLS: exit code, output, errors.
fn list(server: &Server, ca: &Path, more: &str) -> (Option<i32>, String, String) {
    let url = format!("nfs://{}/?xprtsec=tls&tlsca={}{more}", server.address(), ca.display());
    run(Command::new(HOWDAH).arg("ls").arg(url))
}

#[test]
fn certificates_are_made_once_and_keys_are_for_their_owner() {
    let home = tempfile::tempdir().expect("a directory");
    let tls = home.path().join("a/tls");
    let (code, output, errors) = certificate(&tls, &["--server", "a.test,10.0.0.7", "--client", "c.test"]);
    assert_eq!(code, Some(0), "{errors}");
    assert!(output.contains("--tls-certificate") && output.contains("xprtsec=mtls"), "{output}");
    for (file, mode) in [("ca.key", 0o600), ("a.test.key", 0o600), ("c.test.key", 0o600), ("ca.pem", 0o644)] {
        let found = fs::metadata(tls.join(file)).expect(file).permissions().mode() & 0o777;
        assert_eq!(found, mode, "{file}");
    }
    let before = fs::read(tls.join("a.test.key")).expect("a key");
    let (code, _, errors) = certificate(&tls, &["--server", "a.test"]);
    assert_eq!(code, Some(1));
    assert!(errors.contains("a.test.pem is there already"), "{errors}");
    assert_eq!(fs::read(tls.join("a.test.key")).expect("a key"), before);
    let authority = fs::read(tls.join("ca.pem")).expect("an authority");
    assert_eq!(certificate(&tls, &["--server", "b.test"]).0, Some(0));
    assert_eq!(fs::read(tls.join("ca.pem")).expect("an authority"), authority, "it issues again");
    for (name, refused, why) in [
        ("../b", 2, "no spaces, quotes or slashes"),
        ("", 2, "no spaces"),
        ("ca", 1, "cannot name a certificate"),
    ] {
        let (code, _, errors) = certificate(&tls, &["--client", name]);
        assert!(code == Some(refused) && errors.contains(why), "{errors}");
    }
}

#[test]
fn a_certificate_is_renewed_without_a_restart_or_stays() {
    let home = home();
    let tls = home.path().join("tls");
    let made = certificate(&tls, &["--server", "a.test"]);
    assert_eq!(made.0, Some(0), "{}", made.2);
    assert_eq!(certificate(&tls, &["--server", "b.test"]).0, Some(0));
    let (pem, key, ca) = (home.path().join("pem"), home.path().join("key"), tls.join("ca.pem"));
    let put = |name: &str| {
        fs::copy(tls.join(format!("{name}.pem")), &pem).expect("copied");
        fs::copy(tls.join(format!("{name}.key")), &key).expect("copied");
    };
    put("a.test");
    let mut command = serve(home.path());
    command.arg(home.path().join("data")).args(["--listen", "127.0.0.1:0", "--tls", "required"]);
    command.arg("--tls-cert").arg(&pem).arg("--tls-key").arg(&key).arg("--privileged-ports=never");
    let mut server = Server::start(&mut command);
    let (code, output, errors) = list(&server, &ca, "&tlsname=a.test");
    assert_eq!((code, output.trim()), (Some(0), "file"), "{errors}");
    // A client that does not ask for TLS gets a message that says to.
    let (code, _, errors) = run(Command::new(HOWDAH).arg("ls").arg(format!("nfs://{}/", server.address())));
    assert!(code == Some(1) && errors.contains("xprtsec=tls"), "{errors}");

    put("b.test");
    server.signal(Signal::HUP);
    server.log_line("the TLS certificate was read again");
    assert_eq!(list(&server, &ca, "&tlsname=b.test").0, Some(0));
    let (_, _, errors) = list(&server, &ca, "&tlsname=a.test");
    assert!(errors.contains("it is for b.test, not for a.test"), "{errors}");

    fs::write(&key, "no key").expect("written");
    server.signal(Signal::HUP);
    server.log_line("the old configuration stays");
    assert_eq!(list(&server, &ca, "&tlsname=b.test").0, Some(0));
    server.signal(Signal::INT);
    assert_eq!(server.end().code(), Some(0));
}

#[test]
fn what_is_wrong_with_tls_is_said_before_it_serves() {
    let home = home();
    let tls = home.path().join("tls");
    assert_eq!(certificate(&tls, &["--server", "a.test", "--days", "3"]).0, Some(0));
    let file = home.path().join("howdah.toml");
    let check = |settings: &str, export: &str| {
        let (data, tls) = (home.path().join("data"), tls.display().to_string());
        let text = format!("{settings}[[export]]\nname = \"/\"\npath = \"{}\"\n{export}", data.display());
        fs::write(&file, text.replace('@', &tls)).expect("written");
        let (code, output, errors) = run(Command::new(HOWDAH).arg("check").arg(&file));
        (code, format!("{output}{errors}"))
    };
    let both = "tls_certificate = \"@/a.test.pem\"\ntls_key = \"@/a.test.key\"\n";
    let (code, said) = check(both, "tls = \"required\"\n");
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("TLS               required"), "{said}");
    assert!(said.contains("the TLS certificate for a.test expires in "), "{said}");
    for (settings, export, wanted) in [
        ("", "tls = \"required\"\n", "needs a certificate: set tls_certificate"),
        (both, "tls = \"client-certificate\"\n", "set tls_client_ca"),
        (both, "tls = \"on\"\n", "expected one of \"off\""),
        ("tls_key = \"/k\"\n", "", "tls_certificate (--tls-certificate) is missing"),
        ("tls_certificate = \"pem\"\n", "", "expected a path that starts with a slash"),
    ] {
        let (code, said) = check(settings, export);
        assert!(code == Some(2) && said.contains(wanted), "{wanted:?}: {said}");
    }
}
