//! Inputs to start from: real messages, encoded.

mod nfs4;

use howdah_wire::mount::{DirectoryPath, HostName, Status, dump, export, mnt};
use howdah_wire::nfs3::{self, FileHandle};
use howdah_wire::portmap::callit::CallData;
use howdah_wire::portmap::{self, Mapping, Protocol};
use howdah_wire::rpc::{
    Accepted, AuthFlavor, AuthStatus, AuthSys, CallHeader, Credentials, Denied, RecordMark, ReplyHeader,
};
use howdah_wire::rpcbind::{self, Binding};
use howdah_wire::xdr::{Encode, Encoder};

/// Seeds of the fuzzer of this name.
pub fn seeds(target: &str) -> Vec<Vec<u8>> {
    match target {
        "admin_requests" => requests(),
        "client_replies" => replies(),
        "configurations" => configurations(),
        "gss_calls" => gss_calls(),
        "helper_messages" => helper_messages(),
        "handles" => vec![b"\x07an inner handle".to_vec(), vec![1; 61], vec![9; 49]],
        "datagram_peer" | "local_operations" | "nfs_state" | "quic_streams" | "reply_cache"
        | "service_calls" | "tls_probe" | "tls_records" | "tuner" => walks(),
        "frames" => frames(),
        "journal_segments" => segments(),
        "kernel_texts" => kernel_texts(),
        "lock_messages" => nfs4::lock_messages(),
        "mount_messages" => mount_messages(),
        "nfs3_messages" => nfs3_messages(),
        "nfs4_messages" => nfs4::nfs4_messages(),
        "portmap_messages" => portmap_messages(),
        "record_marking" => streams(),
        "rpc_headers" => headers(),
        "typed_texts" => typed_texts(),
        other => panic!("no fuzzer is named {other}"),
    }
}

fn chosen(choice: u8, message: &impl Encode) -> Vec<u8> {
    [&[choice][..], &Encoder::to_vec(message)].concat()
}

/// Each protection and program, with the handle of nothing as arguments.
fn gss_calls() -> Vec<Vec<u8>> {
    let arguments = [&[0, 0, 0, 32][..], &[7; 32]].concat();
    let chosen =
        (0..12_u8).map(|choice| [&[choice % 3, choice % 4, choice % 5, choice], &arguments[..]].concat());
    chosen.chain(walks()).collect()
}

/// A request and a reply of each kind, by its number: a token or a text, a failure, a context of each encryption type.
fn helper_messages() -> Vec<Vec<u8>> {
    let number = |value: u64| value.to_be_bytes().to_vec();
    let bytes = |bytes: &[u8]| [&(bytes.len() as u32).to_be_bytes(), bytes].concat();
    let context = |(enctype, key): (u64, usize)| {
        let peers = [bytes(b"token"), bytes(b"alice@R"), bytes(b"nfs/server@R"), vec![1, 1]].concat();
        (5, [peers, number(enctype), bytes(&vec![7; key]), number(1 << 40), number(1 << 33)].concat())
    };
    let mut kinds = vec![
        (1, vec![]),
        (2, bytes(b"a token, or a text")),
        (3, bytes(b"nfs@server.test")),
        (3, [number(13 << 16), number(7), bytes(b"Ticket expired")].concat()),
        (4, bytes(b"")),
        (4, [number(17), number(5)].concat()),
        (6, bytes(b"first")),
        (7, vec![]),
    ];
    kinds.extend([(17, 16), (18, 32), (19, 16), (20, 32)].map(context));
    kinds.into_iter().map(|(kind, rest)| [number(9), vec![kind], rest].concat()).collect()
}

/// Bytes that step through all choices, near to each other and far apart.
fn walks() -> Vec<Vec<u8>> {
    [3_u8, 7, 37, 91].map(|step| (0..=255_u8).map(|at| at.wrapping_mul(step)).collect()).to_vec()
}

