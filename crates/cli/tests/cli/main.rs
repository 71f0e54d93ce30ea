//! The program, started as users start it.

#[path = "../running/bench.rs"]
mod bench;
mod cluster;
mod confined;
mod copy_ordinary;
mod copy_select;
mod copy_stream;
mod crossing;
mod direct_tls;
mod json;
mod keepalived;
#[allow(dead_code, reason = "shared with other tests")]
#[path = "../running/lab.rs"]
mod lab;
mod lab_guests;
mod lab_report;
mod lab_run;
mod lab_run_left;
#[allow(dead_code, reason = "shared with other tests")]
#[path = "../lab_shell/laboratory.rs"]
mod laboratory;
mod manual;
#[path = "../../../client/tests/middleman/mod.rs"]
mod middleman;
mod mount;
#[path = "../../../server/tests/common/nfs4.rs"]
#[allow(dead_code, reason = "its other users need the rest of it")]
mod nfs4;
#[path = "../running/recorded.rs"]
#[allow(dead_code, reason = "its other users need the rest of it")]
mod recorded;
mod replay;
mod replay_nfs4;
#[path = "../../../server/tests/common/secured.rs"]
#[allow(dead_code)]
mod secured;
#[path = "../running/server.rs"]
mod server;
mod tls;
