//! Calls that arrive twice.

use howdah_wire::nfs3::*;

use super::client::Client;
use super::handles::every_procedure;
use crate::Transport;
use crate::program::Tabled;

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
    let (_, procedures) = super::super::Nfs3Program::VERSIONS[0];
    let procedures: Vec<_> = procedures.iter().map(|row| &row.procedure).collect();
    for transport in [Transport::Tcp, Transport::Udp] {
        let mut client = Client::new();
        client.peer.transport = transport;
        for (name, procedure, arguments) in every_procedure(&client.root) {
            let (_, first) = client.send(procedure, &arguments, None);
            client.forget_last();
            let (_, second) = client.send(procedure, &arguments, None);
            if procedures[procedure as usize].repetition.is_once(transport) {
                assert_eq!(first, second, "{name}");
            }
        }
    }
}

#[test]
fn a_write_that_comes_late_in_a_second_datagram_undoes_nothing() {
    let mut client = Client::new();
    client.peer.transport = Transport::Udp;
    let write = |data| write::Arguments {
        node: FileHandle(&client.file),
        offset: 0,
        count: 5,
        stability: write::Stability::Unstable,
        data,
    };
    let first = client.call(write::PROCEDURE, &write(b"first"));
    client.call(write::PROCEDURE, &write(b"later"));
    client.forget_last();
    client.forget_last();
    assert_eq!(client.call(write::PROCEDURE, &write(b"first")), first);
    let read = read::Arguments { node: FileHandle(&client.file), offset: 0, count: 5 };
    let read = client.call(read::PROCEDURE, &read);
    assert!(read.windows(5).any(|bytes| bytes == b"later"), "{read:?}");
}
