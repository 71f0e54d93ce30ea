//! Calls that arrive twice.

use howdah_wire::nfs3::*;

use super::client::Client;
use super::handles::every_procedure;

#[test]
fn what_may_not_run_twice_is_answered_as_the_first_time() {
    let client = Client::new();
    let fifo = mknod::What::Fifo(NewAttributes::default());
    let object = super::client::at(&client.root, b"new");
    let first = client.call(mknod::PROCEDURE, &mknod::Arguments { object, what: fifo });
    client.forget_last();
    assert_eq!(client.call(mknod::PROCEDURE, &mknod::Arguments { object, what: fifo }), first);
    let again = client.status(mknod::PROCEDURE, &mknod::Arguments { object, what: fifo });
    assert_eq!(again, Some(Status::Exists), "a call of its own");

    let first = client.call(remove::PROCEDURE, &remove::Arguments { object });
    client.forget_last();
    assert_eq!(client.call(remove::PROCEDURE, &remove::Arguments { object }), first);
    let again = client.status(remove::PROCEDURE, &remove::Arguments { object });
    assert_eq!(again, Some(Status::NotFound), "a call of its own");
}

#[test]
fn every_call_that_may_not_run_twice_is_remembered_whatever_it_answers() {
    let client = Client::new();
    let (_, procedures) = super::super::PROGRAM.versions[0];
    for (name, procedure, arguments) in every_procedure(&client.root) {
        let (_, first) = client.send(procedure, &arguments, None);
        client.forget_last();
        let (_, second) = client.send(procedure, &arguments, None);
        if procedures[procedure as usize].once {
            assert_eq!(first, second, "{name}");
        }
    }
}
