//! Programs that know TLS and not RPC: a connection that is TLS from its first byte serves them.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use howdah_needs::{Lack, skipped};

use crate::server::{HOWDAH, Server, home, run, serve};

/// A NULL call of NFSv3 with AUTH_NONE, in one record, and the answer to it (RFC 5531).
const NULL: [u32; 11] = [0x8000_0028, 7, 0, 2, 100_003, 3, 0, 0, 0, 0, 0];
const ANSWER: [u32; 7] = [0x8000_0018, 7, 1, 0, 0, 0, 0];

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}

/// Whether a program is here; the test is skipped without it.
fn is_here(program: &str) -> bool {
    let found = ["/usr/bin", "/bin"].iter().any(|directory| Path::new(directory).join(program).exists());
    if !found {
        skipped(Lack::Program, format_args!("{program} is not installed"));
    }
    found
}

/// A server that takes TLS only, with certificates in the directory `tls` of its home.
fn site(home: &Path) -> Server {
    let tls = home.join("tls");
    let mut command = Command::new(HOWDAH);
    command.arg("certificate").arg(&tls).args(["--server", "a.test", "--client", "c.test", "--quiet"]);
    let (code, _, errors) = run(&mut command);
    assert_eq!(code, Some(0), "{errors}");
    let mut command = serve(home);
    command.arg(home.join("data")).args(["--listen", "127.0.0.1:0", "--privileged-ports=never"]);
    command.arg("--tls-cert").arg(tls.join("a.test.pem")).arg("--tls-key").arg(tls.join("a.test.key"));
    command.arg("--tls-client-ca").arg(tls.join("ca.pem")).args(["--allow", "cert:c.test"]);
    Server::start(&mut command)
}

#[test]
fn openssl_s_client_sends_a_call_and_gets_its_answer() {
    if !is_here("openssl") {
        return;
    }
    let home = home();
    let server = site(home.path());
    let ca = home.path().join("tls/ca.pem");
    let mut client = Command::new("openssl")
        .args(["s_client", "-quiet", "-verify_return_error", "-verify_hostname", "a.test", "-alpn", "sunrpc"])
        .args(["-connect", &server.address().to_string()])
        .arg("-CAfile")
        .arg(&ca)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("openssl is here");
    let mut calls = client.stdin.take().expect("a pipe");
    calls.write_all(&bytes(&NULL)).expect("it takes a call");
    let mut answer = vec![0; bytes(&ANSWER).len()];
    let answered = client.stdout.take().expect("a pipe").read_exact(&mut answer);
    drop(calls);
    client.kill().expect("it is a child");
    let said = client.wait_with_output().expect("it ended");
    assert!(answered.is_ok(), "{}", String::from_utf8_lossy(&said.stderr));
    assert_eq!(answer, bytes(&ANSWER));
}

#[test]
fn stunnel_carries_a_client_without_tls_and_shows_its_certificate() {
    if !is_here("stunnel4") {
        return;
    }
    let home = home();
    let server = site(home.path());
    let tls = home.path().join("tls");
    let settings = |name: &str| {
        let file = home.path().join(format!("{name}.conf"));
        let tls = tls.display();
        let identity = format!("cert = {tls}/{name}.pem\nkey = {tls}/{name}.key\n");
        let text = format!(
            "debug = err\nclient = yes\nconnect = {}\nCAfile = {tls}/ca.pem\nverifyChain = yes\ncheckHost = a.test\n{}",
            server.address(),
            if name == "nobody" { "" } else { &identity }
        );
        std::fs::write(&file, text).expect("written");
        file
    };
    let list = |name: &str| carry(TcpListener::bind("127.0.0.1:0").expect("a port"), settings(name));
    let (code, output, errors) = list("c.test");
    assert_eq!((code, output.trim()), (Some(0), "file"), "{errors}");
    let (code, _, errors) = list("nobody");
    assert!(code == Some(1) && errors.contains("denied"), "{errors}");
}

/// Lists a server's export through stunnel, as inetd runs it: one process for each connection, which is its input and output.
fn carry(listener: TcpListener, settings: PathBuf) -> (Option<i32>, String, String) {
    let front = listener.local_addr().expect("an address");
    let listed = Arc::new(AtomicBool::new(false));
    let is_over = Arc::clone(&listed);
    let carrying = std::thread::spawn(move || {
        let mut tunnels = Vec::new();
        loop {
            let (stream, _) = listener.accept().expect("a connection");
            if is_over.load(Ordering::SeqCst) {
                break;
            }
            let output = OwnedFd::from(stream.try_clone().expect("a descriptor"));
            let mut tunnel = Command::new("stunnel4");
            tunnel.arg(&settings).stdin(OwnedFd::from(stream)).stdout(output).stderr(Stdio::null());
            tunnels.push(tunnel.spawn().expect("stunnel is here"));
        }
        tunnels.into_iter().for_each(|mut tunnel| drop(tunnel.wait()));
    });
    let answer = run(Command::new(HOWDAH).arg("ls").arg(format!("nfs://{front}/")));
    listed.store(true, Ordering::SeqCst);
    // The last connection says that no more come.
    drop(TcpStream::connect(front));
    carrying.join().expect("it carried");
    answer
}
