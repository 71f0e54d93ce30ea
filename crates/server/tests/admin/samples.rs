//! What was seen of connections of late, as curves.

use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::ask::Asked;
use crate::common::{getattr, root};

/// How long a loaded machine may take to look at a connection.
const PATIENCE: Duration = Duration::from_secs(60);

/// Keeps a connection busy until that has been seen.
fn until(asked: &Asked, stream: &mut TcpStream, path: &str, seen: impl Fn(&Value) -> bool) -> Value {
    let handle = root(&asked.server);
    let deadline = Instant::now() + PATIENCE;
    loop {
        for _ in 0..20 {
            assert!(getattr(stream, &handle).is_ok());
        }
        let reply = asked.get(path);
        if seen(&reply) {
            return reply;
        }
        assert!(Instant::now() < deadline, "never seen: {reply}");
    }
}

fn columns(reply: &Value) -> &serde_json::Map<String, Value> {
    reply["connections"][0]["samples"].as_object().expect("columns")
}

#[test]
fn a_busy_connection_has_a_curve() {
    let asked = Asked::start();
    let mut stream = TcpStream::connect(asked.address).expect("connected");
    let length = |reply: &Value| reply["connections"][0]["samples"]["at"].as_array().map_or(0, Vec::len);
    let has_sent = |reply: &Value| {
        let rates = columns(reply)["sent_per_second"].as_array().expect("a column");
        rates.iter().any(|rate| rate.as_f64() > Some(0.0))
    };
    let reply = until(&asked, &mut stream, "/v1/samples?client=127.0.0.1", |reply| {
        length(reply) >= 3 && has_sent(reply)
    });
    let client = stream.local_addr().expect("bound").to_string();
    assert_eq!(reply["connections"][0]["client"], client);
    for (name, column) in columns(&reply) {
        assert_eq!(column.as_array().expect("a column").len(), length(&reply), "{name}");
    }
    let at = columns(&reply)["at"].as_array().expect("a column");
    assert!(at.is_sorted_by(|one, two| one.as_f64() < two.as_f64()), "{at:?}");

    // Only what is new.
    let later =
        until(&asked, &mut stream, &format!("/v1/samples?since={}", at[1]), |reply| length(reply) > 0);
    assert!(columns(&later)["at"][0].as_f64() > at[1].as_f64(), "{later}");
    let now = reply["now"].as_f64().expect("a number") + 1e6;
    assert_eq!(length(&asked.get(&format!("/v1/samples?since={now}"))), 0);
    assert_eq!(length(&asked.get("/v1/samples?client=192.0.2.1")), 0);

    // It is reported for a while after it is gone.
    drop(stream);
    let deadline = Instant::now() + PATIENCE;
    while asked.get("/v1/samples")["connections"][0]["is_open"] != false {
        assert!(Instant::now() < deadline, "it is gone");
        std::thread::yield_now();
    }
}

#[test]
fn what_is_asked_wrongly_is_said() {
    let asked = Asked::start();
    for wrong in ["client=nobody", "since=today", "until=1"] {
        let (status, said) = asked.ask("GET", &format!("/v1/samples?{wrong}"), "");
        assert_eq!(status, 400, "{said}");
        assert!(said["hint"].as_str().is_some_and(|hint| hint.contains("since=12.5")), "{said}");
    }
}
