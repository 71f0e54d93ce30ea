//! From a URL to a file system: which part of the path is mounted, where the server's programs are found, and what is said
//! when nothing comes of it.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use howdah_client::Identity;
use howdah_client::Remote;
use howdah_client::channel::{Channel, ChannelOptions, Request, Target, Transport};
use howdah_client::connect::{ConnectOptions, connect};
use howdah_client::mount::{Place, mount};
use howdah_client::nfs3::{Nfs3, Settings};
use howdah_client::url::NfsUrl;
use howdah_needs::{Lack, skipped};
use howdah_vfs::conformance::Abilities;
use howdah_vfs::{Caller, Change, Create, CreateFile, FileSystem, MakeDirectory, Name, NewAttributes};
use howdah_wire::mount as protocol;
use howdah_wire::nfs3;
use howdah_wire::xdr::{Decode, Decoder, Encoder};

use crate::middleman::{Fate, Middleman};
use crate::served::{EXPORT, Served, memory, serve_at, serve_memory};

const ME: Caller = Caller::ROOT;

fn name(text: &str) -> Name<'_> {
    Name::parse(text.as_bytes()).expect("a name")
}

/// A server with `/export/a/b/file`.
fn with_tree() -> Served {
    let served = serve_memory();
    let client = served.client("");
    let new = NewAttributes::with_mode(0o755);
    let mut directory = client.root();
    for text in ["a", "b"] {
        let made = client.make_directory(
            &ME,
            MakeDirectory::new(&directory, name(text), &new),
            &mut Change::default(),
        );
        directory = made.expect("a directory").handle;
    }
    let how = Create::Guarded(NewAttributes::with_mode(0o600));
    client
        .create(&ME, CreateFile::new(&directory, name("file"), &how), &mut Change::default())
        .expect("a file");
    served
}

fn opened(url: &NfsUrl, options: &ConnectOptions) -> Arc<dyn Remote> {
    connect(url, options).unwrap_or_else(|error| panic!("{url}: {error}"))
}

fn refused(text: &str, options: &ConnectOptions) -> String {
    let url = text.parse().expect("a URL");
    connect(&url, options).err().unwrap_or_else(|| panic!("{text}: connected")).to_string()
}

#[test]
fn the_longest_start_of_the_path_that_can_be_mounted_is_the_root() {
    let served = with_tree();
    for (path, below) in [
        ("/export", &[][..]),
        ("/export/", &[]),
        ("//export//a/", &[]),
        ("/export/a/b", &[]),
        ("/export/a/b/file", &["file"]),
        ("/export/a/new/file", &["new", "file"]),
    ] {
        let client = opened(&served.url(path, ""), &ConnectOptions::default());
        let left: Vec<_> = client.below_root().iter().map(|name| String::from_utf8_lossy(name)).collect();
        assert_eq!(left, below, "{path}");
        // The first of them was looked up beside the call that asks for sizes.
        let first_below =
            client.first_below_at_connect().map(|first_below| first_below.map(|node| node.attributes.kind));
        let there = client.below_root().first().map(|first| {
            let found = client.lookup(&ME, &client.root(), Name::parse(first).expect("a name"));
            found.map(|found| found.node.attributes.kind)
        });
        assert_eq!(first_below, there, "{path}");
    }
    let client = opened(&served.url("/export/a/b/file", ""), &ConnectOptions::default());
    assert!(client.lookup(&ME, &client.root(), name("file")).is_ok());
}

