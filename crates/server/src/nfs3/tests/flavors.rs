//! Calls whose flavor an export does not take.

use howdah_wire::mount::{self, DirectoryPath, mnt};
use howdah_wire::nfs3::*;
use howdah_wire::rpc::{Accepted, AuthStatus, Denied, GssCredential, GssProcedure, GssService};
use howdah_wire::rpc::{Credentials, Denied::Authentication};
use howdah_wire::xdr::Encoder;

use super::client::{Client, at, decoded, status};
use super::handles::every_procedure;
use crate::calling::call;
use crate::exports::SecurityFlavor::{self, Krb5, Krb5i, Krb5p, Sys};
use crate::exports::{ClientRule, Export, Exports, SecurityFlavors, Squash};
use crate::nfs3::Nfs3Program;
use crate::program::Tabled;

const TOO_WEAK: Result<Accepted, Denied> = Err(Authentication(AuthStatus::TooWeak));

fn rule(flavors: &[SecurityFlavor]) -> ClientRule {
    let sec = SecurityFlavors::new(flavors.iter().copied()).expect("some");
    ClientRule { squash: Squash::None, sec, ..ClientRule::default() }
}

#[test]
fn every_procedure_refuses_a_flavor_that_is_not_taken() {
    let client = Client::with_rules(vec![rule(&[Krb5, Krb5p])]);
    let procedures = Nfs3Program::VERSIONS[0].1;
    for (handle, is_root) in [(&client.root, true), (&client.file, false)] {
        let all = every_procedure(handle);
        assert_eq!(all.len() + 1, procedures.len(), "all but NULL");
        for (name, procedure, arguments) in all {
            let (outcome, result) = client.send(procedure, &arguments, None);
            // What clients ask of the root while they mount.
            if is_root && ["GETATTR", "FSSTAT", "FSINFO", "PATHCONF"].contains(&name) {
                assert_eq!((outcome, status(&result)), (Ok(Accepted::Success), None), "{name}");
            } else {
                assert_eq!(outcome, TOO_WEAK, "{name}");
            }
        }
    }
    assert_eq!(client.send(0, &[], None).0, Ok(Accepted::Success), "NULL");
}

#[test]
fn an_export_with_both_takes_calls_without_tickets() {
    let client = Client::with_rules(vec![rule(&[Krb5p, Sys])]);
    for (name, procedure, arguments) in every_procedure(&client.root) {
        assert_eq!(client.send(procedure, &arguments, None).0, Ok(Accepted::Success), "{name}");
    }
}

#[test]
fn both_handles_of_a_call_are_judged() {
    let client = Client::with_rules(vec![rule(&[Sys])]);
    let other = howdah_vfs::memory::MemoryFileSystem::new();
    let exports = vec![
        Export::new("/", 5, client.memory.clone(), vec![rule(&[Sys])]),
        Export::new("/proved", 6, std::sync::Arc::new(other), vec![rule(&[Krb5i])]),
    ];
    client.service.set_exports(Exports::new(exports, [7; 16]).expect("two"));
    let exports = client.service.exports();
    let proved = exports.find(6).expect("the other");
    let proved = exports.seal(proved, proved.root()).as_wire().0.to_vec();
    let (open, shut) = (at(&client.root, b"file"), at(&proved, b"file"));
    let rename =
        |from, to| client.send(rename::PROCEDURE, &Encoder::to_vec(&rename::Arguments { from, to }), None);
    let link = |node, link| {
        let arguments = link::Arguments { node: FileHandle(node), link };
        client.send(link::PROCEDURE, &Encoder::to_vec(&arguments), None)
    };
    for (outcome, _) in [rename(shut, open), link(&proved, open)] {
        assert_eq!(outcome, TOO_WEAK);
    }
    for (outcome, result) in [rename(open, shut), link(&client.file, shut)] {
        assert_eq!((outcome, status(&result)), (Ok(Accepted::Success), Some(Status::AccessDenied)));
    }
}

#[test]
fn a_mount_is_answered_to_anybody_with_the_flavors_in_their_order() {
    for flavors in [&[Sys][..], &[Krb5p, Krb5, Sys], &[Krb5i]] {
        let client = Client::with_rules(vec![rule(flavors)]);
        let what = (mount::PROGRAM, mount::VERSION_3, mnt::PROCEDURE);
        let arguments = mnt::Arguments { path: DirectoryPath(b"/directory") };
        let (_, result) = call(&client.service, &client.peer, what, &arguments).expect("an answer");
        let mounted = decoded::<mnt::Reply<'_>>(&result).expect("mounted");
        let expected: Vec<_> = flavors.iter().map(|flavor| flavor.number()).collect();
        assert_eq!((mounted.handle.0, mounted.flavors), (&client.directory[..], expected), "{flavors:?}");
    }
}

/// A context that nobody made, whatever its handle, is nobody's.
#[test]
fn credentials_of_kerberos_without_a_context_are_refused() {
    let client = Client::with_rules(vec![rule(&[Sys, Krb5])]);
    for (name, procedure, arguments) in every_procedure(&client.root) {
        let credential = GssCredential {
            procedure: GssProcedure::Data,
            sequence: 1,
            service: GssService::None,
            handle: &[7; 16],
        };
        let (outcome, _) = client.send_as(Credentials::Gss(credential), procedure, &arguments, None);
        assert!(matches!(outcome, Err(Authentication(_))), "{name}: {outcome:?}");
    }
}
