//! What clients of other makers send, as their sources and manuals say: each habit names where it is from. None of these
//! systems runs here; a habit shows that its calls are answered as that client needs them.

mod common;

use std::collections::BTreeSet;
use std::fs::{File, Permissions, set_permissions};
use std::io::Write;
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::sync::Arc;
use std::time::Duration;

use common::read_record;
use howdah_server::exports::{ClientRule, Export, Exports, Squash};
use howdah_server::{Server, Settings, Sockets};
use howdah_store::local::{LocalFileSystem, Options};
use howdah_vfs::memory::{MemoryFileSystem, MemoryOptions};
use howdah_wire::mount::{self, DirectoryPath, mnt};
use howdah_wire::nfs3::{
    self, DirectoryName, FileHandle, NewAttributes, SetTime, Status, Time, access, commit, create, fsinfo,
    getattr, lookup, read, readdir, readdirplus, setattr, write,
};
use howdah_wire::rpc::{Accepted, AuthSys, CallHeader, Credentials, RecordMark, ReplyHeader};
use howdah_wire::xdr::{Decode, Decoder, Encode, Encoder};

/// Far above what an answer takes, far below what a person waits for a failing test.
const PATIENCE: Duration = Duration::from_secs(20);
/// Names in the directory that is listed.
const NAMES: usize = 700;
/// Cookies from here on are negative to clients that keep them in a signed word.
const SIGNED: u64 = 1 << 63;

/// A habit of a client.
struct Habit {
    system: &'static str,
    does: &'static str,
    /// Where this is documented.
    source: &'static str,
    check: fn(&mut Session),
}

const BUSYBOX: &str = "busybox, util-linux/nfsmount.c";
const FREEBSD: &str = "FreeBSD, sys/fs/nfs/nfs.h and sys/fs/nfsclient/nfs_clvfsops.c";
const XNU: &str = "Apple's xnu, bsd/nfs/nfs.h and nfs_vfsops.c";
const ILLUMOS: &str = "illumos, usr/src/uts/common/fs/nfs/nfs3_vnops.c";
const VMWARE: &str = "VMware vSphere Storage, \"NFS File Locking\" and \"NFS Security\"";
const MICROSOFT: &str = "Microsoft, Client for NFS: AnonymousUid and AnonymousGid, and mount";

const HABITS: &[Habit] = &[
    Habit {
        system: "busybox",
        does: "mounts by MNT of version 3 over UDP",
        source: BUSYBOX,
        check: mounts_by_udp,
    },
    Habit {
        system: "busybox",
        does: "asks for MOUNT 1 and NFS 2 if it is asked to, and must get a refusal",
        source: BUSYBOX,
        check: asks_for_version_2,
    },
    Habit {
        system: "FreeBSD",
        does: "lists by READDIR of 8192 bytes",
        source: FREEBSD,
        check: |session| {
            lists_with_readdir(session, 8192);
        },
    },
    Habit {
        system: "macOS",
        does: "lists by READDIRPLUS of 8192 bytes",
        source: XNU,
        check: |session| {
            lists_with_readdirplus(session, 8192);
        },
    },
    Habit {
        system: "Solaris",
        does: "lists by READDIRPLUS of 32 KiB",
        source: ILLUMOS,
        check: |session| {
            lists_with_readdirplus(session, 32 << 10);
        },
    },
    Habit {
        system: "Solaris",
        does: "lists by READDIR of 1024 bytes",
        source: ILLUMOS,
        check: |session| {
            lists_with_readdir(session, 1024);
        },
    },
    Habit {
        system: "Solaris",
        does: "creates exclusively by its serial number and a count, others in guarded mode",
        source: ILLUMOS,
        check: creates_exclusively,
    },
    Habit {
        system: "ESXi",
        does: "makes and renews .lck files as root",
        source: VMWARE,
        check: keeps_lock_files,
    },
    Habit {
        system: "Windows",
        does: "calls as user and group -2",
        source: MICROSOFT,
        check: calls_as_nobody,
    },
    Habit {
        system: "macOS",
        does: "asks for .DS_Store and ._ names that are not there, many at once",
        source: XNU,
        check: asks_for_absent_names,
    },
    Habit {
        system: "macOS",
        does: "sends names in decomposed Unicode",
        source: XNU,
        check: keeps_names_as_they_came,
    },
    Habit {
        system: "macOS",
        does: "sets times, then the mode, of what it made",
        source: XNU,
        check: sets_times,
    },
    Habit {
        system: "FreeBSD",
        does: "reads at the end of its largest file, 2^40 - 1, and at 2^63",
        source: FREEBSD,
        check: reads_far_out,
    },
    Habit {
        system: "Solaris",
        does: "asks for rights that no version defines",
        source: ILLUMOS,
        check: asks_for_rights,
    },
    Habit {
        system: "all",
        does: "closes idle connections, and uses its handles on the next",
        source: XNU,
        check: comes_back,
    },
    Habit {
        system: "all",
        does: "sends up to 16 groups, some of them twice",
        source: FREEBSD,
        check: sends_groups,
    },
    Habit {
        system: "libnfs on Android",
        does: "asks FSINFO without credentials",
        source: "RFC 2623 2.3.2",
        check: asks_without_credentials,
    },
];

