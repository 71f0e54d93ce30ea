//! Registration with a real rpcbind, in namespaces of its own: no rpcbind of this host is ever asked.

use std::net::{SocketAddr, TcpListener};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use howdah_needs::{Lack, skipped};
use howdah_net::RpcbindStream;
use howdah_server::Transport;
use howdah_server::registration::{Registration, RegistrationError, register};
use howdah_wire::portmap::{self, Mapping, Protocol};
use howdah_wire::rpc::{CallHeader, Credentials, RecordMark, ReplyHeader};
use howdah_wire::xdr::{Decode, Decoder, Encode, Encoder};
use howdah_wire::{mount, nfs3, nfsacl, nlm, nsm};

/// Set for the process inside the namespaces.
const INSIDE: &str = "HOWDAH_TEST_INSIDE";
/// Where rpcbind listens for programs of its host.
const SOCKET: &str = "/run/rpcbind.sock";
/// Six versions (NFS 3, NFSACL 3, MOUNT 1 and 3, NLM 4, NSM 1) on TCP and UDP over IPv4 and IPv6, and NFS 4 on TCP.
const ROWS: usize = 26;
const PATIENCE: Duration = Duration::from_secs(10);

/// Runs this test again in namespaces of its own, with an empty `/run`; it ends with everything it started.
#[test]
fn a_real_rpcbind_knows_the_server_as_long_as_it_runs() {
    if std::env::var_os(INSIDE).is_some() {
        return inside();
    }
    let prepare = "mount -t tmpfs tmpfs /run && mkdir /run/rpcbind && ip link set lo up";
    let unshare = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(["--net", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", script]);
        command
    };
    let possible = unshare(&format!("{prepare} && command -v rpcbind")).stdout(Stdio::null()).output();
    if let Err(reason) = possible.map_err(|error| error.to_string()).and_then(|output| {
        if output.status.success() {
            Ok(())
        } else {
            Err(String::from_utf8_lossy(&output.stderr).into_owned())
        }
    }) {
        skipped(
            Lack::Program,
            format_args!("rpcbind, namespaces or the right to make them are missing: {reason}"),
        );
        return;
    }
    let this = std::env::current_exe().expect("a test runs from a file");
    let status = unshare(&format!("{prepare} && \"$0\" --exact --nocapture \"$1\""))
        .arg(this)
        .arg("a_real_rpcbind_knows_the_server_as_long_as_it_runs")
        .env(INSIDE, "1")
        .status()
        .expect("it ran a moment ago");
    assert!(status.success(), "inside the namespaces: {status}");
}

fn inside() {
    let listener = TcpListener::bind("[::]:0").expect("any port");
    let port = listener.local_addr().expect("bound").port();
    let error = register(&listeners(port), false).expect_err("nobody is there");
    assert!(matches!(error, RegistrationError::Unreachable(_)), "{error}");

    let mut rpcbind = start_rpcbind();
    assert_eq!(registered_port(nfs3::PROGRAM, 3), 0);

    let registration = register(&listeners(port), false).expect("registered");
    assert_eq!((registration.rows().len(), registration.refused()), (ROWS, &[][..]));
    for (program, version) in [
        (nfs3::PROGRAM, 3),
        (nfsacl::PROGRAM, 3),
        (mount::PROGRAM, 1),
        (mount::PROGRAM, 3),
        (nlm::PROGRAM, 4),
        (nsm::PROGRAM, 1),
    ] {
        assert_eq!(registered_port(program, version), u32::from(port), "{program} {version}");
    }
    another_server_is_told_who_is_there(port);
    what_a_killed_server_left_behind_is_replaced(port);
    registration_of_a_successor_stays(registration, port);
    without_the_unix_socket(port);
    rpcbind.kill().and_then(|()| rpcbind.wait()).expect("killed");
    an_rpcbind_that_is_started_anew_is_told_again(port);
}

fn start_rpcbind() -> Child {
    let rpcbind = Command::new("rpcbind").arg("-f").spawn().expect("rpcbind was found");
    wait_until(|| UnixStream::connect(SOCKET).is_ok());
    rpcbind
}

fn wait_until(is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < PATIENCE, "it does not come to that");
        std::thread::yield_now();
    }
}