fn configurations() -> Vec<Vec<u8>> {
    let files = [
        include_str!("../../../packaging/howdah.toml"),
        "workers = 0x10\nlog = 'info'\n[[network]]\nclients = ['10.0.0.0/8']\ntcp_sndbuf = '16M'\n\
         [[export]]\nname = '/data'\npath = '/usr'\nid = 7\nsquash = 'all'\nanonymous_user = 7\n\
         clients = [{ allow = 'host.example.org', squash = 'none' }, '*']\n[[export]]\nname = '/'\npath = '/'\n",
        "[[export]]\nname = 'data'\npath = 7\nnothing = 1\n\"\u{fc}\" = 1979-05-27\nclients = []\n",
    ];
    let composed = walks().into_iter().map(|walk| [&[1], &walk[..]].concat());
    files.iter().map(|file| [&[0], file.as_bytes()].concat()).chain(composed).collect()
}

fn mount_messages() -> Vec<Vec<u8>> {
    let (host, path) = (HostName(b"192.0.2.9"), DirectoryPath(b"/srv/data"));
    let success =
        mnt::Success { handle: FileHandle(&[7; 33]), flavors: vec![AuthFlavor::SYS, AuthFlavor::NONE] };
    let exports = vec![export::Export { path, groups: vec![host, HostName(b"192.0.2.0/24")] }];
    vec![
        chosen(0, &mnt::Arguments { path }),
        chosen(1, &mnt::Reply::Ok(success)),
        chosen(1, &mnt::Reply::Err(Status::AccessDenied)),
        chosen(2, &mnt::Reply1::Ok(mnt::Success1 { handle: [7; 32] })),
        chosen(4, &dump::Reply { mounts: vec![dump::Mount { host, path }; 3] }),
        chosen(5, &export::Reply { exports }),
    ]
}

fn portmap_messages() -> Vec<Vec<u8>> {
    let mapping = Mapping { program: 100_003, version: 3, protocol: Protocol::TCP, port: 2049 };
    let binding = Binding {
        program: 100_003,
        version: 3,
        network: "tcp6".into(),
        address: "::.8.1".into(),
        owner: "superuser".into(),
    };
    let (program, version, procedure) = (100_005, 3, 5);
    let address = rpcbind::getaddrlist::Address {
        address: "192.0.2.1.8.1".into(),
        network: "udp".into(),
        semantics: rpcbind::getaddrlist::Semantics::DATAGRAMS,
        family: "inet".into(),
        protocol: "udp".into(),
    };
    vec![
        chosen(0, &portmap::set::Arguments { mapping }),
        chosen(3, &portmap::dump::Reply { mappings: vec![mapping; 3] }),
        chosen(4, &portmap::callit::Arguments { program, version, procedure, arguments: CallData(b"any") }),
        chosen(5, &portmap::callit::Reply { port: 2049, result: CallData(b"any") }),
        chosen(6, &rpcbind::set::Arguments { binding }),
        chosen(7, &rpcbind::getaddr::Reply { address: "192.0.2.1.8.1".into() }),
        chosen(8, &rpcbind::dump::Reply { bindings: vec![binding; 2] }),
        chosen(9, &rpcbind::broadcast::Reply { address: "192.0.2.1.8.1".into(), result: CallData(b"any") }),
        chosen(15, &rpcbind::getaddrlist::Reply { addresses: vec![address; 2] }),
        b"\x11192.0.2.1.8.1".to_vec(),
        b"\x112001:db8::1.8.1".to_vec(),
    ]
}

/// Arguments as the server's own fuzzer makes them would be too few: every procedure with a handle, a name and words.
fn nfs3_messages() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for procedure in 1..22_u8 {
        let mut arguments = vec![procedure * 2];
        let mut encoder = Encoder::new(&mut arguments);
        encoder.opaque(&[7; 37]);
        encoder.opaque(b"name");
        (0..12).for_each(|word| encoder.u32(word % 2));
        seeds.push(arguments);
        for status in [0, 2] {
            let mut result = vec![procedure * 2 + 1];
            let mut encoder = Encoder::new(&mut result);
            encoder.u32(status);
            encoder.bool(true);
            [1, 0o644, 1, 1000, 100].into_iter().for_each(|word| encoder.u32(word));
            (0..60).for_each(|word| encoder.u32(u32::from(word % 5 == 0)));
            seeds.push(result);
        }
    }
    let made =
        nfs3::Made { node: Some(FileHandle(&[7; 37])), attributes: None, directory: Default::default() };
    seeds.push(chosen(17, &nfs3::create::Reply::Ok(made)));
    seeds
}

