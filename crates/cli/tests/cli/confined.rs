//! What a running server has given up, as the kernel shows it, and that it serves all the same.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use howdah_client::Remote;
use howdah_client::connect::{ConnectOptions, connect};
use howdah_confine::{KEPT, LOW_PORTS};
use howdah_vfs::{
    AddLink, Caller, Change, Create, CreateFile, Data, Name, NewAttributes, ReadFile, Stability, WriteFile,
};
use rustix::process::Signal;
use rustix::thread::{CapabilitySet, capabilities};

use crate::server::{Server, home, serve};

const HERE: [&str; 2] = ["--listen", "127.0.0.1:0"];
const FILES: &str = "(Landlock)";
const SYSTEM_CALLS: &str = "(seccomp)";

/// A line of the status of each thread of a process.
fn of_each_thread(process: u32, key: &str) -> Vec<String> {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).expect("it lives");
    let line = |task: PathBuf| {
        let status = fs::read_to_string(task.join("status")).ok()?;
        Some(status.lines().find_map(|line| line.strip_prefix(key)).expect(key).trim().to_owned())
    };
    tasks.filter_map(|task| line(task.expect("listed").path())).collect()
}

fn mask(set: CapabilitySet) -> String {
    format!("{:016x}", set.bits())
}

#[test]
fn every_thread_has_the_rights_that_are_named_and_no_others() {
    let home = home();
    let data = home.path().join("data");
    let mut server = Server::start(serve(home.path()).arg(data).args(HERE).args(["--sandbox", "seccomp"]));
    let said = server.log_line("sandbox: ");
    let had = capabilities(None).expect("our own").permitted;
    let named = KEPT.iter().fold(CapabilitySet::empty(), |all, kept| all | kept.capability);
    assert!(of_each_thread(server.process(), "NoNewPrivs:").len() > 30, "its workers run");
    let all = |key: &str, value: &str| {
        for seen in of_each_thread(server.process(), key) {
            assert_eq!(seen, value, "{key} of a thread; {said}");
        }
    };
    all("NoNewPrivs:", "1");
    all("CapInh:", &mask(CapabilitySet::empty()));
    all("CapAmb:", &mask(CapabilitySet::empty()));
    all("CapPrm:", &mask(had & named));
    if had.contains(CapabilitySet::SETPCAP) {
        for seen in of_each_thread(server.process(), "CapBnd:") {
            let bounding = CapabilitySet::from_bits_retain(u64::from_str_radix(&seen, 16).expect("a number"));
            assert_eq!(bounding & !named, CapabilitySet::empty(), "{said}");
        }
    }
    assert!(!named.contains(LOW_PORTS.capability), "nothing was registered here");
    if said.contains(SYSTEM_CALLS) {
        all("Seccomp:", "2");
    }
}

#[test]
fn gives_up_only_privileges_to_come_when_told_to_give_up_nothing() {
    let home = home();
    let data = home.path().join("data");
    let mut server = Server::start(serve(home.path()).arg(data).args(HERE).args(["--sandbox", "off"]));
    server.log_line("sandbox: off");
    let own = fs::read_to_string("/proc/self/status").expect("our own");
    for key in ["NoNewPrivs:", "Seccomp:", "CapPrm:"] {
        let wanted = own.lines().find_map(|line| line.strip_prefix(key)).expect(key).trim();
        assert!(of_each_thread(server.process(), key).iter().all(|seen| seen == wanted), "{key}");
    }
}

#[test]
fn a_reload_that_leads_elsewhere_is_refused_where_files_are_confined() {
    let home = home();
    let file = home.path().join("howdah.toml");
    let [one, two] = ["data", "other"].map(|name| home.path().join(name));
    fs::create_dir(&two).expect("made");
    let export = |path: &PathBuf| format!("[[export]]\nname = \"{0}\"\npath = \"{0}\"\n", path.display());
    for (sandbox, expected) in [("strict", "restart howdah"), ("no-landlock", "configuration reloaded")] {
        fs::write(&file, export(&one)).expect("written");
        let mut command = serve(home.path());
        let mut server =
            Server::start(command.arg("--config").arg(&file).args(HERE).args(["--sandbox", sandbox]));
        let confined = server.log_line("sandbox: ").contains(FILES);
        // Another file in its place, as editors leave it, with something that a reload may always change.
        let draft = home.path().join("draft");
        fs::write(&draft, export(&one) + "squash = \"all\"\n").expect("written");
        fs::rename(&draft, &file).expect("moved");
        server.signal(Signal::HUP);
        server.log_line("configuration reloaded");
        fs::write(&file, export(&one) + "\n" + &export(&two)).expect("written");
        server.signal(Signal::HUP);
        server.log_line(if confined { expected } else { "configuration reloaded" });
        server.signal(Signal::TERM);
        assert_eq!(server.end().code(), Some(0));
    }
}

/// A client of the server's only export.
fn client(server: &Server) -> Arc<dyn Remote> {
    let url = format!("nfs://{}/", server.address()).parse().expect("a URL");
    connect(&url, &ConnectOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

/// Landlock refuses a file that has no path yet another name in another directory: that is why it is not the default as root.
const LINKS: [(&str, bool); 3] = [("auto", true), ("seccomp", true), ("strict", false)];

/// What the kernel finds by a handle alone has no path yet: a sandbox that judges by paths must not refuse it.
#[test]
fn files_are_reached_by_handles_that_nobody_looked_up_since_the_kernel_forgot_them() {
    for (sandbox, links) in LINKS {
        let home = home();
        let data = home.path().join("data");
        let start = |listen: &str| {
            let mut command = serve(home.path());
            command.arg(&data).args(["--listen", listen, "--squash", "none", "--sandbox", sandbox]);
            Server::start(&mut command)
        };
        let server = start("127.0.0.1:0");
        let (address, here) = (server.address().to_string(), client(&server));
        let caller = Caller::ROOT;
        let name = |text: &'static str| Name::parse(text.as_bytes()).expect("a name");
        fs::create_dir(data.join("sub")).expect("made");
        let mut change = Change::default();
        let how = Create::Guarded(NewAttributes::default());
        let node = here
            .create(&caller, CreateFile::new(&here.root(), name("new"), &how), &mut change)
            .expect("made")
            .handle;
        let sub = here.lookup(&caller, &here.root(), name("sub")).expect("there").node.handle;
        drop(server);
        // Only root may ask for that; without it the kernel may still know them, and nothing is shown.
        let _ = fs::write("/proc/sys/vm/drop_caches", "2");
        let server = start(&address);
        let here = client(&server);
        let four = Data::Bytes(b"data");
        here.write(&caller, WriteFile::new(&node, 0, four, Stability::FileSync), &mut change)
            .expect("written by its handle");
        here.read(&caller, ReadFile::new(&node, 0, 10), &mut Vec::new()).expect("read by its handle");
        if links {
            here.link(&caller, AddLink::new(&node, &sub, name("link")), &mut change)
                .expect("linked by its handle");
        }
        assert_eq!(fs::read(data.join("new")).expect("there"), b"data");
        let (from, to) = ((&here.root(), name("new")), (&sub, name("moved")));
        here.rename(&caller, from, to, (&mut change, &mut Change::default()))
            .expect("moved from one directory to another");
    }
}
