//! Helpers: what they establish, what they refuse and in which words, and that they are there again after they died.

use std::fs;
use std::os::fd::AsFd;
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use howdah_gss::{ContextSide, GssContext, InitialToken};
use rustix::process::{Pid, Signal, kill_process};

use super::settings;
use crate::message::{Reply, Request};
use crate::realm::{Realm, SERVICE};
use crate::socket::{next_message, pair, send_message};
use crate::worker::work;
use crate::{Helper, HelperError};

fn server(realm: &Realm, count: usize) -> Helper {
    Helper::start(&settings(realm).with_keytab(&realm.server_keytab()), count).expect("a helper")
}

fn client(realm: &Realm) -> Helper {
    Helper::start(&settings(realm).with_client_keytab(&realm.client_keytab()), 1).expect("a helper")
}

/// What the library said.
fn refusal<T>(outcome: Result<T, HelperError>) -> String {
    match outcome {
        Err(HelperError::Gss(failure)) => failure.text,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("not refused"),
    }
}

#[test]
fn a_client_and_a_server_get_the_two_sides_of_a_context() {
    let Some(realm) = Realm::start() else { return };
    let (server, client) = (server(&realm, 1), client(&realm));
    let begun = client.initiate(SERVICE).expect("a token");
    let token = begun.token().to_vec();
    let accepted = server.accept(&token).expect("accepted");
    let initiated = begun.finish(&accepted.reply).expect("finished");
    assert_eq!((&*accepted.client, &*accepted.service), ("alice@HOWDAH.TEST", "nfs/server.test@HOWDAH.TEST"));
    assert_eq!((&accepted.client, &accepted.service), (&initiated.client, &initiated.service));
    assert_eq!((accepted.lucid.side, initiated.lucid.side), (ContextSide::Acceptor, ContextSide::Initiator));
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs();
    for lucid in [&accepted.lucid, &initiated.lucid] {
        assert!(lucid.acceptor_subkey && (now..now + 100_000).contains(&lucid.expiry), "{lucid:?} at {now}");
    }
    let (ours, theirs) = (GssContext::new(&initiated.lucid), GssContext::new(&accepted.lucid));
    assert_eq!(theirs.verify(&[b"a call"], ours.sign(&[b"a call"]).bytes()), Ok(()));
    assert_eq!(ours.verify(&[b"a reply"], theirs.sign(&[b"a reply"]).bytes()), Ok(()));

    // The same token once more is a replay, and the helper goes on.
    let text = refusal(server.accept(&token));
    assert!(text.contains("replay"), "{text}");
    let begun = client.initiate("nfs/server.test@HOWDAH.TEST").expect("by the principal's name");
    server.accept(begun.token()).expect("accepted");
}

#[test]
fn what_is_refused_says_why() {
    let Some(realm) = Realm::start() else { return };
    let (server, client) = (server(&realm, 1), client(&realm));
    let text = refusal(client.initiate("nfs@nowhere.test"));
    assert!(text.contains("not found in Kerberos database"), "{text}");
    // A ticket for a service whose key is not in the keytab.
    let begun = client.initiate("nfs@other.test").expect("a ticket");
    let text = refusal(server.accept(begun.token()));
    assert!(text.contains("nfs/other.test"), "{text}");
    // The answer of no server.
    let text = refusal(begun.finish(b"nonsense"));
    assert!(!text.is_empty());
    // A ticket for a service whose key is there, and which is not NFS.
    let begun = client.initiate("host@server.test").expect("a ticket");
    let text = refusal(server.accept(begun.token()));
    assert!(text.contains("host/server.test"), "{text}");
    drop(begun);

    // A changed request: somewhere in the ticket or authenticator.
    let begun = client.initiate(SERVICE).expect("a token");
    let mut token = begun.token().to_vec();
    *token.last_mut().expect("not empty") ^= 1;
    let text = refusal(server.accept(&token));
    assert!(!text.is_empty());
    // What is not of Kerberos reaches no helper.
    for (token, wanted) in [
        (&b"\x60\x0a\x06\x06\x2b\x06\x01\x05\x05\x02\xa0\x00"[..], InitialToken::Negotiation),
        (b"NTLMSSP\0", InitialToken::Malformed),
        (b"", InitialToken::Malformed),
    ] {
        let outcome = server.accept(token);
        assert!(matches!(&outcome, Err(HelperError::Mechanism(found)) if *found == wanted), "{outcome:?}");
    }
    assert!(matches!(server.accept(&vec![0; 70_000]), Err(HelperError::TooLong(70_000))));

    // Without any keytab, in the library's words.
    let without = Helper::start(&settings(&realm).with_keytab(&realm.directory().join("none")), 1);
    let text = refusal(without.expect("a helper").accept(begun.token()));
    assert!(text.contains("Key table file") && text.contains("not found"), "{text}");
}