fn streams() -> Vec<Vec<u8>> {
    // Two workers, in the last of them moving what is partial and keeping what is whole.
    let steps: [&[u8]; 3] = [&[], &[0, 1, 0, 1, 4], &[2, 2, 3, 0x43, 8, 0x82, 0]];
    let stream = |pieces: [u8; 2], fragments: &[(usize, bool)]| {
        let fragment = |&(length, last): &(usize, bool)| {
            let mark = RecordMark { length: length as u32, last };
            [&mark.to_bytes()[..], &(0..length).map(|at| at as u8).collect::<Vec<_>>()].concat()
        };
        steps.map(|steps| {
            let how = [&pieces[..], &[steps.len() as u8], steps].concat();
            [how, fragments.iter().flat_map(fragment).collect()].concat()
        })
    };
    // Fragments of all lengths that the assembly distinguishes, each but the first few the last of its record.
    let described = |steps: &[u8]| {
        let how = [&[255, 255, 128 | steps.len() as u8][..], steps].concat();
        [how, (0..=255_u8).flat_map(|at| [(at & 0x7f) | (u8::from(at < 4) << 7), at]).collect()].concat()
    };
    let plain = [
        stream([255, 255], &[(40, true), (0, true), (120, true)]),
        stream([2, 0], &[(10, false), (0, false), (9, true), (40, true)]),
        stream([99, 3], &[(5000, true), (40, true), (4000, false), (3000, true)]),
    ];
    let refused = [[9, 9, 0].as_slice(), &[0xff; 4]].concat();
    [plain.concat(), steps.map(described).to_vec(), vec![refused]].concat()
}

fn headers() -> Vec<Vec<u8>> {
    let call = |credentials| CallHeader { xid: 7, program: 100_003, version: 3, procedure: 1, credentials };
    let user = AuthSys::new(b"client.example", 1000, 100, &[4, 24, 27]);
    let reply = |outcome| Encoder::to_vec(&ReplyHeader { xid: 7, outcome });
    vec![
        Encoder::to_vec(&call(Credentials::None)),
        Encoder::to_vec(&call(Credentials::Sys(user))),
        Encoder::to_vec(&call(Credentials::Other(AuthFlavor::GSS))),
        Encoder::to_vec(&user),
        reply(Ok(Accepted::Success)),
        reply(Ok(Accepted::ProgramMismatch { low: 3, high: 3 })),
        reply(Err(Denied::RpcMismatch)),
        reply(Err(Denied::Authentication(AuthStatus::TooWeak))),
    ]
}

/// Streams of replies with data and without, of known calls and unknown ones.
fn replies() -> Vec<Vec<u8>> {
    let reply = |xid: u32, length: u16, outcome| {
        let mut message = Encoder::to_vec(&ReplyHeader { xid, outcome });
        message.extend_from_slice(&[4, (length >> 8) as u8, length as u8, 0, 1, 2, 3, 4]);
        message.extend((0..length.next_multiple_of(4)).map(|at| at as u8));
        message
    };
    let stream = |choice: u8, messages: &[Vec<u8>]| {
        let mut stream = vec![choice];
        for message in messages {
            let (first, second) = message.split_at(message.len() / 3);
            for (fragment, last) in [(first, false), (second, true)] {
                stream.extend_from_slice(&RecordMark { length: fragment.len() as u32, last }.to_bytes());
                stream.extend_from_slice(fragment);
            }
        }
        stream
    };
    let (success, denied) = (Ok(Accepted::Success), Err(Denied::Authentication(AuthStatus::TooWeak)));
    let all: Vec<_> = (0..8).map(|xid| reply(xid, xid as u16 * 997, success)).collect();
    vec![
        stream(0, &all),
        stream(7, &all),
        stream(251, &[reply(3, 0, success), reply(2, 700, denied), reply(2, 30_000, success)]),
    ]
}

