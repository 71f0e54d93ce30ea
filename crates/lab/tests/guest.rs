//! A guest boots, does what it is sent, and leaves nothing, however it goes. Where User Mode Linux is not installed these say
//! so and pass.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use howdah_lab::guest::{
    GUEST_KERNEL, GuestSession, GuestShare, Kernel, MAIN, find_command, missing, search_path,
};
use howdah_needs::{Lack, skipped};
use tempfile::TempDir;

/// What takes no time in a guest still waits for a busy machine.
fn soon() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

/// Boots a guest without a network; none where there is no User Mode Linux.
fn boot(directory: &TempDir) -> Option<GuestSession> {
    if let Some(why) = missing(&[GUEST_KERNEL]) {
        skipped(Lack::Program, why);
        return None;
    }
    let share = GuestShare::lay_out(directory.path()).expect("a share");
    share
        .write_environment([(MAIN.0, MAIN.1.to_owned()), ("MODULES", " ".to_owned())])
        .expect("an environment");
    let kernel = Kernel {
        work: directory.path().to_owned(),
        memory: 256,
        interface: None,
        disk: None,
        memory_directory: "/dev/shm".into(),
        serial_line: true,
    };
    let program = find_command(GUEST_KERNEL).expect("it was found before");
    let mut command = Command::new(program);
    command.env("PATH", search_path());
    Some(GuestSession::boot(share, &kernel, command).expect("a guest"))
}

/// Processes that know this directory by their command line: the guest's kernel and its helpers.
fn processes_of(directory: &TempDir) -> Vec<String> {
    let path = directory.path().to_str().expect("a path").to_owned();
    let processes = fs::read_dir("/proc").expect("/proc").flatten();
    let lines = processes.filter_map(|entry| fs::read_to_string(entry.path().join("cmdline")).ok());
    lines.filter(|line| line.contains(&path)).collect()
}

#[test]
fn a_guest_runs_scripts_and_halts() {
    let directory = tempfile::tempdir().expect("a directory");
    let Some(mut guest) = boot(&directory) else { return };
    let ran = guest.run("echo \"from $(uname -s)\"; exit 3", soon()).expect("a script");
    assert_eq!((ran.ended.code, ran.output.trim()), (3, "from Linux"));
    let said = guest.must("cat /proc/1/comm; test $$ -ne 1", soon()).expect("another script");
    assert_eq!(said.trim(), "init.sh");
    let error = guest.must("echo why >&2; false", soon()).expect_err("a failure");
    assert!(error.to_string().ends_with("ended with 1: why"), "{error}");
    let ran = guest.run("sleep 2", soon()).expect("a script that takes time");
    // The host's time is about a longer stretch: it was there before the script began, and after it ended.
    assert!(ran.ended.guest_time() > Duration::from_millis(1500), "{ran:?}");
    assert!(ran.host_time > Duration::from_millis(1500), "{ran:?}");
    // Either may be reported late on a busy machine.
    assert!((0.2..5.0).contains(&ran.clock), "{ran:?}");
    guest.halt().expect("a guest that halts");
    assert_eq!(processes_of(&directory), Vec::<String>::new());
}

#[test]
fn a_guest_that_is_dropped_is_gone() {
    let directory = tempfile::tempdir().expect("a directory");
    let Some(mut guest) = boot(&directory) else { return };
    guest.start("sleep 1000").expect("a script");
    assert!(!processes_of(&directory).is_empty());
    drop(guest);
    // What was killed with the kernel goes in its own time, but it goes.
    let give_up = Instant::now() + Duration::from_secs(30);
    while !processes_of(&directory).is_empty() {
        assert!(Instant::now() < give_up, "left: {:?}", processes_of(&directory));
        std::thread::yield_now();
    }
}

#[test]
fn a_script_that_takes_too_long_is_said() {
    let directory = tempfile::tempdir().expect("a directory");
    let Some(mut guest) = boot(&directory) else { return };
    let error = guest.run("sleep 1000", Instant::now() + Duration::from_millis(100)).expect_err("a limit");
    assert!(error.to_string().contains("had not reported an end"), "{error}");
}
