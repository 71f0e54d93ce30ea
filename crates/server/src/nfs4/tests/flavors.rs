//! Calls whose flavor an export does not take: which operation says so, and how clients learn what is taken.

use std::collections::BTreeSet;
use std::sync::Arc;

use howdah_vfs::memory::MemoryFileSystem;
use howdah_vfs::{Caller, Change, FileSystem, MakeDirectory, NewAttributes, SetAttributes};
use howdah_wire::nfs4::open::{ACCESS_READ, Claim};
use howdah_wire::nfs4::secinfo_no_name::Which;
use howdah_wire::nfs4::*;
use howdah_wire::rpc::AuthFlavor;

use super::client::{Answer, Client, Step, bare, put, service, step, walk};
use crate::exports::SecurityFlavor::{self, Krb5, Krb5i, Krb5p, Sys};
use crate::exports::{
    ClientRule, Export, Exports, GroupSource, PrincipalMap, SecurityFlavors, Squash, UserGroups,
};
use crate::nfs4::table;

/// Operations that need no node, or whose session is judged in other ways.
const WITHOUT_NODE: [u32; 9] = [40, 41, 42, 43, 44, 45, 55, 57, 58];
/// Those that look at a node, and those that judge its flavor themselves.
const LOOKING: [u32; 5] = [3, 9, 10, 17, 37];
const JUDGING: [u32; 9] = [15, 16, 18, 22, 23, 24, 31, 33, 52];

/// Knows nobody.
struct Nobody;

impl GroupSource for Nobody {
    fn groups(&self, _: u32) -> std::io::Result<Option<Vec<u32>>> {
        Ok(None)
    }
}

/// A client that has mounted before the flavors changed, and file systems with a directory `d` each.
struct Scene {
    client: Client,
    memories: Vec<Arc<MemoryFileSystem>>,
    names: Vec<&'static str>,
}

