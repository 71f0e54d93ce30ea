//! The life of contexts: made once, lost, renewed, refused, and what calls make of that.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use howdah_client::channel::KerberosError;
use howdah_vfs::{Caller, FsError};

use crate::files::{WINDOW, client, guarded};

const VERSIONS: [&str; 2] = ["version=3&sec=krb5i&lanes=2", "version=4.2&sec=krb5i&lanes=2"];
const ME: Caller = Caller::ROOT;

#[test]
fn lanes_share_a_context_and_a_server_that_forgets_it_gets_another_one() {
    for query in VERSIONS {
        let (_served, gatekeeper) = guarded(WINDOW);
        let gate = &gatekeeper.gate;
        let client = client(&gatekeeper, query).unwrap_or_else(|error| panic!("{error}"));
        let root = client.root();
        let look = || client.attributes(&ME, &root).unwrap_or_else(|error| panic!("{query}: {error}"));
        for _ in 0..20 {
            look();
        }
        assert_eq!(gate.made.load(Ordering::SeqCst), 1, "{query}");
        let began = Instant::now();
        for lost in 2..4 {
            gate.forget();
            look();
            assert_eq!(gate.made.load(Ordering::SeqCst), lost, "{query}");
        }
        // Denials can be forged: not more than one context a second follows from them.
        assert!(began.elapsed() >= Duration::from_secs(1), "{query}");
    }
}

#[test]
fn a_call_is_sent_again_with_another_number_and_a_changed_reply_is_not_used() {
    for query in VERSIONS {
        let (_served, gatekeeper) = guarded(WINDOW);
        let client = client(&gatekeeper, query).unwrap_or_else(|error| panic!("{error}"));
        let (gate, root) = (&gatekeeper.gate, client.root());
        let wanted = client.attributes(&ME, &root).expect("attributes");
        for fault in [&gate.loses_next, &gate.changes_next] {
            let before = gate.calls.load(Ordering::SeqCst);
            fault.store(true, Ordering::SeqCst);
            assert_eq!(client.attributes(&ME, &root), Ok(wanted), "{query}");
            assert!(
                !fault.load(Ordering::SeqCst) && gate.calls.load(Ordering::SeqCst) > before + 1,
                "{query}"
            );
        }
        assert_eq!(gate.made.load(Ordering::SeqCst), 1, "{query}");
    }
}

#[test]
fn each_user_has_a_context() {
    let (_served, gatekeeper) = guarded(WINDOW);
    let client = client(&gatekeeper, "version=3&sec=krb5").unwrap_or_else(|error| panic!("{error}"));
    for user in [1, 2, 1, 2] {
        client.attributes(&Caller::new(user, user), &client.root()).expect("attributes");
    }
    // That of who mounted, too.
    assert_eq!(gatekeeper.gate.made.load(Ordering::SeqCst), 3);
}

#[test]
fn an_ended_ticket_is_said_and_work_continues_with_the_next_one() {
    for query in VERSIONS {
        let (_served, gatekeeper) = guarded(WINDOW);
        let gate = &gatekeeper.gate;
        let client = client(&gatekeeper, query).unwrap_or_else(|error| panic!("{error}"));
        let (user, root) = (Caller::new(7, 7), client.root());
        let expired = KerberosError::Expired("expired: kinit".to_owned());
        *gate.lack.lock().expect("unpoisoned") = Some(expired);
        assert_eq!(client.attributes(&user, &root), Err(FsError::KeyExpired), "{query}");
        // Others are not affected.
        assert!(client.attributes(&ME, &root).is_ok(), "{query}");
        *gate.lack.lock().expect("unpoisoned") = None;
        let began = Instant::now();
        while client.attributes(&user, &root) == Err(FsError::KeyExpired) {
            assert!(began.elapsed() < Duration::from_secs(30), "{query}");
            std::thread::sleep(Duration::from_millis(50));
        }
        assert!(client.attributes(&user, &root).is_ok(), "{query}");
        let none = KerberosError::NoTicket("none: kinit".to_owned());
        *gate.lack.lock().expect("unpoisoned") = Some(none);
        assert_eq!(client.attributes(&Caller::new(8, 8), &root), Err(FsError::AccessDenied), "{query}");
    }
}

