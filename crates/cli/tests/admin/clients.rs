//! `howdah clients` and `howdah release`.

use crate::asking::Served;

#[test]
fn who_has_what_is_told_and_nobody_is_released_by_mistake() {
    let served = Served::start(&["--lease", "7s"]);
    assert_eq!(served.ask(&["clients"]), (Some(0), "no NFSv4 clients\n".to_owned(), String::new()));
    let state = &served.json(&["clients"])["servers"][0]["state"];
    assert_eq!((&state["lease_seconds"], &state["grace"]), (&7.into(), &false.into()));
    let (code, _, why) = served.ask(&["release", "17"]);
    assert_eq!(code, Some(2));
    assert!(why.contains("there is no NFSv4 client 17; howdah clients lists them"), "{why}");
}

#[test]
fn a_server_of_nfsv3_alone_knows_no_client() {
    let served = Served::start(&["--no-nfs4"]);
    assert!(served.server.screen.contains("serves NFSv3 over"), "{}", served.server.screen);
    let (code, said, _) = served.ask(&["clients"]);
    assert_eq!((code, said.as_str()), (Some(0), "no NFSv4 clients\n"));
}