impl Scene {
    fn new(names: &[&'static str]) -> Self {
        let service = service(&[]);
        let memories = names.iter().map(|_| {
            let (memory, change) = (MemoryFileSystem::new(), &mut Change::default());
            let (root, new) = (memory.root(), NewAttributes::with_mode(0o777));
            memory
                .set_attributes(&Caller::ROOT, SetAttributes::new(&root, &new, None), change)
                .expect("opened");
            let name = howdah_vfs::Name::parse(b"d").expect("a name");
            memory
                .make_directory(&Caller::ROOT, MakeDirectory::new(&root, name, &new), change)
                .expect("made");
            Arc::new(memory)
        });
        let (memories, names) = (memories.collect(), names.to_vec());
        let mut scene = Self { client: Client::unconfirmed(&service, "client"), memories, names };
        scene.take(&vec![&[Sys][..]; scene.names.len()]);
        scene.client = Client::new(&service, "client");
        scene
    }

    /// From now on the exports take these flavors.
    fn take(&self, flavors: &[&[SecurityFlavor]]) {
        let exports = self.names.iter().zip(&self.memories).zip(flavors).zip(1..);
        let exports = exports.map(|(((name, memory), flavors), id)| {
            let sec = SecurityFlavors::new(flavors.iter().copied()).expect("some");
            let rule = ClientRule { squash: Squash::None, sec, ..ClientRule::default() };
            Export::new(name, id, Arc::clone(memory) as Arc<dyn FileSystem>, vec![rule])
        });
        let exports = Exports::new(exports.collect(), [7; 16]).expect("exports");
        let users = Arc::new(UserGroups::new(Nobody));
        let map = PrincipalMap::new(Default::default());
        self.client.service.set_exports(exports.with_principals(map, users));
    }

    fn status(&mut self, steps: &[Step]) -> Status {
        self.client.call(steps).status
    }

    /// The status of the last operation, and how many were answered behind SEQUENCE.
    fn ended(&mut self, steps: &[Step]) -> (Status, u32) {
        let answer = self.client.call(steps);
        (answer.status, answer.results - 1)
    }
}

fn name(operation: u32, name: &str) -> Step {
    step(operation, &lookup::Arguments { name: Name(name.as_bytes()) })
}

fn no_name(which: Which) -> Step {
    step(secinfo_no_name::OPERATION, &secinfo_no_name::Arguments { which })
}

fn open_of(client: &Client, claim: Claim<'_>) -> Step {
    let owner = Owner { client: client.id, owner: Opaque(b"owner") };
    let (access, deny) = (ACCESS_READ, 0);
    step(open::OPERATION, &open::Arguments { sequence: 0, access, deny, owner, create: None, claim })
}

/// Each operation that works on the current node, with arguments that can be read: so many words of zero, names and values.
fn every_operation(client: &Client) -> Vec<(u32, Step)> {
    const STATE: usize = 4;
    let row = |operation: u32, words: &[usize], names: usize| {
        let mut bytes = bare(operation);
        words.iter().for_each(|count| bytes.extend(vec![0; 4 * count]));
        (0..names).for_each(|_| bytes.extend([0, 0, 0, 1, b'x', 0, 0, 0]));
        (operation, bytes)
    };
    let mut create = bare(create::OPERATION);
    // A directory `x`.
    create.extend([0, 0, 0, 2, 0, 0, 0, 1, b'x', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    let kind = |mut row: (u32, Step)| {
        row.1[7] = 1;
        row
    };
    vec![
        row(close::OPERATION, &[1, STATE], 0),
        row(commit::OPERATION, &[3], 0),
        (create::OPERATION, create),
        row(delegreturn::OPERATION, &[STATE], 0),
        row(get_dir_delegation::OPERATION, &[1, 1, 3, 3, 1, 1], 0),
        row(link::OPERATION, &[], 1),
        kind(row(lock::OPERATION, &[1, 1, 4, 1, STATE, 1], 0)),
        kind(row(lockt::OPERATION, &[1, 4, 2], 1)),
        kind(row(locku::OPERATION, &[1, 1, STATE, 4], 0)),
        (open::OPERATION, open_of(client, Claim::Name(Name(b"x")))),
        row(open_downgrade::OPERATION, &[STATE, 3], 0),
        row(read::OPERATION, &[STATE, 3], 0),
        row(readdir::OPERATION, &[4, 2, 1], 0),
        row(readlink::OPERATION, &[], 0),
        row(remove::OPERATION, &[], 1),
        row(rename::OPERATION, &[], 2),
        row(setattr::OPERATION, &[STATE, 2], 0),
        row(write::OPERATION, &[STATE, 3], 1),
        row(allocate::OPERATION, &[STATE, 4], 0),
        row(copy::OPERATION, &[2 * STATE, 6, 3], 0),
        row(deallocate::OPERATION, &[STATE, 4], 0),
        row(seek::OPERATION, &[STATE, 3], 0),
        row(clone::OPERATION, &[2 * STATE, 6], 0),
        row(getxattr::OPERATION, &[], 1),
        row(setxattr::OPERATION, &[1], 2),
        row(listxattrs::OPERATION, &[3], 0),
        row(removexattr::OPERATION, &[], 1),
    ]
}

#[test]
fn every_operation_that_is_served_is_judged() {
    let scene = Scene::new(&["/"]);
    let judged: BTreeSet<u32> =
        every_operation(&scene.client).into_iter().map(|(number, _)| number).collect();
    let others = WITHOUT_NODE.iter().chain(&LOOKING).chain(&JUDGING).chain(&[savefh::OPERATION]);
    let all: BTreeSet<u32> = judged.iter().chain(others).copied().collect();
    let served: BTreeSet<u32> = (0..200).filter(|number| table::find(*number).is_some()).collect();
    assert_eq!(all, served, "left: tested here, right: served");
}

#[test]
fn what_uses_a_node_of_another_flavor_is_refused_where_the_node_is_put() {
    let mut scene = Scene::new(&["/e"]);
    let (root, directory) =
        (scene.client.handle(&["e"]).expect("a handle"), scene.client.handle(&["e", "d"]).expect("a handle"));
    scene.take(&[&[Krb5]]);
    for minor_version in [1, 2] {
        scene.client.minor_version = minor_version;
        for (number, operation) in every_operation(&scene.client) {
            for handle in [&root, &directory] {
                // OPEN says it itself.
                let at = if number == open::OPERATION { 2 } else { 1 };
                let steps = [put(handle), operation.clone()];
                assert_eq!(scene.ended(&steps), (Status::WRONGSEC, at), "{number}");
                let saved = [put(handle), bare(savefh::OPERATION), operation.clone()];
                let at = if number == open::OPERATION { 3 } else { 1 };
                assert_eq!(scene.ended(&saved), (Status::WRONGSEC, at), "{number} behind SAVEFH");
                let restored =
                    [put(handle), bare(savefh::OPERATION), bare(restorefh::OPERATION), operation.clone()];
                let at = if number == open::OPERATION { 4 } else { 3 };
                assert_eq!(scene.ended(&restored), (Status::WRONGSEC, at), "{number} behind RESTOREFH");
            }
        }
        for number in LOOKING {
            assert_eq!(scene.ended(&[put(&root), bare(number)]), (Status::WRONGSEC, 1), "{number}");
        }
    }
}

#[test]
fn operations_that_judge_themselves_do() {
    let mut scene = Scene::new(&["/e", "/f"]);
    let (root, inside) =
        (scene.client.handle(&["e"]).expect("a handle"), scene.client.handle(&["e", "d"]).expect("a handle"));
    scene.take(&[&[Krb5i], &[Sys]]);
    let wrong = |at| (Status::WRONGSEC, at);
    let open = |claim| open_of(&scene.client, claim);
    let opens = [open(Claim::Name(Name(b"d"))), open(Claim::Current), open(Claim::Name(Name(b"none")))];
    for open in opens {
        assert_eq!(scene.ended(&[put(&root), open]), wrong(2));
    }
    let lookup = |of| name(lookup::OPERATION, of);
    for (steps, ended) in [
        (vec![put(&root)], (Status::OK, 1)),
        (vec![put(&root), bare(savefh::OPERATION)], (Status::OK, 2)),
        (vec![put(&root), put(&inside)], (Status::OK, 2)),
        (vec![put(&root), lookup("d")], wrong(2)),
        // Nobody learns which names there are.
        (vec![put(&root), lookup("none")], wrong(2)),
        (vec![put(&inside), bare(lookupp::OPERATION)], wrong(2)),
        (vec![put(&root), bare(lookupp::OPERATION), lookup("f")], (Status::OK, 3)),
        (walk(&["e"]), wrong(2)),
        (walk(&["f", "d"]), (Status::OK, 3)),
        (vec![put(&root), bare(putrootfh::OPERATION), bare(getfh::OPERATION)], (Status::OK, 3)),
        (vec![put(&root), name(secinfo::OPERATION, "d")], (Status::OK, 2)),
        (vec![put(&root), name(secinfo::OPERATION, "none")], (Status::OK, 2)),
        (vec![put(&inside), no_name(Which::Current)], (Status::OK, 2)),
        (vec![put(&inside), no_name(Which::Parent)], (Status::OK, 2)),
        (vec![put(&root), no_name(Which::Parent)], (Status::OK, 2)),
        (vec![put(&root), no_name(Which::Current), bare(getattr::OPERATION)], (Status::BADXDR, 3)),
    ] {
        assert_eq!(scene.ended(&steps), ended, "{steps:?}");
    }
}

#[test]
fn saved_nodes_are_judged_with_the_current_one() {
    let mut scene = Scene::new(&["/e", "/f"]);
    let (proved, open) = (
        scene.client.handle(&["e", "d"]).expect("a handle"),
        scene.client.handle(&["f", "d"]).expect("a handle"),
    );
    scene.take(&[&[Krb5p], &[Sys]]);
    let both = [link::OPERATION, rename::OPERATION, copy::OPERATION, clone::OPERATION];
    for (number, operation) in every_operation(&scene.client) {
        if both.contains(&number) {
            let pair =
                |saved, current| [put(saved), bare(savefh::OPERATION), put(current), operation.clone()];
            assert_eq!(scene.ended(&pair(&proved, &open)), (Status::WRONGSEC, 4), "saved of {number}");
            assert_eq!(scene.ended(&pair(&open, &proved)), (Status::WRONGSEC, 3), "current of {number}");
        }
    }
}

#[test]
fn a_root_is_looked_at_on_the_way_to_an_export_that_takes_the_flavor() {
    let mut scene = Scene::new(&["/", "/in"]);
    scene.take(&[&[Krb5], &[Sys, Krb5p]]);
    let root = || bare(putrootfh::OPERATION);
    let attributes = step(getattr::OPERATION, &getattr::Arguments { wanted: Bitmap::of(&[1]) });
    let access = step(access::OPERATION, &access::Arguments { wanted: 0x3f });
    for (steps, status) in [
        (vec![root(), bare(getfh::OPERATION), attributes.clone(), access], Status::OK),
        ([walk(&["in"]), vec![attributes.clone()]].concat(), Status::OK),
        (walk(&["in", "d"]), Status::OK),
        (walk(&["d"]), Status::WRONGSEC),
    ] {
        assert_eq!(scene.status(&steps), status, "{steps:?}");
    }
    // Nothing but that: each operation behind one that may look.
    for (number, operation) in every_operation(&scene.client) {
        let steps = [root(), bare(savefh::OPERATION), bare(getfh::OPERATION), operation];
        assert_eq!(scene.ended(&steps), (Status::WRONGSEC, 4), "{number}");
    }
    // Without an export below that takes it, not even that.
    scene.take(&[&[Krb5], &[Krb5p]]);
    assert_eq!(scene.ended(&[root(), attributes]), (Status::WRONGSEC, 1));
    // What is of the server is no secret of the node.
    let wanted = |bits: &[u32]| step(getattr::OPERATION, &getattr::Arguments { wanted: Bitmap::of(bits) });
    let lease = attributes::LEASE_TIME;
    assert_eq!(scene.ended(&[root(), wanted(&[lease])]), (Status::OK, 2));
    assert_eq!(scene.ended(&[root(), wanted(&[lease, 1])]), (Status::WRONGSEC, 1));
    assert_eq!(scene.ended(&[root(), wanted(&[lease]), wanted(&[1])]), (Status::WRONGSEC, 3));
}

fn listed(mut answer: Answer, before: &[u32], operation: u32) -> Vec<(u32, u32)> {
    before.iter().for_each(|operation| answer.skip(*operation).expect("well"));
    let flavors = answer.take::<secinfo::Success<'_>>(operation).flavors;
    let flavor = |flavor| match flavor {
        secinfo::Flavor::Plain(flavor) => (flavor.0, 0),
        secinfo::Flavor::Gss(mechanism) => {
            assert_eq!(mechanism.identifier.0, [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x12, 1, 2, 2]);
            assert_eq!(mechanism.quality, 0);
            (AuthFlavor::GSS.0, mechanism.service)
        }
    };
    flavors.iter().map(flavor).collect()
}

#[test]
fn secinfo_lists_what_the_gate_takes_in_its_order() {
    let mut scene = Scene::new(&["/e", "/f"]);
    let root = scene.client.handle(&["e"]).expect("a handle");
    scene.take(&[&[Krb5p, Krb5, Krb5i], &[Krb5, Sys]]);
    let (sys, krb5, krb5i, krb5p) = ((1, 0), (6, 1), (6, 2), (6, 3));
    let (first, second) = (vec![krb5p, krb5, krb5i], vec![krb5, sys]);
    let mut of_name = |of: &str| {
        let answer = scene.client.call(&[bare(putrootfh::OPERATION), name(secinfo::OPERATION, of)]);
        listed(answer, &[putrootfh::OPERATION], secinfo::OPERATION)
    };
    assert_eq!((of_name("e"), of_name("f")), (first.clone(), second));
    let mut of_node = |which| {
        let answer = scene.client.call(&[put(&root), no_name(which)]);
        listed(answer, &[putfh::OPERATION], secinfo_no_name::OPERATION)
    };
    assert_eq!(of_node(Which::Current), first);
    // Directories above the exports take each.
    assert_eq!(of_node(Which::Parent), [sys, krb5, krb5i, krb5p]);
}

#[test]
fn sessions_are_made_with_any_flavor_where_a_rule_is_for_the_client() {
    let scene = Scene::new(&["/e"]);
    scene.take(&[&[Krb5]]);
    let mut client = Client::new(&scene.client.service, "another");
    assert_eq!(client.call(&[bare(putrootfh::OPERATION)]).status, Status::OK);
}