#[test]
fn a_path_that_may_be_a_file_or_new_is_asked_for_with_its_parent_and_both_are_taken_back() {
    const MNT: u32 = protocol::mnt::PROCEDURE;
    const UMNT: u32 = protocol::umnt::PROCEDURE;
    let served = with_tree();
    let new = ConnectOptions { into_directory: true, ..ConnectOptions::default() };
    let file = ConnectOptions { may_be_file: true, ..ConnectOptions::default() };
    for (path, options, below, calls) in [
        ("/export/a/b/file", file, 1, &[MNT, MNT, UMNT][..]),
        ("/export/a/b", new.clone(), 0, &[MNT, MNT, UMNT, UMNT]),
        ("/export/a/b/file", new.clone(), 1, &[MNT, MNT, UMNT]),
        ("/export/new/x", new.clone(), 2, &[MNT, MNT, MNT, UMNT]),
        ("/export", new, 0, &[MNT, MNT, UMNT, UMNT]),
    ] {
        let between = Middleman::before(served.address);
        let (sender, answered) = mpsc::channel();
        between.judge(move |exchange| {
            if exchange.program == protocol::PROGRAM {
                sender.send(exchange.procedure).expect("the test waits");
            }
            Fate::Pass
        });
        let url = format!("nfs://127.0.0.1:{}{path}", between.address.port()).parse().expect("a URL");
        let client = opened(&url, &options);
        assert_eq!(client.below_root().len(), below, "{path}");
        drop(client);
        let mut seen: Vec<u32> =
            calls.iter().map(|_| answered.recv_timeout(Duration::from_secs(60)).expect("a call")).collect();
        seen.sort_unstable();
        assert_eq!(seen, calls, "{path}");
        assert!(answered.try_recv().is_err(), "{path}: no more than that");
    }
}

#[test]
fn a_file_that_is_mounted_has_its_directory_if_that_is_asked_for() {
    let served = with_tree();
    let client = opened(&served.url("/export/a/b", ""), &ConnectOptions::default());
    let file = client.lookup(&ME, &client.root(), name("file")).expect("there").node.handle;
    let between = Middleman::before(served.address);
    // As Linux has it.
    between.judge(move |exchange| {
        let is_mount =
            (exchange.program, exchange.procedure) == (protocol::PROGRAM, protocol::mnt::PROCEDURE);
        match is_mount && exchange.arguments.ends_with(b"/export/a/b/file") {
            true => {
                let flavors = vec![howdah_wire::rpc::AuthFlavor::SYS];
                let reply = protocol::mnt::Success { handle: nfs3::FileHandle(file.as_bytes()), flavors };
                Fate::Replace(Encoder::to_vec(&protocol::mnt::Reply::Ok(reply)))
            }
            false => Fate::Pass,
        }
    });
    let url = format!("nfs://127.0.0.1:{}/export/a/b/file", between.address.port()).parse().expect("a URL");
    let lone = opened(&url, &ConnectOptions::default());
    assert_eq!((lone.root(), lone.below_root().len()), (file, 0));
    let options = ConnectOptions { into_directory: true, ..ConnectOptions::default() };
    let client = opened(&url, &options);
    assert_eq!(client.below_root(), [b"file"]);
    assert_eq!(client.lookup(&ME, &client.root(), name("file")).expect("there").node.handle, file);
}

#[test]
fn nothing_leads_out_of_what_was_mounted() {
    let served = with_tree();
    let client = opened(&served.url("/export/a/b", ""), &ConnectOptions::default());
    let parent = client.parent(&ME, &client.root()).expect("a parent");
    assert_eq!(parent.node.handle, client.root());
}

#[test]
fn a_mount_that_is_refused_says_what_the_server_exports() {
    let served = with_tree();
    let text = format!("nfs://{}/elsewhere/x", served.address);
    let said = refused(&text, &ConnectOptions::default());
    for part in
        ["127.0.0.1: mounting /elsewhere/x: there is no such export", "exports /export", "showmount -e"]
    {
        assert!(said.contains(part), "{said}");
    }
}

/// Options under which the server itself is the portmapper, as howdah is one.
fn with_portmapper(port: u16) -> ConnectOptions {
    ConnectOptions { portmap_port: port, ..ConnectOptions::default() }
}

#[test]
fn without_a_port_the_portmapper_is_asked() {
    let served = with_tree();
    let url = "nfs://127.0.0.1/export/a".parse().expect("a URL");
    let client = opened(&url, &with_portmapper(served.address.port()));
    assert!(client.lookup(&ME, &client.root(), name("b")).is_ok());
}

