//! A capture reports compounds of NFSv4, too: as the operation that each was made for.

use std::net::TcpStream;

use howdah_wire::nfs4::attributes::{Attributes, Values};
use howdah_wire::nfs4::{
    Bitmap, FileHandle, Name, Stability, StateId, Status, Verifier, create, getattr, getfh, lookup, putfh,
    read, readdir, remove, rename, savefh, setattr, write,
};
use serde_json::{Value, json};

use crate::ask::Asked;
use crate::capture::{begin, calls};
use crate::common::nfs4::{Client, step};
use crate::common::root;

/// Long enough for its data to leave by `sendfile`, and to arrive past memory.
const LONG: usize = 300_000;

fn put(node: &[u8]) -> Vec<u8> {
    step(putfh::OPERATION, &putfh::Arguments { node: FileHandle(node) })
}

fn bare(operation: u32) -> Vec<u8> {
    operation.to_be_bytes().to_vec()
}

/// Works on a file and on a directory.
fn work(client: &mut Client, root: &[u8]) {
    let (state, file) = client.open("secret name");
    let data = &vec![7; LONG][..];
    let stability = Stability::DataSync;
    let mut size = Attributes::default();
    size.content.size = Some(LONG as u64 / 2);
    let buffer = &mut Vec::new();
    let attributes = Values::of(&size, buffer);
    let wanted = getattr::Arguments { wanted: Bitmap::of(&[1, 4]) };
    let look = || step(getattr::OPERATION, &wanted);
    let name = Name(b"directory");
    let new = create::Arguments { node: create::NewNode::Directory, name, attributes: Values::default() };
    let names = rename::Arguments { from: Name(b"directory"), to: Name(b"moved") };
    let list = readdir::Arguments {
        cookie: 0,
        verifier: Verifier([0; 8]),
        name_count: 4096,
        count: 8192,
        wanted: Bitmap::default(),
    };
    let (at, moved) = (put(root), Name(b"moved"));
    let compounds = [
        vec![
            put(&file),
            step(write::OPERATION, &write::Arguments { state, offset: 9, stability, data }),
            look(),
        ],
        vec![
            put(&file),
            step(read::OPERATION, &read::Arguments { state, offset: 0, count: LONG as u32 }),
            look(),
        ],
        vec![put(&file), step(setattr::OPERATION, &setattr::Arguments { state, attributes }), look()],
        vec![put(&file), look()],
        vec![at.clone(), step(create::OPERATION, &new), bare(getfh::OPERATION), look()],
        vec![at.clone(), step(readdir::OPERATION, &list)],
        vec![at.clone(), bare(savefh::OPERATION), at.clone(), step(rename::OPERATION, &names)],
        vec![at.clone(), step(remove::OPERATION, &remove::Arguments { name: moved }), look()],
    ];
    for compound in compounds {
        assert_eq!(client.call(&compound).0, Status::OK);
    }
    let missing = [at, step(lookup::OPERATION, &lookup::Arguments { name: moved })];
    assert_eq!(client.call(&missing).0, Status::NOENT);
    let unknown = write::Arguments { state: StateId::ANONYMOUS, offset: 0, stability, data: b"x" };
    assert_eq!(client.call(&[put(b"no handle"), step(write::OPERATION, &unknown)]).0, Status::BADHANDLE);
}

#[test]
fn a_compound_is_told_as_what_it_was_made_for() {
    let asked = Asked::start();
    begin(&asked, &json!({ "run": true }));
    let mut client = Client::new(TcpStream::connect(asked.address).expect("connected"), "client");
    work(&mut client, &root(&asked.server));
    let (calls, _, state) = calls(&asked, 0);
    assert_eq!(state["left_out"], json!(0));
    let operations: Vec<_> = calls.iter().map(|call| call["operation"].as_str().expect("a name")).collect();
    let wanted = "EXCHANGE_ID CREATE_SESSION RECLAIM_COMPLETE OPEN WRITE READ SETATTR GETATTR CREATE READDIR RENAME \
                  REMOVE LOOKUP PUTFH";
    assert_eq!(operations, wanted.split_whitespace().collect::<Vec<_>>());
    let of = |name: &str| calls.iter().find(|call| call["operation"] == name).expect("it was called");
    let (opened, wrote, read) = (of("OPEN"), of("WRITE"), of("READ"));
    assert_eq!((&opened["procedure"], &opened["how"]), (&json!("CREATE"), &json!("unchecked")));
    assert_eq!((&wrote["node"], &read["node"]), (&opened["found"], &opened["found"]));
    assert_eq!(
        (&wrote["offset"], &wrote["done"], &wrote["stable"]),
        (&json!(9), &json!(LONG), &json!("data"))
    );
    assert_eq!((&read["done"], read["received"].as_u64() < Some(1000)), (&json!(LONG), true));
    assert_eq!((&of("SETATTR")["set_size"], of("SETATTR").get("size")), (&json!(LONG / 2), None));
    assert_eq!((&of("GETATTR")["kind"], &of("GETATTR")["size"]), (&json!("file"), &json!(LONG / 2)));
    let (made, listed, gone) = (of("CREATE"), of("READDIR"), of("REMOVE"));
    assert_eq!((&made["procedure"], &made["found_kind"]), (&json!("MKDIR"), &json!("directory")));
    assert_eq!(
        (&listed["procedure"], &listed["entries"], &listed["at_end"]),
        (&json!("READDIRPLUS"), &json!(2), &json!(true))
    );
    assert_eq!((&of("RENAME")["to"], &of("RENAME")["to_name"]), (&made["node"], &gone["name"]));
    assert_eq!(of("LOOKUP")["error"], json!("NOENT"));
    assert_eq!(of("PUTFH")["error"], json!("BADHANDLE"));
    let text = Value::from(calls.clone()).to_string();
    assert!(!text.contains("secret") && !text.contains("moved"), "{text}");
}
