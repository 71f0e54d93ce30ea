//! Further connections of a session: they join it, or are given up where the server does not take it there.

use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use howdah_client::Remote;
use howdah_client::channel::GrowthReason;
use howdah_client::connect::{ConnectOptions, connect};
use howdah_vfs::{Caller, Change, FileSystem, MakeDirectory, Name, NewAttributes};

use crate::served::{EXPORT, memory, serve};

const ME: Caller = Caller::ROOT;
const LANES: usize = 3;

/// Leads the first connection to one server, and all others to another one, as a load balancer may.
fn balance(first: SocketAddr, others: SocketAddr) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("its address");
    thread::spawn(move || {
        for (number, client) in listener.incoming().flatten().enumerate() {
            let Ok(server) = TcpStream::connect(if number == 0 { first } else { others }) else { continue };
            pass(&client, &server);
            pass(&server, &client);
        }
    });
    address
}

fn pass(from: &TcpStream, to: &TcpStream) {
    let (mut from, mut to) = (from.try_clone().expect("a clone"), to.try_clone().expect("a clone"));
    thread::spawn(move || {
        let _ = io::copy(&mut from, &mut to);
        let _ = to.shutdown(Shutdown::Both);
    });
}

fn connected(address: SocketAddr) -> Arc<dyn Remote> {
    let url = format!("nfs://{address}{EXPORT}?version=4&lanes={LANES}").parse().expect("a URL");
    connect(&url, &ConnectOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn make(client: &dyn Remote, text: &str) {
    let (root, new) = (client.root(), NewAttributes::with_mode(0o755));
    let make = MakeDirectory::new(&root, Name::parse(text.as_bytes()).expect("a name"), &new);
    client.make_directory(&ME, make, &mut Change::default()).expect("made");
}

#[test]
fn connections_to_a_server_that_does_not_know_the_session_are_given_up_for_good() {
    let files: Arc<dyn FileSystem> = memory();
    let [one, other] = [(); 2].map(|()| serve(Arc::clone(&files)));
    let client = connected(balance(one.address, other.address));
    let mut round = 0;
    loop {
        let report = client.channel().report();
        if report.why_so_many == GrowthReason::NotShared {
            assert_eq!(report.lanes.len(), 1);
            break;
        }
        make(&*client, &format!("early-{round}"));
        round += 1;
    }
    for round in 0..20 {
        make(&*client, &format!("late-{round}"));
    }
    let report = client.channel().report();
    assert_eq!((report.lanes.len(), report.why_so_many), (1, GrowthReason::NotShared));
    assert_eq!(report.lanes[0].connections, 1, "the session is where it was made");
    assert!(report.why_so_many.to_string().contains("one connection only"));
}

#[test]
fn connections_to_a_server_that_knows_the_session_join_it() {
    let served = serve(memory());
    let client = connected(served.address);
    let mut round = 0;
    let is_joined = || client.channel().report().lanes.iter().all(|lane| lane.local.is_some());
    while !is_joined() {
        make(&*client, &format!("early-{round}"));
        round += 1;
    }
    let report = client.channel().report();
    assert_eq!((report.lanes.len(), report.why_so_many), (LANES, GrowthReason::Asked));
    assert!(report.lanes.iter().all(|lane| lane.connections == 1), "{:?}", report.lanes);
}