#[allow(clippy::print_stderr, reason = "a habit that is not served is named")]
#[test]
fn clients_of_other_makers_get_what_they_need() {
    for Habit { system, does, source, check } in HABITS {
        // Shown only if it fails.
        eprintln!("{system} {does} ({source})");
        check(&mut Session::start());
    }
}

/// A server, and a connection to it.
struct Session {
    _server: Server,
    _home: tempfile::TempDir,
    address: SocketAddr,
    stream: TcpStream,
    xid: u32,
    /// Root of an export that anybody may write.
    memory: Vec<u8>,
    /// Root of an export of this host's directory, with many names.
    local: Vec<u8>,
    user: u32,
}

impl Session {
    fn start() -> Self {
        let home = tempfile::tempdir().expect("a directory");
        for number in 0..NAMES {
            File::create(home.path().join(format!("name-{number}"))).expect("a file");
        }
        set_permissions(home.path(), Permissions::from_mode(0o777)).expect("set");
        let local = LocalFileSystem::open(home.path(), Options::default()).expect("a file system");
        let memory =
            MemoryFileSystem::with_options(MemoryOptions { root_mode: 0o777, ..MemoryOptions::default() });
        let rules = || vec![ClientRule { squash: Squash::None, ..ClientRule::default() }];
        let exports = vec![
            Export::new("/memory", 1, Arc::new(memory), rules()),
            Export::new("/local", 2, Arc::new(local), rules()),
        ];
        let exports = Exports::new(exports, [7; 16]).expect("two");
        let sockets = Sockets::bind(&["127.0.0.1:0".parse().expect("an address")], true).expect("binding");
        let server = Server::start(&Settings::default(), sockets, exports).expect("starting");
        let address = server.addresses()[0].1;
        let exports = server.service().exports();
        let [memory, local] = [1, 2].map(|id| {
            let export = exports.find(id).expect("it");
            exports.seal(export, export.root()).as_wire().0.to_vec()
        });
        let user = std::fs::metadata(home.path()).expect("it is there").uid();
        Self { _server: server, _home: home, address, stream: connect(address), xid: 0, memory, local, user }
    }

    /// What becomes of a call, and the bytes of its result.
    fn ask(
        &mut self,
        credentials: Credentials<'_>,
        (program, version, procedure): (u32, u32, u32),
        arguments: &impl Encode,
    ) -> (Accepted, Vec<u8>) {
        self.xid += 1;
        let call = message(self.xid, credentials, (program, version, procedure), arguments);
        let mark = RecordMark { length: call.len() as u32, last: true };
        self.stream.write_all(&[&mark.to_bytes()[..], &call].concat()).expect("sending");
        let record = read_record(&mut self.stream);
        let mut decoder = Decoder::new(&record);
        let header = ReplyHeader::decode(&mut decoder).expect("a reply");
        assert_eq!(header.xid, self.xid);
        (header.outcome.expect("accepted"), decoder.rest().to_vec())
    }

    /// The result of a call of NFSv3 as some user.
    fn nfs_as(&mut self, user: u32, procedure: u32, arguments: &impl Encode) -> Vec<u8> {
        let credentials = Credentials::Sys(AuthSys::new(b"client", user, user, &[]));
        let (outcome, result) = self.ask(credentials, (nfs3::PROGRAM, nfs3::VERSION, procedure), arguments);
        assert_eq!(outcome, Accepted::Success);
        result
    }

    fn nfs(&mut self, procedure: u32, arguments: &impl Encode) -> Vec<u8> {
        self.nfs_as(self.user, procedure, arguments)
    }

