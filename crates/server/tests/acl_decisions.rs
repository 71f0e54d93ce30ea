//! What a server permits of nodes with random ACLs is what the kernel permits to local processes of the same users.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use howdah_needs::{Lack, skipped};
use howdah_random::Random;
use howdah_server::exports::{ClientRule, Export, Exports, Squash};
use howdah_server::{Ends, Peer, Service, Transport};
use howdah_store::local::{LocalFileSystem, Options};
use howdah_vfs::FileSystem;
use howdah_wire::nfs3::{self, DirectoryName, FileHandle, Status, access, lookup, read, setattr, write};
use howdah_wire::nfsacl::{self, AclEntryOnWire, AclOnWire, AclSelection, setacl};
use howdah_wire::rpc::{Accepted, AuthSys, CallHeader, Credentials, ReplyHeader};
use howdah_wire::xdr::{Array, Decode, Decoder, Encode, Encoder};

/// How many files and directories.
const NODES: usize = 1000;

/// Users, each with a main group and further ones.
const USERS: [(u32, u32, &[u32]); 5] = [
    (1001, 1001, &[]),
    (1002, 1002, &[2000]),
    (1003, 2001, &[2000, 2002]),
    (1004, 2002, &[]),
    (1005, 3000, &[1001, 2001]),
];

/// Groups that nodes and entries may have.
const GROUPS: [u32; 6] = [1001, 2000, 2001, 2002, 3000, 4000];

/// What is a node's, as it was made.
struct Made {
    is_directory: bool,
    owner: u32,
    handle: Vec<u8>,
}

/// May read, write, execute.
type Rights = [bool; 3];

struct Server {
    service: Service,
    peer: Peer,
    xid: u32,
}

impl Server {
    fn of(directory: &Path) -> Option<Self> {
        let local = LocalFileSystem::open(directory, Options::default()).expect("it opens");
        local.acls()?;
        let rule = ClientRule { squash: Squash::None, ..ClientRule::default() };
        let export = Export::new("/", 1, Arc::new(local), vec![rule]);
        let service = Service::new(Exports::new(vec![export], [7; 16]).expect("one export"));
        let address = |text: &str| text.parse().expect("an address");
        let ends = Ends { client: address("192.0.2.9:700"), server: address("192.0.2.1:2049") };
        Some(Self { service, peer: Peer::plain(ends, Transport::Tcp), xid: 0 })
    }

    fn root(&self) -> Vec<u8> {
        let exports = self.service.exports();
        let export = exports.iter().next().expect("one export");
        exports.seal(export, export.root()).as_wire().0.to_vec()
    }

    fn call(
        &mut self,
        (user, group, groups): (u32, u32, &[u32]),
        (program, procedure): (u32, u32),
        arguments: &impl Encode,
    ) -> Vec<u8> {
        self.xid += 1;
        let credentials = Credentials::Sys(AuthSys::new(b"test", user, group, groups));
        let header = CallHeader { xid: self.xid, program, version: 3, procedure, credentials };
        let mut message = Encoder::to_vec(&header);
        arguments.encode(&mut Encoder::new(&mut message));
        let reply = self.service.answer(&self.peer, &message).expect("an answer");
        let mut decoder = Decoder::new(&reply);
        let header = ReplyHeader::decode(&mut decoder).expect("a reply");
        assert_eq!(header.outcome, Ok(Accepted::Success));
        decoder.rest().to_vec()
    }

    /// As root, who must be let.
    fn succeeds(&mut self, what: (u32, u32), arguments: &impl Encode) -> Vec<u8> {
        let result = self.call((0, 0, &[]), what, arguments);
        assert_eq!(result[..4], [0; 4], "{what:?}");
        result
    }

