//! `/v1/openapi.json` describes what is answered: each question is in it, and each answer has the form that it gives, with no
//! field more.

use std::collections::BTreeSet;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use boon::{Compiler, Schemas};
use serde_json::{Value, json};

use crate::ask::Asked;
use crate::common::{getattr, root};

/// How long a loaded machine may take to judge a connection.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server with much to report: a connection that was used and judged.
fn used() -> Asked {
    let asked = Asked::start();
    let mut stream = TcpStream::connect(asked.address).expect("connected");
    let handle = root(&asked.server);
    let deadline = Instant::now() + PATIENCE;
    while asked.get("/v1/tuning")["connections"][0]["verdict"].is_null() {
        assert!(Instant::now() < deadline, "never judged: {}", asked.get("/v1/tuning"));
        for _ in 0..20 {
            assert!(getattr(&mut stream, &handle).is_ok());
        }
    }
    asked.captures(|| assert!(getattr(&mut stream, &handle).is_ok()));
    asked
}

/// The description, with every object closed: a field that it does not have is an error.
fn closed(description: &Value) -> Value {
    let mut description = description.clone();
    let forms = description["components"]["schemas"].as_object_mut().expect("forms");
    for form in forms.values_mut().filter(|form| form["properties"].is_object()) {
        form["additionalProperties"] = json!(false);
    }
    description
}

/// What is wrong with an answer, if anything is.
fn fault(description: &Value, at: &str, answer: &Value) -> Option<String> {
    const PLACE: &str = "http://howdah/openapi.json";
    let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
    compiler.add_resource(PLACE, description.clone()).expect("JSON");
    let form = compiler.compile(&format!("{PLACE}#{at}"), &mut schemas).expect("a form");
    schemas.validate(answer, form).err().map(|error| error.to_string())
}

/// Where the form of an answer stands.
fn place(path: &str, method: &str, status: &str) -> String {
    let path = path.replace('~', "~0").replace('/', "~1").replace('{', "%7B").replace('}', "%7D");
    format!("/paths/{path}/{method}/responses/{status}/content/application~1json/schema")
}

#[test]
fn every_question_is_described_and_every_answer_has_its_form() {
    let asked = used();
    let _clients = asked.lockers();
    let description = asked.get("/v1/openapi.json");
    let closed = closed(&description);
    let mut described = BTreeSet::new();
    for (path, methods) in description["paths"].as_object().expect("paths") {
        for (method, question) in methods.as_object().expect("methods") {
            if question["responses"]["200"]["content"]["application/json"].is_null() {
                continue;
            }
            described.insert((method.to_uppercase(), path.clone()));
            let body = crate::ask::body(&method.to_uppercase(), path);
            let typed = asked.named(path);
            let (status, answer) = asked.ask(&method.to_uppercase(), &typed, body);
            assert_eq!(status, 200, "{method} {path}: {answer}");
            assert_eq!(
                fault(&closed, &place(path, method, "200"), &answer),
                None,
                "{method} {path}: {answer}"
            );
        }
    }
    let offered = asked.get("/v1")["paths"].as_array().expect("a list").clone();
    let word = |offered: &Value, field: &str| offered[field].as_str().expect("a text").to_owned();
    let offered = offered.iter().map(|offered| (word(offered, "method"), word(offered, "path")));
    assert_eq!(described, offered.collect(), "what is described, and what GET /v1 offers");
}

#[test]
fn refusals_have_their_form_too_and_other_things_have_not() {
    let asked = Asked::start();
    let closed = closed(&asked.get("/v1/openapi.json"));
    for (method, path, body) in
        [("GET", "/v1/knobs/none", ""), ("PUT", "/v1/knobs/tcp_rcvbuf", "{}"), ("POST", "/v1", "")]
    {
        let (status, answer) = asked.ask(method, path, body);
        assert!(status >= 400, "{method} {path}: {status}");
        assert_eq!(fault(&closed, &place("/v1", "get", "default"), &answer), None, "{answer}");
        assert!(fault(&closed, &place("/v1", "get", "200"), &answer).is_some(), "{answer}");
    }
    let turn = "/paths/~1v1~1knobs~1%7Bname%7D/put/requestBody/content/application~1json/schema";
    assert_eq!(fault(&closed, turn, &json!({"value": "16M"})), None);
    assert_eq!(fault(&closed, turn, &json!({"value": 5})), None);
    assert!(fault(&closed, turn, &json!({"value": null})).is_some());
}