/// Any bytes, and bytes that requests are made from.
fn requests() -> Vec<Vec<u8>> {
    let plain = b"\0PUT /v1/knobs/memory_budget HTTP/1.1\r\nHost: howdah\r\nContent-Length: 15\r\n\r\n{\"value\":\"auto\"}";
    [vec![plain.to_vec()], walks()].concat()
}

/// A packet of TCP that stands for several, as a kernel gives it; one of UDP; and none that anybody knows.
fn frames() -> Vec<Vec<u8>> {
    let how = [3, 0, 0, 0, 0, 0, 0, 0, 7];
    // flags, kind of segmentation, length of the headers, segment size, where the checksum starts and stands.
    let tcp_header = [1, 1, 40, 0, 100, 0, 20, 0, 16, 0];
    let ip = |protocol: u8, length: u16| {
        let [high, low] = length.to_be_bytes();
        [0x45, 0, high, low, 0, 1, 0x40, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]
    };
    let tcp = [0, 80, 0, 81, 0, 0, 0, 1, 0, 0, 0, 2, 0x50, 0x18, 1, 0, 0, 0, 0, 0];
    let udp = [0, 80, 0, 81, 0, 108, 0, 0];
    let data: Vec<u8> = (0..=249).collect();
    vec![
        [&how[..], &tcp_header, &ip(6, 290), &tcp, &data].concat(),
        [&how[..], &[0; 10], &ip(17, 128), &udp, &data[..100]].concat(),
        [&how[..], &[0; 10], &data[..80]].concat(),
    ]
}

/// Damage to a journal, and a segment.
fn segments() -> Vec<Vec<u8>> {
    let magic = b"howdahw1\0\0\0\0\0\0\0\x01";
    let segment = [&[0], &magic[..], &[0; 100]].concat();
    walks().into_iter().map(|walk| [&[1], &walk[..]].concat()).chain([segment]).collect()
}

fn kernel_texts() -> Vec<Vec<u8>> {
    let mounts = "device server:/data mounted on /mnt with fstype nfs statvers=1.1\n\topts:\trw,vers=3,rsize=65536,\
                  proto=tcp,nconnect=4\n\txprt:\ttcp 0 1 1 0 12 5000 4990 0 90000 2500 64 100 200\n\tper-op statistics\n\t\
                  GETATTR: 100 101 0 0 0 0 10 9 0\n\t READ: 400 400 0 0 0 80 40000 41000 0\n";
    let client = "net 0 0 0 0\nrpc 12 0 12\nproc3 22 0 1 0 2 3 0 4 5 0 0 0 0 0 0 0 0 0 0 1 2 1 0\n";
    vec![mounts.into(), client.into()]
}

fn typed_texts() -> Vec<Vec<u8>> {
    let path = "rtt = \"60ms\"\nrate = { steps = [{ rate = \"10Mbit\", last = \"5s\" }] }\nqueue = \"1bdp\"\nloss = \"1%\"\n\
                bursts = { loss = \"1%\", length = 4 }\njitter = { most = \"1ms\", overtaking = true }\nmtu = { size = 1500, \
                too_large = \"dropped\" }\nschedule = \"down 2s every 30s\"\n[back]\nrate = \"100Mbit\"\n";
    let plan = howdah_lab::plan::BUILT_IN.first().map_or("", |(_, text)| text);
    [(0, "nfs://[fe80::1%25eth0]:2049/a%20b/c?uid=1&lanes=4"), (1, "16M"), (2, path), (3, plan)]
        .map(|(kind, text)| [&[kind][..], text.as_bytes()].concat())
        .to_vec()
}
