//! Tells sockets what the tuner says, in the order in which it said it. Whoever turns a knob leaves what comes of it to the
//! thread that sizes connections.

use howdah_net::Token;
use howdah_tune::{SizeChange, Tuner};

use crate::connection::Connection;
use crate::shared::{Shared, Source};

/// Asks the tuner. What it said to somebody who turned a knob before is told first, so that a socket hears of its sizes in the
/// order in which they were decided.
pub fn ask<T>(shared: &Shared, ask: impl FnOnce(&mut Tuner<Token>) -> T) -> T {
    let mut tuner = shared.tuner.lock();
    let told = std::mem::take(&mut *shared.told.lock());
    let answer = ask(&mut tuner);
    drop(tuner);
    tell_all(shared, told);
    answer
}

/// Tells each its change.
pub fn tell_all(shared: &Shared, told: Vec<(Token, SizeChange)>) {
    for (token, change) in told {
        if let Source::Connection(connection) = shared.source(token) {
            apply(&connection, &[change]);
        }
    }
}

/// Does to a socket what it is told.
pub fn apply(connection: &Connection, changes: &[SizeChange]) {
    for &change in changes {
        tracing::debug!(client = %connection.peer().ends.client, ?change, "sizing");
        if let Err(error) = connection.stream().apply(change) {
            tracing::debug!(client = %connection.peer().ends.client, ?change, %error, "sizing");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use howdah_net::probe_host;
    use howdah_tune::budget::HostMemory;
    use howdah_tune::{Gauges, Settings};

    use super::*;
    use crate::connection::tests::connected;
    use crate::service::Service;

    #[test]
    fn sizes_are_told_in_the_order_in_which_they_were_decided() {
        let memory = HostMemory { total: 8 << 30, tcp: [1 << 30; 3], group: None };
        let settings = Settings::automatic(probe_host().expect("a socket"), memory);
        let service = Service::new(Default::default());
        let shared = Shared::new(service, Vec::new(), Tuner::new(settings)).expect("descriptors");
        let (stream, _client) = connected();
        shared.add(stream).expect("taken in");
        let connection = shared.connections().pop().expect("it");
        let send_buffer = || {
            let sample = connection.stream().sample(Duration::ZERO, &Gauges::default());
            sample.expect("a socket").sending.buffer
        };
        // Somebody turned a knob, while the sizing thread is about to decide something else.
        shared.told.lock().push((connection.token(), SizeChange::SendBuffer(100_000)));
        let decided = ask(&shared, |_| SizeChange::SendBuffer(200_000));
        assert_eq!(send_buffer(), 100_000);
        apply(&connection, &[decided]);
        ask(&shared, |_| ());
        assert_eq!(send_buffer(), 200_000, "what was decided first is not told last");
    }
}