/// What an administrator searches for: each fault of the realm has words of its own, on the side that can say it.
#[test]
fn faults_of_clocks_keys_and_kdcs_are_named() {
    let Some(mut realm) = Realm::start() else { return };
    let early = realm.directory().join("early.keytab");
    fs::copy(realm.server_keytab(), &early).expect("copied");
    let good = server(&realm, 1);
    // Less than no difference is allowed: to this server, all clocks are wrong.
    let strict = realm.directory().join("strict.conf");
    let text = fs::read_to_string(realm.configuration()).expect("written before");
    let text = text.replacen("[libdefaults]\n", "[libdefaults]\nclockskew = -1\n", 1);
    fs::write(&strict, text).expect("written");
    let strict = settings(&realm).with("KRB5_CONFIG", strict).with_keytab(&realm.server_keytab());
    let strict = Helper::start(&strict, 1).expect("a helper");
    let ours = client(&realm);
    let begun = ours.initiate(SERVICE).expect("a token");
    let text = refusal(strict.accept(begun.token()));
    assert!(
        ["Clock skew too great", "Ticket not yet valid"].iter().any(|words| text.contains(words)),
        "{text}"
    );
    drop(begun);

    realm.change_server_keys();
    let later = client(&realm);
    let begun = later.initiate(SERVICE).expect("a token");
    let stale = Helper::start(&settings(&realm).with_keytab(&early), 1).expect("a helper");
    let text = refusal(stale.accept(begun.token()));
    assert!(text.contains("kvno 2 not found in keytab"), "{text}");
    good.accept(begun.token()).expect("accepted");
    drop(begun);

    realm.stop_kdc();
    let text = refusal(client(&realm).initiate(SERVICE));
    assert!(text.contains("Cannot contact any KDC"), "{text}");
}

#[test]
fn a_helper_that_dies_is_there_again() {
    let Some(realm) = Realm::start() else { return };
    let (server, client) = (server(&realm, 2), client(&realm));
    for round in 0..20 {
        let begun = client.initiate(SERVICE).expect("a token");
        let token = begun.token().to_vec();
        // Now before it is asked, now while it works.
        let accepted = thread::scope(|scope| {
            let supervisors = server.supervisors();
            let killer = scope.spawn(move || supervisors.into_iter().for_each(kill_worker));
            if round % 2 == 0 {
                killer.join().expect("killed");
            }
            server.accept(&token)
        });
        match accepted {
            Ok(accepted) => drop(begun.finish(&accepted.reply).expect("finished")),
            // It died after it had noted the request: the client comes with a new one.
            Err(HelperError::Gss(failure)) if failure.text.contains("replay") => {}
            Err(other) => panic!("round {round}: {other}"),
        }
    }
    // A context that was begun is lost with its helper, and the next one is not.
    let begun = client.initiate(SERVICE).expect("a token");
    let accepted = server.accept(begun.token()).expect("accepted");
    let supervisor = begun.supervisors()[0];
    assert_eq!(workers(supervisor).len(), 1);
    kill_worker(supervisor);
    let text = refusal(begun.finish(&accepted.reply));
    assert!(text.contains("no context"), "{text}");
    client.initiate(SERVICE).expect("a token");
}

