//! `--json` and `--quiet` where no server has to be asked for more than its settings: one object on standard output, and nothing else.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::server::{HOWDAH, Server, home, run, serve};

/// The settings that `docs/manual/json.md` lists.
const SETTINGS: &str = "acls admin admin_listen cluster exports kerberos lease limits listen log log_format manage_gids memory_budget metrics \
                        metrics_clients networks nfs4 quic quotas rpcbind sandbox shares state tcp_congestion tcp_rcvbuf tcp_sndbuf tls_certificate \
                        tls_client_ca tls_client_crl tls_key tuning udp udp_per_interface udp_sockets workers";
const EXPORT: &str = "cache clients cross_mounts delegations durability gone id locks memory name path quota_in_df set_id tls undelegated url";

fn howdah(arguments: &[&str]) -> (Option<i32>, String, String) {
    run(Command::new(HOWDAH).args(arguments))
}

/// What a command printed that ended with this code, and wrote nothing to standard error.
fn object(arguments: &[&str], code: i32) -> Value {
    let (ended, output, errors) = howdah(arguments);
    assert_eq!((ended, errors.as_str()), (Some(code), ""), "{output}");
    serde_json::from_str(&output).unwrap_or_else(|error| panic!("{error}: {output}"))
}

fn assert_keys(value: &Value, expected: &str) {
    let found: BTreeSet<&str> = value.as_object().expect("an object").keys().map(String::as_str).collect();
    assert_eq!(found, expected.split_whitespace().collect(), "{value:#}");
}

fn assert_silent(arguments: &[&str]) {
    assert_eq!(howdah(arguments), (Some(0), String::new(), String::new()), "{arguments:?}");
}

#[test]
fn check_prints_settings_and_problems() {
    let home = home();
    let file = home.path().join("howdah.toml");
    let name = file.to_str().expect("text");
    let text = format!(
        "workers = 3\n[[network]]\nclients = \"10.0.0.0/8\"\ntcp_rcvbuf = \"32M\"\n[[export]]\nname = \"/data\"\npath = {:?}\n\
         durability = \"async\"\nclients = {{ allow = \"10.0.0.0/8\", squash = \"none\" }}\n",
        home.path().join("data")
    );
    fs::write(&file, text).expect("written");
    let value = object(&["check", name, "--json"], 0);
    assert_keys(&value, "file problems notes settings");
    assert_eq!((&value["file"], &value["problems"]), (&json!(name), &json!([])));
    assert!(value["notes"][0].as_str().is_some_and(|note| note.contains("/data is async")), "{value:#}");
    let settings = &value["settings"];
    assert_keys(settings, SETTINGS);
    assert_eq!((&settings["workers"], &settings["tcp_sndbuf"]), (&json!(3), &json!("auto")));
    assert_eq!(
        settings["networks"],
        json!([{ "clients": "10.0.0.0/8", "tcp_sndbuf": null, "tcp_rcvbuf": 32 << 20, "tcp_congestion": null }])
    );
    assert_keys(&settings["exports"][0], EXPORT);
    assert_eq!(
        settings["exports"][0]["clients"],
        json!([{ "allow": "10.0.0.0/8", "read_only": false, "privileged_ports": "local", "squash": "none", "sec": ["sys"],
                 "anonymous_user": 65534, "anonymous_group": 65534 }])
    );
    assert_silent(&["check", name, "--quiet"]);
    let shown = object(&["exports", "--config", name, "--json"], 0);
    assert_eq!(shown, json!({ "settings": settings }));

    fs::write(&file, "workers = 0\n").expect("written");
    let value = object(&["check", name, "--json"], 2);
    assert_eq!(value["settings"], Value::Null);
    let problems = value["problems"].as_array().expect("a list");
    problems.iter().for_each(|problem| assert_keys(problem, "file line column message help"));
    let placed = problems.iter().find(|problem| problem["line"] == 1).expect("one with a line");
    assert_eq!((&placed["file"], &placed["column"]), (&json!(name), &json!(11)));
    assert!(
        placed["message"].as_str().is_some_and(|text| text.starts_with("`workers`: expected")),
        "{placed}"
    );
    let (code, output, errors) = howdah(&["check", name, "-q"]);
    assert!(code == Some(2) && output.is_empty() && errors.contains("`workers`"), "{output}{errors}");

    let value = object(&["check", "/nonexistent/howdah.toml", "--json"], 2);
    assert_eq!(value["problems"][0]["line"], Value::Null);
    assert_keys(&value["problems"][0], "file line column message help");
}