fn an_rpcbind_that_is_started_anew_is_told_again(port: u16) {
    let mut first = start_rpcbind();
    let keeper = register(&listeners(port), false).expect("registered").keep().expect("a thread");
    assert_eq!(keeper.rows().len(), ROWS);
    first.kill().and_then(|()| first.wait()).expect("killed");
    let mut second = start_rpcbind();
    wait_until(|| registered_port(nfs3::PROGRAM, 3) == u32::from(port));
    wait_until(|| registered_port(mount::PROGRAM, 3) == u32::from(port));
    keeper.take_back().expect("taken back");
    assert_eq!(registered_port(nfs3::PROGRAM, 3), 0);
    second.kill().and_then(|()| second.wait()).expect("killed");
}

fn another_server_is_told_who_is_there(port: u16) {
    let error = register(&listeners(other_port()), false).expect_err("the first one runs");
    match &error {
        RegistrationError::Taken { port: taken, owner, .. } => {
            assert_eq!((*taken, owner.as_str()), (port, "superuser"))
        }
        other => panic!("{other}"),
    }
    assert_eq!(registered_port(nfs3::PROGRAM, 3), u32::from(port));
}

fn what_a_killed_server_left_behind_is_replaced(port: u16) {
    // The same port: a server that was killed and started again.
    let again = register(&listeners(port), false).expect("its own port");
    assert_eq!(again.rows().len(), ROWS);
    drop(again);
    assert_eq!(registered_port(nfs3::PROGRAM, 3), 0);

    // Another port, where nobody listens any more.
    std::mem::forget(register(&listeners(other_port()), false).expect("registered"));
    let next = register(&listeners(port), false).expect("nobody listens there");
    assert_eq!(registered_port(mount::PROGRAM, 3), u32::from(port));
    next.take_back().expect("taken back");
    assert_eq!(registered_port(mount::PROGRAM, 3), 0);
}

fn registration_of_a_successor_stays(first: Registration, port: u16) {
    let port_of_successor = other_port();
    let successor = register(&listeners(port_of_successor), false).expect("registered");
    drop(first);
    assert_eq!(registered_port(nfs3::PROGRAM, 3), u32::from(port_of_successor), "not {port}");
    drop(successor);
    assert_eq!(registered_port(nfs3::PROGRAM, 3), 0);
}

/// Over loopback, from a privileged port, as portmappers without a Unix socket are asked.
fn without_the_unix_socket(port: u16) {
    std::fs::remove_file(SOCKET).expect("it was there");
    let registration = register(&listeners(port), false).expect("registered");
    assert_eq!(
        (registration.rows().len(), registration.refused().len()),
        (ROWS / 2, ROWS / 2),
        "version 2 knows no IPv6"
    );
    assert_eq!(registered_port(nfs3::PROGRAM, 3), u32::from(port));
    drop(registration);
    assert_eq!(registered_port(nfs3::PROGRAM, 3), 0);
}

fn listeners(port: u16) -> Vec<(Transport, SocketAddr)> {
    let address = SocketAddr::from(([0; 8], port));
    vec![(Transport::Tcp, address), (Transport::Udp, address)]
}

/// A port where nobody listens, at least for now; nobody else is in this network.
fn other_port() -> u16 {
    TcpListener::bind("[::]:0").and_then(|listener| listener.local_addr()).expect("any port").port()
}

/// What GETPORT of version 2 says of a program over TCP.
fn registered_port(program: u32, version: u32) -> u32 {
    let rpcbind = RpcbindStream::connect(PATIENCE).expect("rpcbind runs");
    let header = CallHeader {
        xid: 1,
        program: portmap::PROGRAM,
        version: portmap::VERSION,
        procedure: portmap::getport::PROCEDURE,
        credentials: Credentials::None,
    };
    let mut message = Encoder::to_vec(&header);
    let mapping = Mapping { program, version, protocol: Protocol::TCP, port: 0 };
    portmap::getport::Arguments { mapping }.encode(&mut Encoder::new(&mut message));
    let mark = RecordMark { length: message.len() as u32, last: true };
    rpcbind.socket().send(&[&mark.to_bytes()[..], &message].concat()).expect("sent");
    let mut mark = [0; RecordMark::SIZE];
    rpcbind.socket().receive(&mut mark).expect("an answer");
    let mut answer = vec![0; RecordMark::from_bytes(mark).length as usize];
    rpcbind.socket().receive(&mut answer).expect("all of it");
    let mut decoder = Decoder::new(&answer);
    ReplyHeader::decode(&mut decoder).expect("a reply").outcome.expect("accepted");
    portmap::getport::Reply::decode(&mut decoder).expect("a port").port
}