#[test]
fn the_portmapper_is_asked_for_all_ports_at_once() {
    const QUESTIONS: usize = 3;
    let served = with_tree();
    let port = u32::from(served.address.port());
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let portmapper = listener.local_addr().expect("its address");
    // It answers when it has all questions: for the last the client must not wait for the answer to the first.
    thread::spawn(move || -> io::Result<()> {
        let (mut stream, _) = listener.accept()?;
        let mut calls = Vec::new();
        while calls.len() < QUESTIONS {
            let mut mark = [0; 4];
            stream.read_exact(&mut mark)?;
            let mut call = vec![0; (u32::from_be_bytes(mark) & 0x7fff_ffff) as usize];
            stream.read_exact(&mut call)?;
            calls.push(call);
        }
        for call in calls {
            let is_udp = call[call.len() - 8..call.len() - 4] == 17_u32.to_be_bytes();
            let results = [1, 0, 0, 0, 0, if is_udp { 0 } else { port }].map(u32::to_be_bytes);
            let reply = [&call[..4], results.as_flattened()].concat();
            stream.write_all(&(0x8000_0000 | reply.len() as u32).to_be_bytes())?;
            stream.write_all(&reply)?;
        }
        stream.read(&mut [0]).map(drop)
    });
    let url = "nfs://127.0.0.1/export/a".parse().expect("a URL");
    let client = opened(&url, &with_portmapper(portmapper.port()));
    assert!(client.lookup(&ME, &client.root(), name("b")).is_ok());
}

#[test]
fn over_ipv6_rpcbind_is_asked() {
    let any: SocketAddr = "[::1]:0".parse().expect("an address");
    if TcpListener::bind(any).is_err() {
        skipped(Lack::Kernel, "this machine has no IPv6");
        return;
    }
    let served = serve_at(any, memory(), Abilities::default(), None);
    assert!(opened(&served.url(EXPORT, ""), &ConnectOptions::default()).below_root().is_empty());
    let url = "nfs://[::1]/export".parse().expect("a URL");
    assert!(opened(&url, &with_portmapper(served.address.port())).below_root().is_empty());
}

#[test]
fn without_a_portmapper_all_programs_are_expected_on_the_port_of_nfs() {
    let url = "nfs://127.0.0.1/export".parse().expect("a URL");
    // What has that port on this host is asked for MOUNT: nothing, another program, or a server that may let us in.
    if let Err(error) = connect(&url, &with_portmapper(free_port())) {
        let said = error.to_string();
        assert!(said.contains("127.0.0.1:2049") || said.contains("mounting"), "{said}");
    }
}

#[test]
fn ports_that_are_said_are_not_asked_for() {
    let served = with_tree();
    let port = served.address.port();
    let url = format!("nfs://127.0.0.1/export?nfsport={port}&mountport={port}").parse().expect("a URL");
    let client = opened(&url, &with_portmapper(free_port()));
    assert!(client.statistics(&ME, &client.root()).is_ok());
}

/// A port that nobody has now.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("its address").port()
}

#[test]
fn mount_is_looked_for_elsewhere_when_it_is_not_on_the_port_said() {
    let served = with_tree();
    // A port of NFS where nobody is: MOUNT is not there, and the portmapper knows where.
    let text = format!("nfs://127.0.0.1:{}/export", free_port());
    let said = refused(&text, &with_portmapper(served.address.port()));
    assert!(said.contains("cannot connect to"), "what fails is NFS, after MOUNT was found: {said}");
}

#[test]
fn a_host_without_a_server_or_an_address_is_named() {
    let port = free_port();
    let said = refused(&format!("nfs://127.0.0.1:{port}/export"), &with_portmapper(port));
    assert!(
        said.contains(&format!("127.0.0.1:{port}")) && said.contains("is an NFS server running"),
        "{said}"
    );
    // Longer than a name can be, so that no name server is asked.
    let host = "x".repeat(70);
    let said = refused(&format!("nfs://{host}/export"), &ConnectOptions::default());
    assert!(said.starts_with(&format!("cannot find the address of {host}: ")), "{said}");
}