#[test]
fn exports_prints_what_running_servers_have_in_effect() {
    let home = home();
    let data = home.path().join("data");
    let server =
        Server::start(serve(home.path()).args(["--listen", "127.0.0.1:0", "--workers", "2"]).arg(&data));
    let state = home.path().join("state");
    let value = object(&["exports", "--json", "--state", state.to_str().expect("text")], 0);
    assert_keys(&value, "servers");
    let [shown] = &value["servers"].as_array().expect("a list")[..] else { panic!("one: {value:#}") };
    assert_keys(shown, "process addresses admin_socket live_page quic settings");
    assert_eq!(shown["addresses"], json!([server.address().to_string()]));
    assert_keys(&shown["settings"], SETTINGS);
    assert_eq!(shown["settings"]["workers"], json!(2));
    let export = &shown["settings"]["exports"][0];
    assert_keys(export, EXPORT);
    assert_eq!((&export["name"], &export["gone"]), (&json!("/"), &Value::Null));
    let text = howdah(&["exports", "--state", state.to_str().expect("text")]).1;
    assert!(text.contains("export /\n") && !text.contains('{'), "{text}");
}

#[test]
fn certificate_prints_files_names_and_until_when() {
    let home = tempfile::tempdir().expect("a directory");
    let tls = home.path().join("tls");
    let tls = tls.to_str().expect("text");
    let value =
        object(&["certificate", tls, "--server", "a.test,10.0.0.7", "--client", "c.test", "--json"], 0);
    assert_keys(&value, "authority certificates");
    assert_keys(&value["authority"], "certificate key valid_until new");
    assert_eq!(value["authority"]["new"], json!(true));
    let [server, client] = &value["certificates"].as_array().expect("a list")[..] else {
        panic!("two: {value:#}")
    };
    for one in [server, client] {
        assert_keys(one, "certificate key valid_until purpose names");
        assert!(one["valid_until"].as_str().is_some_and(|end| end.ends_with('Z')), "{one}");
        assert!(fs::metadata(one["key"].as_str().expect("text")).is_ok(), "{one}");
    }
    assert_eq!((&server["purpose"], &server["names"]), (&json!("server"), &json!(["a.test", "10.0.0.7"])));
    assert_eq!(client["purpose"], json!("client"));
    let value = object(&["certificate", tls, "--revoke", &format!("{tls}/c.test.pem"), "--json"], 0);
    assert_keys(&value["revoked"], "certificate list");
    assert_silent(&["certificate", tls, "--client", "d.test", "-q"]);
    assert!(fs::metadata(format!("{tls}/d.test.key")).is_ok());
}

#[test]
fn cluster_key_is_quiet_when_asked() {
    let home = tempfile::tempdir().expect("a directory");
    let key = home.path().join("key");
    let key = key.to_str().expect("text");
    assert_silent(&["cluster-key", key, "--quiet"]);
    let (code, output, errors) = howdah(&["cluster-key", key, "-q"]);
    assert!(code == Some(1) && output.is_empty() && errors.contains(key), "{output}{errors}");
}

#[test]
fn the_laboratory_lists_plans_and_paths() {
    let plans = object(&["lab", "list", "--json"], 0);
    for plan in plans["plans"].as_array().expect("a list") {
        assert_keys(plan, "name title origin full quick");
        assert_keys(&plan["quick"], "cells repetitions takes_seconds");
    }
    let paths = object(&["lab", "paths", "--json"], 0);
    assert!(paths["paths"].as_array().is_some_and(|paths| paths.len() > 1), "{paths:#}");
    let path = object(&["lab", "paths", "wan-30ms", "--json"], 0);
    let [path] = &path["paths"].as_array().expect("a list")[..] else { panic!("one path") };
    assert_keys(path, "name what source path");
}
