//! Knobs, turned from outside.

use crate::ask::Asked;

#[test]
fn a_knob_goes_there_and_back() {
    let asked = Asked::start();
    let all = asked.get("/v1/knobs");
    let names: Vec<_> = all["knobs"].as_array().expect("a list").iter().map(|knob| &knob["name"]).collect();
    assert!(names.iter().any(|name| *name == "tcp_rcvbuf") && names.iter().any(|name| *name == "tcp_sndbuf"));
    for (body, set) in [
        (r#"{"value": "16M"}"#, "16777216"),
        (r#"{"value": 33554432}"#, "33554432"),
        (r#"{"value": "auto"}"#, "auto"),
    ] {
        let (status, knob) = asked.ask("PUT", "/v1/knobs/tcp_rcvbuf", body);
        assert_eq!((status, knob["set"].as_str()), (200, Some(set)), "{knob}");
        assert!(knob["bounded_by"].as_str().is_some_and(|words| !words.is_empty()), "{knob}");
        assert_eq!(asked.get("/v1/knobs/tcp_rcvbuf"), knob);
    }
}

#[test]
fn what_cannot_be_is_refused_with_the_reason() {
    let asked = Asked::start();
    let refused = |name: &str, body: &str, status: u16, why: &str| {
        let (answered, said) = asked.ask("PUT", &format!("/v1/knobs/{name}"), body);
        assert_eq!(answered, status, "{said}");
        assert!(said["error"].as_str().is_some_and(|error| error.contains(why)), "{said}");
        assert!(said["hint"].is_string(), "{said}");
    };
    refused("tcp_rcvbuf", r#"{"value": "1M"}"#, 400, "floor of 3158016 bytes (3 calls of");
    refused("tcp_rcvbuf", r#"{"value": "much"}"#, 400, "a size is a number with");
    refused("tcp_rcvbuf", r#"{"bytes": 1}"#, 400, "unknown field `bytes`");
    refused("tcp_rcvbuf", "16M", 400, "reading the body");
    refused("volume", r#"{"value": "11"}"#, 404, "no knob is called volume");
    refused("tcp_rcvbuf", &" ".repeat(65 << 10), 413, "length limit");
    assert_eq!(asked.get("/v1/knobs/tcp_rcvbuf")["set"], "auto");
}