/// Options that make a server that says nothing an error soon, though not too soon for a busy machine.
fn with_patience() -> ConnectOptions {
    ConnectOptions { patience: Duration::from_secs(10), ..ConnectOptions::default() }
}

#[test]
fn a_server_that_mounts_and_then_says_nothing_is_no_endless_wait() {
    let served = serve_memory();
    let middleman = Middleman::before(served.address);
    middleman.judge(|exchange| if exchange.program == nfs3::PROGRAM { Fate::Drop } else { Fate::Pass });
    let said = refused(&format!("nfs://{}/export", middleman.address), &with_patience());
    let expected = format!("asking for NFS version 3 at {}: no answer within 10s", middleman.address);
    assert!(said.contains(&expected), "{said}");
}

#[test]
fn what_answers_and_is_no_nfs_says_so() {
    let served = serve_memory();
    // Ports of a server that has MOUNT, and of one that has not even that.
    let other = Middleman::before(served.address);
    other.deny(nfs3::PROGRAM);
    let said = refused(&format!("nfs://{}/export", other.address), &ConnectOptions::default());
    assert!(said.contains("it does not serve this program"), "{said}");
    other.deny(protocol::PROGRAM);
    let text = format!("nfs://127.0.0.1:{}/export?version=3", other.address.port());
    let said = refused(&text, &with_portmapper(free_port()));
    assert!(said.contains("asking MOUNT at") && said.contains("it does not serve this program"), "{said}");
    assert!(said.contains("version=4 needs no MOUNT"), "{said}");
}

/// A server that says something when it is called, or before.
fn says(text: &'static [u8], waits: bool) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("its address");
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            // A client that goes away in the middle is as good.
            thread::spawn(move || {
                if waits {
                    let _ = stream.read(&mut [0; 4]);
                }
                let _ = stream.write_all(text);
                let _ = io::copy(&mut stream, &mut io::sink());
            });
        }
    });
    address
}

#[test]
fn another_service_is_told_by_what_it_says() {
    for (waits, text, shown) in [
        (true, &b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], "\"HTTP/1.1 400 Bad Request\""),
        (false, b"SSH-2.0-OpenSSH_9.2\r\n", "\"SSH-2.0-OpenSSH_9.2\""),
        (true, b"\x15\x03\x01\x00\x02\x02\x46", r#""\x15\x03\x01\x00\x02\x02F", as of TLS"#),
    ] {
        let port = says(text, waits).port();
        let expected = format!(
            "127.0.0.1:{port} answers, but not with RPC (its first bytes are {shown}): another service listens there; \
             type the port of NFS, as in nfs://127.0.0.1:2049/..."
        );
        assert_eq!(refused(&format!("nfs://127.0.0.1:{port}/export"), &ConnectOptions::default()), expected);
        // MOUNT is elsewhere, and answers.
        let served = serve_memory();
        let text = format!("nfs://127.0.0.1:{}/export?nfsport={port}", served.address.port());
        assert_eq!(refused(&text, &ConnectOptions::default()), expected);
    }
}

#[test]
fn a_service_that_takes_connections_and_answers_nothing_is_told_so() {
    let hurried = ConnectOptions { patience: Duration::from_secs(2), ..ConnectOptions::default() };
    let silent = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let closing = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let [silent_at, closing_at] =
        [&silent, &closing].map(|listener| listener.local_addr().expect("its address"));
    thread::spawn(move || closing.incoming().for_each(drop));
    // The kernel takes connections for a listener that nobody asks.
    for (address, does) in [
        (silent_at, "accepts a connection, but does not answer"),
        (closing_at, "accepts connections, but closes them without an answer, as TLS may"),
    ] {
        let port = address.port();
        let options = ConnectOptions { portmap_port: free_port(), ..hurried.clone() };
        let said = refused(&format!("nfs://127.0.0.1:{port}/export"), &options);
        assert!(
            said.starts_with(&format!("127.0.0.1:{port} {does}: another service may listen there")),
            "{said}"
        );
    }
}

