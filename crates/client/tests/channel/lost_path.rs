//! A path that is lost while the server is there, by another way. Each test that takes root says so where there is none.

use std::net::{SocketAddr, TcpListener};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use howdah_client::channel::{Channel, ChannelOptions, Class, Target, Transport};
use howdah_needs::{Lack, skipped};
use howdah_net::Namespace;

use crate::scripted;
use crate::served::{Nothing, request};

const FIRST: &str = "10.9.0.1";
const SECOND: &str = "10.9.0.2";
/// Long enough that nothing else ends it.
const SILENCE: Duration = Duration::from_secs(60);

fn ip(host: &Namespace, arguments: &[&str]) {
    let status = host.command("ip").args(arguments).status().expect("ip runs");
    assert!(status.success(), "ip {arguments:?}: {status}");
}

#[test]
fn calls_of_a_lost_path_go_another_way_with_their_xids() {
    if !rustix::process::geteuid().is_root() {
        skipped(Lack::Root, "making network namespaces takes root");
        return;
    }
    let host = Namespace::new().expect("a host");
    ip(&host, &["link", "set", "lo", "up"]);
    [FIRST, SECOND].iter().for_each(|address| ip(&host, &["address", "add", address, "dev", "lo"]));
    host.run_in(|| lose_the_first(&host)).expect("a thread");
}

fn lose_the_first(host: &Namespace) {
    let (tell, receiver) = mpsc::channel();
    let serve = |address: &str| {
        let listener = TcpListener::bind((address, 0)).expect("a free port");
        let (address, tell): (SocketAddr, _) = (listener.local_addr().expect("bound"), tell.clone());
        scripted::listen(listener, move |_, mut guest| {
            loop {
                let came = guest.call()?;
                tell.send((address, came.xid)).expect("the test listens");
                guest.answer(&came, &[])?;
            }
        });
        address
    };
    let addresses = [FIRST, SECOND].map(serve);
    let target = Target { addresses: addresses.to_vec(), transport: Transport::Tcp };
    let options = ChannelOptions { silence: SILENCE, ..ChannelOptions::default() };
    let channel = Channel::open(target, options).expect("a channel");
    let call = || channel.start(request(0, &Nothing, Class::Attributes)).wait().expect("an answer");
    assert!(!call().sent_more_than_once);
    let (at, xid) = receiver.recv().expect("a call");
    assert_eq!(at, addresses[0]);

    ip(host, &["address", "del", FIRST, "dev", "lo"]);
    let began = Instant::now();
    assert!(call().sent_more_than_once);
    assert!(began.elapsed() < SILENCE / 2, "{:?}", began.elapsed());
    assert_eq!(receiver.recv().expect("a call"), (addresses[1], xid.wrapping_add(1)), "the same call");
    let report = channel.report();
    assert_eq!((report.lanes[0].server, report.lanes[0].connections), (addresses[1], 2));
    assert!(!call().sent_more_than_once, "it stays there");
    assert_eq!(receiver.recv().expect("a call"), (addresses[1], xid.wrapping_add(2)));
}
