//! Heads of a cluster as people run them: two servers of one directory, compared while they run.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;

use howdah_client::connect::{ConnectOptions, connect};
use howdah_vfs::{Caller, Handle, Name};
use serde_json::{Value, json};

use crate::server::{HOWDAH, Server, home, run, serve};

/// A head whose state is its own: with this key, and this name of the cluster, for this directory.
fn head(home: &Path, number: u8, key: &str, cluster: &str, data: &str) -> Server {
    let own = home.join(format!("head{number}"));
    fs::create_dir(&own).expect("made");
    let file = own.join("howdah.toml");
    let (key, data) = (home.join(key), home.join(data));
    let text = format!(
        "[cluster]\nid = \"{cluster}\"\nkey_file = {key:?}\n[[export]]\nname = \"/data\"\npath = {data:?}\nprivileged_ports = false\n"
    );
    fs::write(&file, text).expect("written");
    Server::start(serve(&own).arg("--config").arg(&file).args(["--listen", "127.0.0.1:0"]))
}

fn compared(heads: [&Server; 2]) -> (Option<i32>, String, String) {
    checked(heads, &[])
}

fn checked(heads: [&Server; 2], options: &[&str]) -> (Option<i32>, String, String) {
    let heads = heads.map(|head| head.address().to_string());
    run(Command::new(HOWDAH).arg("check").arg("--cluster").args(heads).args(options))
}

fn make_key(path: &Path) {
    let (code, shown, why) = run(Command::new(HOWDAH).arg("cluster-key").arg(path));
    assert_eq!(code, Some(0), "{why}");
    assert!(shown.contains("key_file"), "{shown}");
}

fn handle_of(address: SocketAddr, name: &str) -> Handle {
    let url = format!("nfs://{address}/data").parse().expect("a URL");
    let client = connect(&url, &ConnectOptions::default()).expect("it is served");
    let name = Name::parse(name.as_bytes()).expect("a name");
    client.lookup(&Caller::ROOT, &client.root(), name).expect("it is there").node.handle
}

#[test]
fn a_handle_of_one_head_is_good_at_the_other() {
    let home = home();
    let home = home.path();
    make_key(&home.join("key"));
    // On another host the directory may have another path.
    std::os::unix::fs::symlink("data", home.join("elsewhere")).expect("made");
    let one = head(home, 1, "key", "storage", "data");
    let other = head(home, 2, "key", "storage", "elsewhere");
    assert_eq!(handle_of(one.address(), "file"), handle_of(other.address(), "file"));
    let (code, shown, why) = compared([&one, &other]);
    assert_eq!((code, why.as_str()), (Some(0), ""), "{shown}");
    assert!(shown.contains("The heads agree"), "{shown}");
    assert_eq!(checked([&one, &other], &["-q"]), (Some(0), String::new(), String::new()));
    let (code, shown, why) = checked([&one, &other], &["--json"]);
    assert_eq!((code, why.as_str()), (Some(0), ""));
    let value: Value = serde_json::from_str(&shown).expect("JSON");
    assert_eq!((&value["agree"], &value["differences"]), (&json!(true), &json!([])), "{shown}");
    let head = &value["heads"][1];
    assert_eq!(head["head"], json!(other.address().to_string()), "{shown}");
    assert!(head["clock_ahead_seconds"].is_i64() || head["clock_ahead_seconds"].is_null(), "{shown}");
    let export = &head["exports"][0];
    assert_eq!((&export["name"], &export["error"]), (&json!("/data"), &Value::Null), "{shown}");
    assert!(export["file_system"].is_string() && export["names_compared"].is_u64(), "{shown}");
}

#[test]
fn heads_that_disagree_are_told_apart() {
    let home = home();
    let home = home.path();
    for key in ["key", "other-key"] {
        make_key(&home.join(key));
    }
    fs::create_dir(home.join("other-data")).expect("made");
    let first = head(home, 1, "key", "storage", "data");
    for (number, key, cluster, data, part) in [
        (2, "other-key", "storage", "data", "the keys of handles differ"),
        (3, "key", "other", "data", "the same [cluster] id"),
        (4, "key", "storage", "other-data", "not the same directory"),
    ] {
        let other = head(home, number, key, cluster, data);
        let (code, shown, why) = compared([&first, &other]);
        assert_eq!(code, Some(1), "{shown}{why}");
        assert!(why.contains(part), "{part}: {why}");
        let (code, shown, why) = checked([&first, &other], &["--json"]);
        assert_eq!((code, why.as_str()), (Some(1), ""));
        let value: Value = serde_json::from_str(&shown).expect("JSON");
        assert_eq!(value["agree"], json!(false), "{shown}");
        assert!(value["differences"].to_string().contains(part), "{part}: {shown}");
    }
}

#[test]
fn a_head_with_another_key_or_export_id_does_not_start_beside_the_records_of_others() {
    let home = home();
    let home = home.path();
    for key in ["key", "other-key"] {
        make_key(&home.join(key));
    }
    let configure = |number: u8, key: &str, id: &str| {
        let own = home.join(format!("head{number}"));
        fs::create_dir_all(&own).expect("made");
        let (key, data, records) = (home.join(key), home.join("data"), home.join("records"));
        let text = format!(
            "[cluster]\nid = \"storage\"\nkey_file = {key:?}\nrecords = {records:?}\naddresses = [\"192.0.2.7\"]\n[[export]]\nname = \"/data\"\npath = {data:?}\n{id}"
        );
        let file = own.join("howdah.toml");
        fs::write(&file, text).expect("written");
        let mut command = serve(&own);
        command.arg("--config").arg(file).args(["--listen", "127.0.0.1:0"]);
        command
    };
    let first = Server::start(&mut configure(1, "key", ""));
    for (key, id, part) in [("other-key", "", "[cluster] id or key_file"), ("key", "id = 7\n", "and 7 here")]
    {
        let (code, _, why) = run(&mut configure(2, key, id));
        assert_eq!(code, Some(1), "{why}");
        assert!(why.contains(part) && why.contains("other heads in"), "{part}: {why}");
    }
    let second = Server::start(&mut configure(2, "key", ""));
    assert_ne!(first.address(), second.address());
}

#[test]
fn a_key_that_is_not_there_is_explained() {
    let home = home();
    let file = home.path().join("howdah.toml");
    let (key, data) = (home.path().join("key"), home.path().join("data"));
    let text = format!(
        "[cluster]\nid = \"storage\"\nkey_file = {key:?}\n[[export]]\nname = \"/\"\npath = {data:?}\n"
    );
    fs::write(&file, text).expect("written");
    let check = || run(Command::new(HOWDAH).arg("check").arg(&file));
    let (code, _, why) = check();
    assert_eq!(code, Some(2));
    assert!(why.contains("howdah.toml:3:12") && why.contains("howdah cluster-key"), "{why}");
    fs::write(&key, "short").expect("written");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    fs::set_permissions(&key, mode).expect("set");
    let (code, _, why) = check();
    assert_eq!(code, Some(2));
    assert!(why.contains("5 bytes instead of 32"), "{why}");
    fs::remove_file(&key).expect("removed");
    make_key(&key);
    let (code, shown, why) = check();
    assert_eq!(code, Some(0), "{why}");
    assert!(shown.contains("storage, by the key in"), "{shown}");
}