#[test]
fn helpers_that_were_ended_are_not_asked_again() {
    let Some(realm) = Realm::start() else { return };
    let (server, client) = (server(&realm, 2), client(&realm));
    let end = |supervisor: u32| {
        let all = workers(supervisor).into_iter().chain(Pid::from_raw(supervisor.cast_signed()));
        // A supervisor that runs would start another worker.
        all.for_each(|process| kill_process(process, Signal::STOP).expect("stopped"));
        let all = workers(supervisor).into_iter().chain(Pid::from_raw(supervisor.cast_signed()));
        all.for_each(|process| kill_process(process, Signal::KILL).expect("killed"));
    };
    let accept = || {
        let begun = client.initiate(SERVICE).expect("a token");
        server.accept(begun.token()).map(drop)
    };
    end(server.supervisors()[0]);
    for _ in 0..4 {
        accept().unwrap_or_else(|error| panic!("{error}"));
    }
    server.supervisors().into_iter().for_each(end);
    for _ in 0..2 {
        let refused = accept();
        assert!(matches!(refused, Err(HelperError::Ended)), "{refused:?}");
    }
}

#[test]
fn new_keys_are_taken_without_a_restart_and_old_tickets_stay_good() {
    let Some(realm) = Realm::start() else { return };
    let (server, early) = (server(&realm, 1), client(&realm));
    server.accept(early.initiate(SERVICE).expect("a token").token()).expect("accepted");
    realm.change_server_keys();
    let late = client(&realm);
    for client in [&early, &late] {
        server.accept(client.initiate(SERVICE).expect("a token").token()).expect("accepted");
    }
}

#[test]
fn a_worker_is_confined() {
    let Some(realm) = Realm::start() else { return };
    let server = server(&realm, 1);
    let worker = workers(server.supervisors()[0])[0].as_raw_nonzero();
    let mut threads = fs::read_dir(format!("/proc/{worker}/task")).expect("a process").flatten();
    let is_filtered = threads.any(|thread| {
        let status = fs::read_to_string(thread.path().join("status")).expect("a thread");
        ["Seccomp:\t2", "NoNewPrivs:\t1"].iter().all(|line| status.contains(line))
    });
    assert!(is_filtered, "system calls are not filtered");
}

#[test]
fn callers_share_helpers() {
    let Some(realm) = Realm::start() else { return };
    let (server, client) = (server(&realm, 2), client(&realm));
    let tokens: Vec<Vec<u8>> =
        (0..24).map(|_| client.initiate(SERVICE).expect("a token").token().to_vec()).collect();
    thread::scope(|scope| {
        for token in &tokens {
            scope.spawn(|| server.accept(token).expect("accepted"));
        }
    });
}

#[test]
fn without_the_library_the_package_is_named() {
    let (ours, theirs) = pair().expect("a pair");
    let why = "libgssapi_krb5.so.2: cannot open shared object file".to_owned();
    let worker = thread::spawn(move || work(&theirs, Err(&why)));
    send_message(&ours, &Request::Hello.encode(1)).expect("sent");
    let message = next_message(ours.as_fd()).expect("received").expect("a message");
    let Some((1, Reply::NoLibrary(why))) = Reply::decode(&message) else { panic!("no answer") };
    let text = HelperError::NoLibrary(why).to_string();
    assert!(
        text.contains("cannot open shared object") && text.ends_with("apt install libgssapi-krb5-2"),
        "{text}"
    );
    drop(ours);
    worker.join().expect("ended").expect("without an error");
}

/// Ends the process that this supervisor has started, if it has one now.
fn kill_worker(supervisor: u32) {
    for worker in workers(supervisor) {
        let _ = kill_process(worker, Signal::KILL);
    }
}

/// The processes that any thread of it started.
fn workers(supervisor: u32) -> Vec<Pid> {
    let tasks = fs::read_dir(format!("/proc/{supervisor}/task")).expect("a process");
    let children =
        tasks.flatten().map(|task| fs::read_to_string(task.path().join("children")).unwrap_or_default());
    let text = children.collect::<Vec<_>>().join(" ");
    text.split_whitespace().filter_map(|word| word.parse().ok()).filter_map(Pid::from_raw).collect()
}