    /// Makes a file in the export that anybody may write; its handle.
    fn create(&mut self, user: u32, name: &[u8], how: create::How) -> Result<Vec<u8>, Status> {
        let root = self.memory.clone();
        let object = DirectoryName { directory: FileHandle(&root), name };
        let result = self.nfs_as(user, create::PROCEDURE, &create::Arguments { object, how });
        let reply = create::Reply::decode(&mut Decoder::new(&result)).expect("a result");
        reply.map(|made| made.node.expect("a handle").0.to_vec()).map_err(|refused| refused.status)
    }

    fn attributes(&mut self, handle: &[u8]) -> nfs3::Attributes {
        let result = self.nfs(getattr::PROCEDURE, &getattr::Arguments { node: FileHandle(handle) });
        let reply = getattr::Reply::decode(&mut Decoder::new(&result)).expect("a result");
        reply.expect("it is there").attributes
    }
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).expect("connecting");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    stream
}

fn message(
    xid: u32,
    credentials: Credentials<'_>,
    (program, version, procedure): (u32, u32, u32),
    arguments: &impl Encode,
) -> Vec<u8> {
    let mut call = Encoder::to_vec(&CallHeader { xid, program, version, procedure, credentials });
    arguments.encode(&mut Encoder::new(&mut call));
    call
}

fn root() -> Credentials<'static> {
    Credentials::Sys(AuthSys::new(b"client", 0, 0, &[]))
}

fn mounts_by_udp(session: &mut Session) {
    let client = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    client.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    let arguments = mnt::Arguments { path: DirectoryPath(b"/memory") };
    let call = message(7, root(), (mount::PROGRAM, mount::VERSION_3, mnt::PROCEDURE), &arguments);
    client.send_to(&call, session.address).expect("sending");
    let mut reply = [0; 4096];
    let length = client.recv(&mut reply).expect("a reply");
    let mut decoder = Decoder::new(&reply[..length]);
    ReplyHeader::decode(&mut decoder).expect("a reply");
    let success = mnt::Reply::decode(&mut decoder).expect("a result").expect("mounted");
    assert_eq!(success.handle.0, session.memory);
}

fn asks_for_version_2(session: &mut Session) {
    let (outcome, _) = session.ask(root(), (nfs3::PROGRAM, 2, 0), &());
    assert!(matches!(outcome, Accepted::ProgramMismatch { low: 3, .. }), "{outcome:?}");
    let arguments = mnt::Arguments { path: DirectoryPath(b"/memory") };
    let (outcome, result) = session.ask(root(), (mount::PROGRAM, 1, mnt::PROCEDURE), &arguments);
    assert_eq!(outcome, Accepted::Success);
    assert_ne!(result[..4], [0; 4], "it has no handle of version 2");
}

/// File numbers, names and cookies of a whole listing.
type Listed = Vec<(u64, Vec<u8>, u64)>;

fn readdir_all(session: &mut Session, count: u32) -> Listed {
    let (local, mut cookie, mut verifier, mut listed) = (session.local.clone(), 0, [0; 8], Listed::new());
    loop {
        let directory = FileHandle(&local);
        let arguments = readdir::Arguments { directory, cookie, verifier, count };
        let result = session.nfs(readdir::PROCEDURE, &arguments);
        assert!(result.len() <= count as usize + 4, "{} bytes of {count}", result.len());
        let listing = readdir::Reply::decode(&mut Decoder::new(&result)).expect("a result").expect("listed");
        listed.extend(listing.entries.map(|entry| (entry.file, entry.name.to_vec(), entry.cookie)));
        (cookie, verifier) = (listed.last().expect("some").2, listing.verifier);
        if listing.end {
            return listed;
        }
    }
}

fn readdirplus_all(session: &mut Session, count: u32) -> Listed {
    let (local, mut cookie, mut verifier, mut listed) = (session.local.clone(), 0, [0; 8], Listed::new());
    loop {
        let directory = FileHandle(&local);
        let arguments = readdirplus::Arguments { directory, cookie, verifier, name_count: count, count };
        let result = session.nfs(readdirplus::PROCEDURE, &arguments);
        assert!(result.len() <= count as usize + 4, "{} bytes of {count}", result.len());
        let listing =
            readdirplus::Reply::decode(&mut Decoder::new(&result)).expect("a result").expect("listed");
        listed.extend(
            listing.entries.map(|entry| (entry.name.file, entry.name.name.to_vec(), entry.name.cookie)),
        );
        (cookie, verifier) = (listed.last().expect("some").2, listing.verifier);
        if listing.end {
            return listed;
        }
    }
}