    /// Gives a node a random ACL, and perhaps another mode after it.
    fn set_acl(&mut self, random: &mut Random, handle: &[u8]) {
        let entries = random_acl(random);
        let access = AclOnWire { count: entries.len() as u32, entries: Array::of(&entries) };
        let (node, default) = (FileHandle(handle), AclOnWire { count: 0, entries: Array::default() });
        let arguments = setacl::Arguments { node, selection: AclSelection::ACCESS, access, default };
        self.succeeds((nfsacl::PROGRAM, setacl::PROCEDURE), &arguments);
        if random.one_in(3) {
            let new = nfs3::NewAttributes {
                mode: Some(random.below(0o1000) as u32),
                ..nfs3::NewAttributes::default()
            };
            let arguments = setattr::Arguments { node, new, guard: None };
            self.succeeds((nfs3::PROGRAM, setattr::PROCEDURE), &arguments);
        }
    }

    /// What ACCESS grants.
    fn access(&mut self, user: (u32, u32, &[u32]), node: &Made) -> Rights {
        let arguments = access::Arguments { node: FileHandle(&node.handle), wanted: 0x3f };
        let result = self.call(user, (nfs3::PROGRAM, access::PROCEDURE), &arguments);
        let granted =
            access::Reply::decode(&mut Decoder::new(&result)).expect("a result").expect("granted").granted;
        // Of a directory it is LOOKUP.
        [0x01, 0x04, if node.is_directory { 0x02 } else { 0x20 }].map(|right| granted & right != 0)
    }

    fn is_permitted(&mut self, user: (u32, u32, &[u32]), procedure: u32, arguments: &impl Encode) -> bool {
        let result = self.call(user, (nfs3::PROGRAM, procedure), arguments);
        match Decoder::new(&result).u32("status").expect("a status") {
            0 => true,
            refused => {
                assert_eq!(refused, Status::AccessDenied as u32);
                false
            }
        }
    }

    /// Whether READ and WRITE go well.
    fn transfers(&mut self, user: (u32, u32, &[u32]), handle: &[u8]) -> [bool; 2] {
        let (node, offset, count) = (FileHandle(handle), 0, 1);
        let read = self.is_permitted(user, read::PROCEDURE, &read::Arguments { node, offset, count });
        let stability = write::Stability::Unstable;
        let arguments = write::Arguments { node, offset, count, stability, data: b"x" };
        [read, self.is_permitted(user, write::PROCEDURE, &arguments)]
    }
}

fn random_acl(random: &mut Random) -> Vec<AclEntryOnWire> {
    let mut entries: Vec<(u32, u32)> = vec![(0x01, 0), (0x04, 0), (0x20, 0)];
    for _ in 0..random.below(4) {
        entries.push((0x02, USERS[random.index(USERS.len())].0));
    }
    for _ in 0..random.below(4) {
        entries.push((0x08, GROUPS[random.index(GROUPS.len())]));
    }
    if entries.len() > 3 || random.one_in(2) {
        entries.push((0x10, 0));
    }
    entries.sort_unstable();
    entries.dedup();
    entries.into_iter().map(|(tag, id)| AclEntryOnWire { tag, id, rights: random.below(8) as u32 }).collect()
}

/// Makes a node on the host, and gives it an ACL through the server.
fn make(server: &mut Server, random: &mut Random, directory: &Path, number: usize) -> Made {
    let name = number.to_string();
    let path = directory.join(&name);
    let is_directory = random.one_in(4);
    if is_directory {
        fs::create_dir(&path).expect("made");
    } else {
        fs::write(&path, b"data").expect("written");
    }
    let owner = [0, USERS[random.index(USERS.len())].0][usize::from(!random.one_in(4))];
    chown(&path, Some(owner), Some(GROUPS[random.index(GROUPS.len())])).expect("chown");
    fs::set_permissions(&path, PermissionsExt::from_mode(random.below(0o1000) as u32)).expect("chmod");
    let root = server.root();
    let object = DirectoryName { directory: FileHandle(&root), name: name.as_bytes() };
    let result = server.succeeds((nfs3::PROGRAM, lookup::PROCEDURE), &lookup::Arguments { object });
    let found = lookup::Reply::decode(&mut Decoder::new(&result)).expect("a result").expect("found");
    let handle = found.node.0.to_vec();
    server.set_acl(random, &handle);
    Made { is_directory, owner, handle }
}

