//! Workloads through the NFS client to a server that loses, again and again, what was not committed: the write verifier shows
//! it, what was lost is written again, and everything is there in the end.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use howdah_client::connect::{ConnectOptions, connect};
use howdah_client::url::NfsUrl;
use howdah_server::exports::{ClientRule, Export, Exports, Squash};
use howdah_server::{Server, Settings, Sockets};
use howdah_vfs::{Caller, FileSystem};
use howdah_workload::{
    FileSize, Place, PlaceKind, Progress, Schedule, Stage, Workload, WorkloadPlan, WorkloadResult, carry_out,
};

mod restarting;

use restarting::Restarting;

/// The server, and a way to it.
struct Served {
    _server: Server,
    url: NfsUrl,
}

fn serve(file_system: Arc<dyn FileSystem>, version: u32) -> Served {
    let rule = ClientRule { squash: Squash::None, ..ClientRule::default() };
    let export = Export::new("/", 1, file_system, vec![rule]);
    let exports = Exports::new(vec![export], [7; 16]).expect("one export");
    let sockets = Sockets::bind(&["127.0.0.1:0".parse().expect("an address")], true).expect("a free port");
    let server =
        Server::start(&Settings { workers: 4, ..Settings::default() }, sockets, exports).expect("a server");
    let url = format!("nfs://{}/?version={version}", server.addresses()[0].1).parse().expect("a URL");
    Served { _server: server, url }
}

fn run(url: &NfsUrl, plan: &WorkloadPlan) -> anyhow::Result<WorkloadResult> {
    let client = connect(url, &ConnectOptions::default())?;
    let place = Place {
        name: url.to_string(),
        kind: PlaceKind::Nfs,
        directory: client.root(),
        file_system: client,
        caller: Caller::ROOT,
        counters: None,
    };
    let stage = Stage::set_up(place, false)?;
    let once = Schedule { warm_up: 0, runs: 1 };
    let result = carry_out(plan, once, &stage, &Progress::new(), &AtomicBool::new(false));
    stage.clear_up()?;
    result
}

#[test]
fn what_the_server_loses_is_written_again() {
    written_again(3);
}

#[test]
fn what_the_server_loses_is_written_again_over_nfs4() {
    written_again(4);
}

fn written_again(version: u32) {
    for workload in [
        Workload::Write,
        Workload::Read,
        Workload::Files,
        Workload::Small,
        Workload::RandomWrite,
        Workload::RandomRead,
        Workload::Mixed,
    ] {
        let file_system = Arc::new(Restarting::every(11));
        let served = serve(Arc::clone(&file_system) as Arc<dyn FileSystem>, version);
        let plan = WorkloadPlan {
            files: 6,
            file_size: FileSize::exactly(128 << 10),
            record_bytes: 8192,
            transfer_bytes: 8192,
            threads: 2,
            in_flight: Some(4),
            operations: 300,
            verify: true,
            ..WorkloadPlan::usual(workload, 0x5eed)
        };
        let result = run(&served.url, &plan).unwrap_or_else(|why| panic!("{}: {why:#}", workload.name()));
        assert!(file_system.kills() > 0);
        let sum = |figure: fn(&howdah_workload::RunFigures) -> u64| -> u64 {
            result.phases.iter().map(|phase| figure(&phase.runs[0])).sum()
        };
        assert!(sum(|run| run.verified_bytes) > 0, "{}", workload.name());
        // What is only read was laid out before the time.
        let lost = sum(|run| run.resent_bytes);
        assert!(lost > 0 || !workload.writes(), "{}: nothing was lost", workload.name());
    }
}
