//! What NFSv4 clients have, as people read it.

use std::fmt::Write;

use howdah_server::admin::{LockReport, StateClient, StateReport};

/// A line for each client, and one for each lock with those who wait for it.
pub fn state(state: &StateReport) -> String {
    let mut text = unwritable(state.unwritable.as_deref());
    if state.grace {
        text.push_str(
            "The server has restarted: clients reclaim their opens and locks; until then, no client gets new ones.\n",
        );
    }
    if state.clients.is_empty() {
        text.push_str("no NFSv4 clients\n");
    } else {
        let _ = writeln!(
            text,
            "{:<18}{:<24}{:<12}{:>10}{:>7}{:>7}{:>13}{:>10}  NAME",
            "CLIENT", "ADDRESS", "LEASE", "SLOTS", "OPENS", "LOCKS", "DELEGATIONS", "SILENT"
        );
    }
    state.clients.iter().for_each(|one| client(&mut text, one));
    if !state.locks.is_empty() {
        let _ = writeln!(text, "\n{:<24}{:<14}{:<7}{:<22}HELD BY", "EXPORT", "FILE", "LOCK", "BYTES");
    }
    state.locks.iter().for_each(|one| lock(&mut text, one));
    text
}

/// That records cannot be written, if they cannot: a line.
pub fn unwritable(why: Option<&str>) -> String {
    why.map_or_else(String::new, |why| {
        format!(
            "The state directory cannot be written ({why}): new NFSv4 clients and hosts with locks wait, recorded ones continue. Make \
             room there, or mount its file system read-write.\n"
        )
    })
}

fn client(text: &mut String, client: &StateClient) {
    let StateClient { id, name, address, standing, silent_seconds, opens, locks, delegations, .. } = client;
    let slots = format!("{}/{}", client.slots_used, client.slots);
    let silent = format!("{silent_seconds} s");
    let address = address.to_string();
    let _ = writeln!(
        text,
        "{id:<18}{address:<24}{standing:<12}{slots:>10}{opens:>7}{locks:>7}{delegations:>13}{silent:>10}  {name}"
    );
}

fn lock(text: &mut String, lock: &LockReport) {
    let file = lock.file.map_or_else(|| "?".to_owned(), |file| file.to_string());
    let last = lock.last.map_or_else(|| "end".to_owned(), |last| last.to_string());
    let bytes = format!("{}-{last}", lock.first);
    let _ = writeln!(text, "{:<24}{file:<14}{:<7}{bytes:<22}{}", lock.export, lock.kind, lock.holder);
    for waiting in &lock.waiting {
        let _ = writeln!(text, "    waits: {waiting}");
    }
}

#[cfg(test)]
mod tests {
    use snapbox::{assert_data_eq, str};

    use super::*;

    #[test]
    fn it_reads_like_this() {
        let client = StateClient {
            id: "6746c2a100000001".to_owned(),
            name: "Linux NFSv4.2 desk".to_owned(),
            address: "192.0.2.7".parse().expect("an address"),
            standing: "active".to_owned(),
            silent_seconds: 3,
            sessions: 1,
            slots_used: 3,
            slots: 64,
            opens: 12,
            locks: 1,
            delegations: 3,
        };
        let lock = LockReport {
            export: "/srv/data".to_owned(),
            file: Some(4711),
            kind: "write".to_owned(),
            first: 0,
            last: None,
            holder: "Linux NFSv4.2 desk (192.0.2.7)".to_owned(),
            waiting: vec!["Linux NFSv4.2 attic (192.0.2.8)".to_owned()],
        };
        let found = StateReport {
            grace: false,
            lease_seconds: 90,
            clients: vec![client],
            locks: vec![lock],
            unwritable: None,
        };
        assert_data_eq!(
            state(&found),
            str![[r#"
CLIENT            ADDRESS                 LEASE            SLOTS  OPENS  LOCKS  DELEGATIONS    SILENT  NAME
6746c2a100000001  192.0.2.7               active            3/64     12      1            3       3 s  Linux NFSv4.2 desk

EXPORT                  FILE          LOCK   BYTES                 HELD BY
/srv/data               4711          write  0-end                 Linux NFSv4.2 desk (192.0.2.7)
    waits: Linux NFSv4.2 attic (192.0.2.8)

"#]]
        );
        assert_data_eq!(
            state(&StateReport { unwritable: Some("no storage space".to_owned()), ..StateReport::default() }),
            str![[r#"
The state directory cannot be written (no storage space): new NFSv4 clients and hosts with locks wait, recorded ones continue. Make room there, or mount its file system read-write.
no NFSv4 clients

"#]]
        );
    }
}