/// What the server thinks is mounted.
fn mounts(served: &Served) -> Vec<String> {
    let target = Target { addresses: vec![served.address], transport: Transport::Tcp };
    let channel = Channel::open(target, ChannelOptions::default()).expect("a channel");
    let answer = channel.call(Request {
        procedure: protocol::dump::PROCEDURE,
        ..Request::null(protocol::PROGRAM, protocol::VERSION_3)
    });
    let results = answer.expect("an answer").results;
    let list = protocol::dump::Reply::decode(&mut Decoder::new(&results)).expect("a list");
    list.mounts.iter().map(|mount| String::from_utf8_lossy(mount.path.0).into_owned()).collect()
}

#[test]
fn a_mount_is_taken_back_in_the_end() {
    let served = serve_memory();
    // It is a courtesy, for which there is a second: on a busy machine that may be too little.
    let is_taken_back = |_| {
        let client = served.client("");
        assert_eq!(mounts(&served), [EXPORT]);
        drop(client);
        let end = Instant::now() + Duration::from_secs(2);
        while !mounts(&served).is_empty() && Instant::now() < end {
            std::thread::yield_now();
        }
        mounts(&served).is_empty()
    };
    assert!((0..5).any(is_taken_back), "{:?}", mounts(&served));
}

#[test]
fn calls_act_as_whom_the_url_says() {
    let served = serve_memory();
    for (query, user, group) in [("uid=1000&gid=100", 1000, 100), ("uid=7", 7, own_group()), ("", 5, 6)] {
        let client = served.client(query);
        let how = Create::Guarded(NewAttributes::with_mode(0o600));
        let text = format!("f{user}");
        let caller = Caller::new(5, 6);
        let made = client.create(
            &caller,
            CreateFile::new(&client.root(), name(&text), &how),
            &mut Change::default(),
        );
        let attributes = made.expect("a file").attributes;
        assert_eq!((attributes.user, attributes.group), (user, group), "{query}");
    }
}

#[test]
fn nobody_in_particular_is_whom_the_server_says() {
    let served = serve_memory();
    let place = Place { address: served.address, transport: Transport::Tcp };
    let mounted =
        mount(place, (&[b"export".to_vec()], false), ME, Duration::from_secs(10), None).expect("a mount");
    let target = Target { addresses: vec![served.address], transport: Transport::Tcp };
    let channel = Channel::open(target, ChannelOptions::default()).expect("a channel");
    let settings = Settings { identity: Identity::Nobody, ..Settings::default() };
    let client = Nfs3::new(Arc::new(channel), Transport::Tcp, (mounted.handle, Vec::new()), &ME, settings)
        .expect("a client");
    let how = Create::Guarded(NewAttributes::with_mode(0o600));
    let made = client.create(&ME, CreateFile::new(&client.root(), name("f"), &how), &mut Change::default());
    assert_eq!(made.expect("a file").attributes.user, 65_534);
}

#[test]
fn a_flavor_that_the_server_does_not_take_is_not_tried() {
    let served = serve_memory();
    let said = refused(&format!("nfs://{}/export?sec=none", served.address), &ConnectOptions::default());
    assert!(said.contains("the server accepts sys for this export, not none"), "{said}");
}

fn own_group() -> u32 {
    howdah_client::connect::own_caller().group
}

#[test]
fn transfers_are_as_large_as_the_url_and_the_server_allow() {
    let served = serve_memory();
    assert_eq!(served.client("").sizes().read, 1 << 20);
    let sizes = served.client("rsize=65536&wsize=8388608&readdir-buffer=8192").sizes();
    assert_eq!((sizes.read, sizes.write, sizes.listing), (65_536, 1 << 20, 8192));
}