#[test]
fn a_context_is_renewed_before_its_ticket_ends_while_calls_go_out() {
    let (_served, gatekeeper) = guarded(WINDOW);
    let gate = &gatekeeper.gate;
    gate.lifetime.store(20, Ordering::SeqCst);
    let client = client(&gatekeeper, VERSIONS[0]).unwrap_or_else(|error| panic!("{error}"));
    let root = client.root();
    client.attributes(&ME, &root).expect("attributes");
    // Without a ticket, only a context that is still good answers calls: the renewal fails, and nobody waits for it.
    *gate.lack.lock().expect("unpoisoned") = Some(KerberosError::NoTicket("none".to_owned()));
    let asked_before = gate.asked.load(Ordering::SeqCst);
    let began = Instant::now();
    while gate.asked.load(Ordering::SeqCst) == asked_before {
        assert!(began.elapsed() < Duration::from_secs(60), "no renewal");
        client.attributes(&ME, &root).expect("attributes while the context is good");
        std::thread::sleep(Duration::from_millis(20));
    }
    client.attributes(&ME, &root).expect("attributes after a renewal that failed");
}

#[test]
fn a_ticket_that_is_refused_in_the_second_of_its_end_is_followed_by_another() {
    let (_served, gatekeeper) = guarded(WINDOW);
    let gate = &gatekeeper.gate;
    // So short a ticket is over before it may be renewed.
    gate.lifetime.store(1, Ordering::SeqCst);
    let client = client(&gatekeeper, VERSIONS[0]).unwrap_or_else(|error| panic!("{error}"));
    client.attributes(&ME, &client.root()).expect("attributes");
    gate.refuses_next.store(true, Ordering::SeqCst);
    let began = Instant::now();
    while gate.refuses_next.load(Ordering::SeqCst) {
        assert!(began.elapsed() < Duration::from_secs(60), "no context is over");
        client.attributes(&ME, &client.root()).expect("attributes with another ticket");
    }
}

#[test]
fn a_request_that_the_server_has_seen_is_followed_by_another() {
    let (_served, gatekeeper) = guarded(WINDOW);
    let gate = &gatekeeper.gate;
    gate.has_seen_next.store(true, Ordering::SeqCst);
    let client = client(&gatekeeper, VERSIONS[0]).unwrap_or_else(|error| panic!("{error}"));
    client.attributes(&ME, &client.root()).expect("attributes");
    assert_eq!(gate.asked.load(Ordering::SeqCst), gate.made.load(Ordering::SeqCst) + 1);
}

#[test]
fn who_has_no_ticket_is_told_at_once() {
    for query in ["version=3&sec=krb5", "version=4&sec=krb5p"] {
        let (_served, gatekeeper) = guarded(WINDOW);
        let none = KerberosError::NoTicket("no ticket: get one with kinit".to_owned());
        *gatekeeper.gate.lack.lock().expect("unpoisoned") = Some(none);
        let error = client(&gatekeeper, query).err().expect("no ticket").to_string();
        assert!(error.contains("kinit"), "{error}");
    }
}

#[test]
fn flavors_that_the_server_does_not_list_are_refused_with_those_that_it_does() {
    let (_served, gatekeeper) = guarded(WINDOW);
    let error = client(&gatekeeper, "version=3&sec=sys").err().expect("refused").to_string();
    assert!(error.contains("krb5, krb5i, krb5p") && error.contains("not sys"), "{error}");
    let error = client(&gatekeeper, "version=3&sec=krb5&proto=udp").err().expect("refused").to_string();
    assert!(error.contains("proto=udp"), "{error}");
}

#[test]
fn no_more_calls_are_in_flight_than_a_small_window_takes() {
    let (_served, gatekeeper) = guarded(8);
    let client = client(&gatekeeper, "version=3&sec=krb5&lanes=4").unwrap_or_else(|error| panic!("{error}"));
    let root = client.root();
    std::thread::scope(|scope| {
        for _ in 0..32 {
            scope.spawn(|| {
                for _ in 0..20 {
                    client.attributes(&ME, &root).expect("attributes");
                }
            });
        }
    });
    assert!(gatekeeper.gate.most.load(Ordering::SeqCst) <= 6, "a quarter is left for what is late");
}
