//! MIT's tokens and ours: each side is MIT's once, in both directions, with each enctype.

use std::process::Command;

use howdah_gss::{Enctype, GssContext, WRAP_HEAD};
use howdah_random::Random;

use crate::library::{Library, SecurityContext};
use crate::realm::Realm;

/// The variable that makes a process the one that has both sides.
const PEERS: &str = "HOWDAH_TEST_PEERS";

#[test]
fn our_tokens_are_those_of_mit() {
    let Some(realm) = Realm::start() else { return };
    for enctype in Enctype::ALL {
        // The library reads its settings from the environment, which a process with threads does not change.
        let output = Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "tests::tokens::both_sides_in_one_process", "--nocapture"])
            .env(PEERS, enctype.number().to_string())
            .env("KRB5_CONFIG", realm.configuration_of(enctype))
            .env("KRB5_KTNAME", realm.server_keytab())
            .env("KRB5_CLIENT_KTNAME", realm.client_keytab())
            .env("KRB5CCNAME", "MEMORY:alice")
            .env("KRB5RCACHENAME", "none:")
            .output()
            .expect("started");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert!(output.status.success(), "{enctype}:\n{}{}", text(&output.stdout), text(&output.stderr));
        assert!(text(&output.stdout).contains("both sides agree"), "{enctype}: {}", text(&output.stdout));
    }
}

/// A part of the test above, in a process of its own.
#[test]
#[allow(clippy::print_stdout, reason = "the other process looks for it")]
fn both_sides_in_one_process() {
    let Ok(number) = std::env::var(PEERS) else { return };
    let library = Library::load().expect("the library");
    let enctype = Enctype::from_number(number.parse().expect("a number")).expect("an enctype");
    for ours_initiates in [false, true] {
        let (initiator, acceptor) = contexts(&library, &format!("nfs@server{number}.test"));
        let (ours, theirs) = if ours_initiates { (initiator, acceptor) } else { (acceptor, initiator) };
        let lucid = ours.export().expect("exported").expect("a context of ours");
        assert_eq!((lucid.key.enctype(), lucid.acceptor_subkey), (enctype, true));
        exchange(&GssContext::new(&lucid), &theirs);
    }
    println!("both sides agree");
}

fn contexts<'l>(library: &'l Library, service: &str) -> (SecurityContext<'l>, SecurityContext<'l>) {
    let (begun, request) = library.initiate(service).expect("a ticket");
    let credential = library.acceptor("nfs").expect("a key");
    let (acceptor, reply) = library.accept(&credential, &request).expect("accepted");
    let (initiator, rest) = begun.finish(&reply).expect("finished");
    assert!(rest.is_empty());
    (initiator, acceptor)
}

fn exchange(ours: &GssContext, theirs: &SecurityContext<'_>) {
    let seed = 0x1964;
    let mut random = Random::new(seed);
    let sizes = (0..70).chain([8191, 8192, 8193, 1 << 20, 2 << 20]).chain([1; 30]);
    for (number, size) in sizes.enumerate() {
        let size = if number < 75 { size } else { random.length(2 << 20) };
        let message = random.bytes(size);
        let case = format!("seed {seed:#x}: {}, {size} bytes", ours.enctype());
        assert_eq!(ours.verify(&[&message], &theirs.sign(&message)), Ok(()), "{case}");
        assert_eq!(theirs.verify(&message, ours.sign(&[&message]).bytes()), Ok(()), "{case}");
        let mut token = theirs.wrap(&message);
        assert_eq!(ours.unwrap(&mut token).as_deref(), Ok(&message[..]), "{case}");
        let mut token = vec![0; WRAP_HEAD + size + ours.wrap_tail()];
        token[WRAP_HEAD..WRAP_HEAD + size].copy_from_slice(&message);
        ours.wrap(&mut token);
        assert_eq!(theirs.unwrap(&token).as_deref(), Ok(&message[..]), "{case}");
        // MIT finds a changed bit in ours as we do in its own.
        let at = random.index(token.len());
        token[at] ^= 1 << random.below(8);
        assert!(theirs.unwrap(&token).is_err(), "{case}: byte {at}");
    }
}