/// Each name once, with a file number and a cookie that no client takes for another.
fn check_listing(listed: &Listed) {
    let names: BTreeSet<&[u8]> = listed.iter().map(|(_, name, _)| &name[..]).collect();
    assert_eq!((names.len(), listed.len()), (NAMES + 2, NAMES + 2), "with . and ..");
    for (file, name, cookie) in listed {
        assert_ne!(*file, 0, "{}", String::from_utf8_lossy(name));
        assert!(*cookie < SIGNED && *cookie > 0, "cookie {cookie}");
        // 1 and 2 are taken for . and .. by clients that make these names themselves.
        assert!(*cookie > 2 || name.iter().all(|byte| *byte == b'.'), "cookie {cookie}");
    }
}

fn lists_with_readdir(session: &mut Session, count: u32) {
    let listed = readdir_all(session, count);
    check_listing(&listed);
    session.stream = connect(session.address);
    assert_eq!(readdir_all(session, count), listed, "cookies stay as they are");
}

fn lists_with_readdirplus(session: &mut Session, count: u32) {
    let listed = readdirplus_all(session, count);
    check_listing(&listed);
    assert_eq!(readdir_all(session, count), listed, "both procedures have the same cookies");
}

fn creates_exclusively(session: &mut Session) {
    // A serial number, and a count.
    let verifier = |count: u8| create::How::Exclusive([0x2a, 0x17, 0x5b, 0x11, 0, 0, 0, count]);
    let made = session.create(0, b"exclusive", verifier(1)).expect("made");
    assert_eq!(session.create(0, b"exclusive", verifier(1)), Ok(made), "the call came twice");
    assert_eq!(session.create(0, b"exclusive", verifier(2)), Err(Status::Exists), "another open");
    let guarded = create::How::Guarded(NewAttributes { mode: Some(0o644), ..NewAttributes::default() });
    assert_eq!(session.create(0, b"exclusive", guarded), Err(Status::Exists));
}

fn keeps_lock_files(session: &mut Session) {
    let name = b".lck-5f03000000000000";
    let how = || create::How::Guarded(NewAttributes { mode: Some(0o644), ..NewAttributes::default() });
    let lock = session.create(0, name, how()).expect("made");
    assert_eq!(session.create(0, name, how()), Err(Status::Exists), "another host");
    for beat in 0..3u8 {
        let data = [beat; 84];
        let arguments = write::Arguments {
            node: FileHandle(&lock),
            offset: 0,
            count: data.len() as u32,
            stability: write::Stability::FileSync,
            data: &data,
        };
        let result = session.nfs_as(0, write::PROCEDURE, &arguments);
        let written = write::Reply::decode(&mut Decoder::new(&result)).expect("a result").expect("written");
        assert_eq!((written.count, written.committed), (84, write::Stability::FileSync));
    }
    assert_eq!(session.attributes(&lock).user, 0, "root stays root");
}

fn calls_as_nobody(session: &mut Session) {
    const NOBODY: u32 = -2_i32 as u32;
    let how = create::How::Unchecked(NewAttributes { mode: Some(0o755), ..NewAttributes::default() });
    let made = session.create(NOBODY, b"Report.doc", how).expect("made");
    let attributes = session.attributes(&made);
    assert_eq!((attributes.user, attributes.group), (NOBODY, NOBODY));
}

fn asks_for_absent_names(session: &mut Session) {
    let root = session.memory.clone();
    let names = (0..300).map(|number| match number % 2 {
        0 => b".DS_Store".to_vec(),
        _ => format!("._photo {number}.jpg").into_bytes(),
    });
    for name in names {
        let object = DirectoryName { directory: FileHandle(&root), name: &name };
        let result = session.nfs(lookup::PROCEDURE, &lookup::Arguments { object });
        let refused =
            lookup::Reply::decode(&mut Decoder::new(&result)).expect("a result").expect_err("absent");
        assert_eq!(refused.status, Status::NotFound);
        assert!(refused.detail.is_some(), "the directory's attributes, by which the client remembers");
    }
}

