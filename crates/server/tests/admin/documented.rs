//! `docs/protocols/admin.md` says what is answered: no more and no less.

use std::collections::{BTreeMap, BTreeSet};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::ask::Asked;
use crate::common::{getattr, root};

/// How long a loaded machine may take to judge a connection.
const PATIENCE: Duration = Duration::from_secs(60);

/// Fields of a question, each with what it is.
type Fields = BTreeMap<String, String>;

#[test]
fn every_documented_question_has_the_fields_documented() {
    let documented = documented();
    let asked = Asked::head();
    let mut stream = TcpStream::connect(asked.address).expect("connected");
    let handle = root(&asked.server);
    let deadline = Instant::now() + PATIENCE;
    let is_judged = || {
        let judged = |verdict: &Value| !verdict.is_null();
        judged(&asked.get("/v1/tuning")["connections"][0]["verdict"])
            && judged(&asked.get("/v1/samples")["connections"][0]["samples"]["verdict"][0])
            && judged(&asked.get("/v1/heads")["heads"][0]["clients"][0]["verdict"])
    };
    while !is_judged() {
        assert!(Instant::now() < deadline, "never judged: {}", asked.get("/v1/tuning"));
        for _ in 0..20 {
            assert!(getattr(&mut stream, &handle).is_ok());
        }
    }
    let clients = asked.lockers();
    asked.captures(|| assert!(getattr(&mut stream, &handle).is_ok()));
    let offered: BTreeSet<String> =
        asked.get("/v1")["paths"].as_array().expect("a list").iter().map(question).collect();
    assert_eq!(offered, documented.keys().cloned().collect(), "what GET /v1 offers, and what is documented");
    for (question, fields) in &documented {
        let (method, path) = question.split_once(' ').expect("a method and a path");
        let body = crate::ask::body(method, path);
        let (status, answer) = asked.ask(method, &asked.named(path), body);
        assert_eq!(status, 200, "{question}: {answer}");
        let mut found = BTreeSet::new();
        flatten(&answer, String::new(), fields, &mut found);
        // A container is named where it may be null, and known by its fields where it is not.
        let leaves = |names: &BTreeSet<String>| -> BTreeSet<String> {
            let is_leaf = |name: &&String| !names.iter().any(|other| other.starts_with(&format!("{name}.")));
            names.iter().filter(is_leaf).cloned().collect()
        };
        // It may be null in one item of a list, and not in another.
        let wanted = fields.keys().cloned().collect();
        assert_eq!(leaves(&found), leaves(&wanted), "{question}: {answer}");
    }
    drop(clients);
}

fn question(offered: &Value) -> String {
    let word = |field: &str| offered[field].as_str().expect("a text").to_owned();
    format!("{} {}", word("method"), word("path"))
}

/// The names of all fields. A map, whose names are data, is one field, and so is a list of texts.
fn flatten(value: &Value, name: String, fields: &Fields, found: &mut BTreeSet<String>) {
    let is_map = fields.get(&name).is_some_and(|what| what.starts_with("map"));
    match value {
        Value::Object(object) if !is_map => {
            for (key, value) in object {
                let name = if name.is_empty() { key.clone() } else { format!("{name}.{key}") };
                flatten(value, name, fields, found);
            }
        }
        Value::Array(_) if fields.get(&name).is_some_and(|what| what.starts_with("list")) => {
            found.insert(name);
        }
        Value::Array(items) => {
            assert!(!items.is_empty(), "{name} has no item to look at");
            for item in items {
                flatten(item, format!("{name}[]"), fields, found);
            }
        }
        _ => drop(found.insert(name)),
    }
}

/// Headings are questions, and the first column of the tables below them fields.
fn documented() -> BTreeMap<String, Fields> {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/protocols/admin.md");
    let text = std::fs::read_to_string(file).expect("it is there");
    let mut questions: BTreeMap<String, Fields> = BTreeMap::new();
    let mut current = None;
    for line in text.lines() {
        if let Some(heading) = line.strip_prefix("### ") {
            current = Some(heading.trim_matches('`').to_owned());
        }
        let (Some(question), Some(row)) = (&current, line.strip_prefix("| ")) else { continue };
        let (names, what) = row.split_once(" | ").expect("two columns");
        let fields = questions.entry(question.clone()).or_default();
        for name in names.split(", ").filter(|name| name.starts_with('`')) {
            fields.insert(name.trim_matches('`').to_owned(), what.to_owned());
        }
    }
    questions
}
