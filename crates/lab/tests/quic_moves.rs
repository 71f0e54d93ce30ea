//! A client of QUIC whose address changes under load: no call is lost, no byte is wrong, and the connection stays. It takes root, and says
//! so where there is none.

use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use howdah_client::Remote;
use howdah_client::connect::{ConnectOptions, connect};
use howdah_client::url::NfsUrl;
use howdah_lab::network::{LabNetwork, Topology, WireSpec};
use howdah_needs::{Lack, skipped};
use howdah_server::exports::{ClientRule, Export, Exports, Squash, TlsPolicy};
use howdah_server::{Server, Settings, Sockets};
use howdah_tls::{Authority, CertificatePurpose, ServerFiles, ServerTls};
use howdah_vfs::memory::MemoryFileSystem;
use howdah_vfs::{
    Caller, Change, Create, CreateFile, Data, FileSystem, Name, NewAttributes, ReadFile, Stability, WriteFile,
};

const WIRE: &str = "path0";
const CLIENT: &str = "client";
const SERVER: &str = "server";
const DAY: Duration = Duration::from_secs(86_400);
const THREADS: usize = 4;
const MOVES: u8 = 4;
const LENGTH: usize = 300_000;
/// Longer than any call takes, also on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);

/// Writes a certificate for the server's address, and the authority behind it.
fn certificate(home: &Path, address: IpAddr) -> ServerTls {
    let (authority, made) = Authority::new("test", DAY).expect("an authority");
    let made_for_server = authority.issue(CertificatePurpose::Server, &[address.to_string()], DAY);
    let server = made_for_server.expect("issued");
    let texts: [(&str, &[u8]); 3] = [
        ("ca.pem", made.certificate.as_ref()),
        ("server.pem", server.certificate.as_ref()),
        ("server.key", server.key.as_ref()),
    ];
    for (name, text) in texts {
        std::fs::write(home.join(name), text).expect("written");
    }
    let files = ServerFiles {
        certificate: home.join("server.pem"),
        key: home.join("server.key"),
        authorities: Vec::new(),
        revocations: Vec::new(),
    };
    ServerTls::read(&files).expect("good files")
}

fn serve(network: &LabNetwork, home: &Path) -> (Server, NfsUrl) {
    let address = network.address(SERVER, WIRE);
    let tls = certificate(home, address);
    let rule = ClientRule { squash: Squash::None, ..ClientRule::default() };
    let files: Arc<dyn FileSystem> = Arc::new(MemoryFileSystem::new());
    let export = Export::new("/", 1, files, vec![rule]).with_tls(TlsPolicy::Required);
    let exports = Exports::new(vec![export], [7; 16]).expect("one export");
    let start = || {
        let mut sockets = Sockets::bind(&[(address, 0).into()], false).expect("a free port");
        sockets.bind_quic(&[(address, 0).into()], &tls).expect("a free port");
        let settings = Settings { workers: 4, tls: Some(tls.clone()), ..Settings::default() };
        Server::start(&settings, sockets, exports).expect("a server")
    };
    let server = network.host(SERVER).run_in(start).expect("a thread");
    let quic = server.addresses().last().expect("QUIC").1;
    let url = format!("nfs://{quic}/?proto=quic&tlsca={}", home.join("ca.pem").display());
    (server, url.parse().expect("a URL"))
}

/// Writes a file of its own, and reads it again.
fn round(client: &dyn Remote, thread: usize, round: usize) {
    let (caller, change) = (Caller::ROOT, &mut Change::default());
    let text = format!("file-{thread}-{round}");
    let name = Name::parse(text.as_bytes()).expect("a name");
    let data: Vec<u8> = (0..LENGTH).map(|at| (at * 13 + thread * 101 + round * 7) as u8).collect();
    let how = Create::Guarded(NewAttributes::with_mode(0o600));
    let file = client
        .create(&caller, CreateFile::new(&client.root(), name, &how), change)
        .expect("made once")
        .handle;
    let write = WriteFile::new(&file, 0, Data::Bytes(&data), Stability::FileSync);
    assert_eq!(client.write(&caller, write, change).expect("written").count, data.len());
    let mut read = Vec::new();
    client.read(&caller, ReadFile::new(&file, 0, data.len()), &mut read).expect("read");
    assert!(read == data, "{text}");
    client.remove(&caller, &client.root(), name, change).expect("removed once");
}

fn ip(network: &LabNetwork, words: &[&str]) {
    let status = network.host(CLIENT).command("ip").args(words).status().expect("ip runs");
    assert!(status.success(), "ip {words:?}");
}

/// Waits until so many rounds were done.
fn wait_for(rounds: &AtomicUsize, count: usize) {
    let began = Instant::now();
    while rounds.load(Ordering::SeqCst) < count {
        if began.elapsed() > LIMIT {
            // Its threads wait for replies that do not come, and a panic would wait for them.
            std::process::abort();
        }
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_client_that_moves_loses_nothing() {
    if !rustix::process::geteuid().is_root() {
        skipped(Lack::Root, "making network namespaces takes root");
        return;
    }
    let home = tempfile::tempdir().expect("a directory");
    let network = LabNetwork::build(&Topology::pair(WireSpec::default())).expect("a network");
    let (server, url) = serve(&network, home.path());
    let connected = network.host(CLIENT).run_in(|| connect(&url, &ConnectOptions::default()));
    let client = connected.expect("a thread").unwrap_or_else(|error| panic!("{error}"));
    let (over, rounds) = (AtomicBool::new(false), AtomicUsize::new(0));
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (client, over, rounds) = (&client, &over, &rounds);
            scope.spawn(move || {
                for number in 0.. {
                    round(&**client, thread, number);
                    rounds.fetch_add(1, Ordering::SeqCst);
                    if over.load(Ordering::SeqCst) {
                        return;
                    }
                }
            });
        }
        let IpAddr::V4(mut now) = network.addresses(CLIENT, WIRE).v4.into() else { panic!("IPv4") };
        for step in 1..=MOVES {
            wait_for(&rounds, rounds.load(Ordering::SeqCst) + 2 * THREADS);
            let [a, b, c, _] = now.octets();
            let next = Ipv4Addr::new(a, b, c, 100 + step);
            ip(&network, &["address", "del", &format!("{now}/24"), "dev", WIRE]);
            ip(&network, &["address", "add", &format!("{next}/24"), "dev", WIRE]);
            now = next;
        }
        wait_for(&rounds, rounds.load(Ordering::SeqCst) + 2 * THREADS);
        over.store(true, Ordering::SeqCst);
    });
    let lanes = client.channel().report().lanes;
    assert!(lanes.iter().all(|lane| lane.connections == 1), "{lanes:?}");
    let report = server.tuning_report();
    let moves = report.connections.iter().filter_map(|one| one.quic.as_ref()).map(|quic| quic.moves).max();
    assert_eq!(moves, Some(u64::from(MOVES)));
}