fn keeps_names_as_they_came(session: &mut Session) {
    let how = || create::How::Guarded(NewAttributes { mode: Some(0o644), ..NewAttributes::default() });
    let [decomposed, composed] = ["cafe\u{301}", "caf\u{e9}"];
    let one = session.create(0, decomposed.as_bytes(), how()).expect("made");
    let other = session.create(0, composed.as_bytes(), how()).expect("another name");
    assert_ne!(one, other);
}

fn sets_times(session: &mut Session) {
    let made = session.create(0, b"archive", create::How::Exclusive([9; 8])).expect("made");
    let time = Time { seconds: 1_700_000_000, nanoseconds: 0 };
    let times = NewAttributes {
        accessed: SetTime::ServerTime,
        modified: SetTime::ClientTime(time),
        ..NewAttributes::default()
    };
    let mode = NewAttributes { mode: Some(0o640), ..NewAttributes::default() };
    for new in [times, mode] {
        let arguments = setattr::Arguments { node: FileHandle(&made), new, guard: None };
        let result = session.nfs_as(0, setattr::PROCEDURE, &arguments);
        setattr::Reply::decode(&mut Decoder::new(&result)).expect("a result").expect("set");
    }
    let attributes = session.attributes(&made);
    assert_eq!((attributes.modified, attributes.mode & 0o7777), (time, 0o640));
}

fn reads_far_out(session: &mut Session) {
    let how = create::How::Unchecked(NewAttributes { mode: Some(0o666), ..NewAttributes::default() });
    let made = session.create(0, b"short", how).expect("made");
    for offset in [(1 << 40) - 1, SIGNED - 1, SIGNED, u64::MAX] {
        let arguments = read::Arguments { node: FileHandle(&made), offset, count: 4096 };
        let result = session.nfs(read::PROCEDURE, &arguments);
        match read::Reply::decode(&mut Decoder::new(&result)).expect("a result") {
            Ok(success) => assert!(success.end && success.data.is_empty(), "{offset}"),
            Err(refused) => assert_eq!(refused.status, Status::Invalid, "{offset}"),
        }
    }
    let arguments = commit::Arguments { node: FileHandle(&made), offset: SIGNED, count: 0 };
    let result = session.nfs(commit::PROCEDURE, &arguments);
    assert!(commit::Reply::decode(&mut Decoder::new(&result)).is_ok(), "an answer, whatever it is");
    assert_eq!(session.attributes(&made).size, 0, "nothing was changed");
}

fn asks_for_rights(session: &mut Session) {
    let root = session.memory.clone();
    let arguments = access::Arguments { node: FileHandle(&root), wanted: u32::MAX };
    let result = session.nfs(access::PROCEDURE, &arguments);
    let granted =
        access::Reply::decode(&mut Decoder::new(&result)).expect("a result").expect("an answer").granted;
    assert_eq!(granted & !0x3f, 0, "rights that version 3 does not have");
    assert_ne!(granted & 1, 0, "but those that it has");
}

fn comes_back(session: &mut Session) {
    let root = session.local.clone();
    let before = session.attributes(&root);
    session.stream = connect(session.address);
    let after = session.attributes(&root);
    assert_eq!((before.file, before.file_system), (after.file, after.file_system));
    assert_ne!(before.file, 0);
}

fn sends_groups(session: &mut Session) {
    let root = session.memory.clone();
    let credentials = Credentials::Sys(AuthSys::new(
        b"client",
        501,
        20,
        &[20, 12, 61, 79, 80, 81, 98, 20, 20, 33, 100, 204, 250, 395, 398, 399],
    ));
    let arguments = getattr::Arguments { node: FileHandle(&root) };
    let (outcome, result) =
        session.ask(credentials, (nfs3::PROGRAM, nfs3::VERSION, getattr::PROCEDURE), &arguments);
    assert_eq!((outcome, &result[..4]), (Accepted::Success, &[0; 4][..]));
}

fn asks_without_credentials(session: &mut Session) {
    let root = session.memory.clone();
    let arguments = fsinfo::Arguments { node: FileHandle(&root) };
    let call = (nfs3::PROGRAM, nfs3::VERSION, fsinfo::PROCEDURE);
    let (outcome, result) = session.ask(Credentials::None, call, &arguments);
    assert_eq!(outcome, Accepted::Success);
    let information =
        fsinfo::Reply::decode(&mut Decoder::new(&result)).expect("a result").expect("an answer");
    assert!(
        information.largest_file >= (1 << 40) - 1 && information.largest_file < SIGNED,
        "{}",
        information.largest_file
    );
}