/// What the kernel lets a process of this user do with each node: it opens files, makes one in directories, and asks about the rest.
/// To make one takes two rights at once, which no two entries for groups give together.
const JUDGE: &str = r#"
exec 2>/dev/null
i=0
while [ $i -lt $1 ]; do
    r=0; w=0; x=0
    if [ -d $i ]; then
        [ -r $i ] && r=1
        { true; } >$i/new && w=1 && rm -f $i/new
    else
        { true; } <$i && r=1
        { true; } >>$i && w=1
    fi
    [ -x $i ] && x=1
    echo $r$w$x
    i=$((i + 1))
done
"#;

fn judged(directory: &Path, (user, group, groups): (u32, u32, &[u32])) -> Vec<Rights> {
    let groups = match groups {
        [] => "--clear-groups".to_owned(),
        groups => format!("--groups={}", groups.iter().map(u32::to_string).collect::<Vec<_>>().join(",")),
    };
    let output = Command::new("setpriv")
        .args([format!("--reuid={user}"), format!("--regid={group}"), groups])
        .args(["sh", "-c", JUDGE, "judge", &NODES.to_string()])
        .current_dir(directory)
        .output()
        .expect("setpriv runs");
    let text = String::from_utf8(output.stdout).expect("digits");
    let rights: Vec<Rights> =
        text.lines().map(|line| [0, 1, 2].map(|place| line.as_bytes()[place] == b'1')).collect();
    assert_eq!(rights.len(), NODES, "{}", String::from_utf8_lossy(&output.stderr));
    rights
}

#[allow(clippy::print_stderr, reason = "a test that fails is repeated with its seed")]
#[test]
fn the_server_permits_what_the_kernel_permits() {
    if !rustix::process::geteuid().is_root() {
        return skipped(Lack::Root, "only root acts as its callers");
    }
    if Command::new("setpriv").arg("--version").output().is_err() {
        return skipped(Lack::Program, "there is no setpriv");
    }
    let seed = std::env::var("SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0x0ac1);
    eprintln!("SEED={seed} repeats this");
    let mut random = Random::new(seed);
    let place = tempfile::tempdir().expect("a directory");
    fs::set_permissions(place.path(), PermissionsExt::from_mode(0o755)).expect("chmod");
    let Some(mut server) = Server::of(place.path()) else {
        return skipped(Lack::Kernel, "the file system of temporary files has no ACLs");
    };
    let nodes: Vec<Made> =
        (0..NODES).map(|number| make(&mut server, &mut random, place.path(), number)).collect();
    let mut granted = [0; 3];
    for user in USERS {
        let judged = judged(place.path(), user);
        for (number, (node, kernel)) in nodes.iter().zip(judged).enumerate() {
            assert_eq!(server.access(user, node), kernel, "SEED={seed}, node {number}, user {user:?}");
            let [reads, writes, executes] = kernel;
            kernel.iter().zip(&mut granted).for_each(|(is, count)| *count += u32::from(*is));
            if !node.is_directory {
                let owns = node.owner == user.0;
                let expected = [owns || reads || executes, owns || writes];
                let transfers = server.transfers(user, &node.handle);
                assert_eq!(transfers, expected, "SEED={seed}, node {number}, user {user:?}");
            }
        }
    }
    // Neither all nor nothing: the test could fail.
    let asked = (NODES * USERS.len()) as u32;
    assert!(
        granted.iter().all(|count| (asked / 10..asked / 10 * 9).contains(count)),
        "{granted:?} of {asked}"
    );
}
