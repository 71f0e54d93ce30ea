//! `howdah lab shell`: what it gives, and that nothing of it is left, however it ends.

mod laboratory;
mod terminal;

use std::process::Child;

use howdah_needs::{Lack, skipped};
use laboratory::{Laboratory, end_of, ended};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use terminal::Terminal;

/// A laboratory that works here.
fn laboratory(test: &str) -> Option<Laboratory> {
    let laboratory = Laboratory::new(test);
    match laboratory.why_not() {
        None => Some(laboratory),
        Some(reason) => {
            skipped(Lack::Namespaces, reason);
            None
        }
    }
}

fn send(child: &Child, signal: Signal) {
    kill(Pid::from_raw(child.id() as i32), signal).expect("a signal");
}

/// Says that it is ready, and stays. The process that started the tests may ignore signals, which is inherited: that is over
/// before it says so.
const STAY: [&str; 6] = ["--", "env", "--default-signal", "sh", "-c", "echo ready; exec sleep 1000"];

#[test]
fn a_command_finds_the_other_host_and_nothing_is_left() {
    let Some(laboratory) = laboratory("success") else { return };
    let script = "ip netns exec server ip -br address show path0; grep -c ' server$' /etc/hosts; readlink /proc/self/ns/net";
    let output = laboratory.output(&["--rtt", "1ms", "--", "sh", "-c", script]);
    let (said, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{errors}");
    assert!(said.contains("10.77.0.1/24"), "{said}");
    let ours = std::fs::read_link("/proc/self/ns/net").expect("our namespace");
    assert!(!said.contains(&*ours.to_string_lossy()), "the command is on a host: {said}");
    assert!(errors.contains("path client -> server: delay = \"500us\""), "{errors}");
    assert!(errors.contains("--join") && errors.contains("delivered"), "{errors}");
    laboratory.assert_nothing_left();
}

#[test]
fn every_shell_sees_the_interfaces_of_its_host_and_mounts_of_all() {
    let Some(laboratory) = laboratory("sysfs") else { return };
    let script = "mkdir /run/shared; mount -t tmpfs x /run/shared; ls /sys/class/net >/run/shared/first; echo ready; \
                  exec sleep 1000";
    let arguments = ["-q", "--", "env", "--default-signal", "sh", "-ec", script];
    let (mut child, _) = laboratory.start(&arguments, "ready");
    let [run] = &laboratory.runs()[..] else { panic!("one run: {:?}", laboratory.runs()) };
    let id = run.file_name().expect("a name").to_string_lossy().into_owned();
    for host in ["client", "server"] {
        let script = ["sh", "-c", "cat /run/shared/first; ls /sys/class/net"];
        let output = laboratory.output(&[&["--join", &id, "--host", host, "--"][..], &script].concat());
        let said = String::from_utf8_lossy(&output.stdout);
        assert_eq!(said, "lo\npath0\nlo\npath0\n", "{host}: {output:?}");
    }
    send(&child, Signal::SIGTERM);
    ended(&mut child);
    laboratory.assert_nothing_left();
}

#[test]
fn a_punctual_path_is_carried_before_others_do_their_work() {
    let Some(laboratory) = laboratory("punctual") else { return };
    if !nix::unistd::geteuid().is_root() {
        skipped(Lack::Root, "it takes root");
        return;
    }
    // Thread names stand in brackets, scheduling policies in field 41; 1 is SCHED_FIFO (proc_pid_stat(5)). A thread that has
    // just begun may not have it yet.
    let policies = "awk '/\\(path0-[01]\\)/ { print $41 }' /proc/$PPID/task/*/stat | tr -d '\\n'";
    let script = format!("until [ \"$({policies})\" = 11 ]; do sleep 0.01; done; echo both");
    let output = laboratory.output(&["--quiet", "--punctual", "--rtt", "1ms", "--", "sh", "-c", &script]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "both\n", "{output:?}");
    let slow = laboratory.output(&["--quiet", "--rtt", "1ms", "--rate", "1Gbit", "--", "sh", "-c", &script]);
    assert_eq!(String::from_utf8_lossy(&slow.stdout), "both\n", "{slow:?}");
    // Both threads have their names before it looks at what they are.
    let script = format!("until [ \"$({policies} | wc -c)\" = 2 ]; do sleep 0.01; done; {policies}");
    let command =
        ["--quiet", "--punctual=false", "--rtt", "1ms", "--rate", "1Gbit", "--", "sh", "-c", &script];
    let output = laboratory.output(&command);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "00", "{output:?}");
    let plain = laboratory.output(&["--quiet", "--rtt", "1ms", "--", "sh", "-c", &script]);
    assert_eq!(String::from_utf8_lossy(&plain.stdout), "00", "{plain:?}");
}

#[test]
fn an_exit_code_is_passed_on_and_nothing_is_left() {
    let Some(laboratory) = laboratory("failure") else { return };
    assert_eq!(laboratory.output(&["-q", "--", "sh", "-c", "exit 7"]).status.code(), Some(7));
    assert_eq!(laboratory.output(&["-q", "--", "sh", "-c", "kill -9 $$"]).status.code(), Some(128 + 9));
    let output = laboratory.output(&["-q", "--", "no-such-program"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("starting no-such-program"), "{output:?}");
    laboratory.assert_nothing_left();
}

#[test]
fn a_step_that_fails_is_said_and_nothing_is_left() {
    let Some(laboratory) = laboratory("step") else { return };
    let output = end_of(laboratory.shell(&["--", "true"]).env("PATH", "/nowhere"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("starting ip, of the package iproute2"), "{said}");
    // Without IPv6 there is no such bound.
    let has_ipv6 = std::path::Path::new("/proc/sys/net/ipv6/conf").is_dir();
    for mtu in ["1279", "65536"].into_iter().filter(|_| has_ipv6) {
        let output = end_of(&mut laboratory.shell(&["--mtu", mtu, "--", "true"]));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains(&format!("mtu = {mtu}: IPv6 takes 1280 to 65535 bytes")), "{said}");
    }
    laboratory.assert_nothing_left();
}

#[test]
fn what_is_typed_wrongly_is_said_before_anything_is_made() {
    let laboratory = Laboratory::new("usage");
    for (arguments, said) in [
        (&["--path", "mars"][..], "no profile \"mars\""),
        (&["--rate", "fast"], "fast"),
        (&["--host", "middle"], "client, server"),
    ] {
        let output = laboratory.output(arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{errors}");
        assert!(errors.contains(said) && errors.lines().count() == 1, "{errors}");
    }
    let output = laboratory.output(&["--join", "1"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("no sandbox 1"), "{output:?}");
    laboratory.assert_nothing_left();
}

#[test]
fn terminated_it_ends_in_order_and_nothing_is_left() {
    let Some(laboratory) = laboratory("terminated") else { return };
    for (signal, code) in [(Signal::SIGTERM, 128 + 15), (Signal::SIGINT, 128 + 2), (Signal::SIGHUP, 128 + 1)]
    {
        let (mut child, _) = laboratory.start(&[&["-q"], &STAY[..]].concat(), "ready");
        assert_eq!(laboratory.runs().len(), 1);
        send(&child, signal);
        assert_eq!(ended(&mut child).code(), Some(code), "{signal}");
        laboratory.assert_nothing_left();
    }
}

#[test]
fn a_killed_one_takes_all_with_it_and_the_next_one_sweeps() {
    let Some(laboratory) = laboratory("killed") else { return };
    let (mut child, _) = laboratory.start(&[&["-q"], &STAY[..]].concat(), "ready");
    let [run] = &laboratory.runs()[..] else { panic!("one run: {:?}", laboratory.runs()) };
    std::fs::write(run.join("something"), "of the run").expect("writing");
    send(&child, Signal::SIGKILL);
    ended(&mut child);
    laboratory.wait_for_its_end();
    assert!(run.exists(), "nobody was left to remove it");
    // One that runs meanwhile is left alone.
    let (mut other, _) = laboratory.start(&[&["-q"], &STAY[..]].concat(), "ready");
    assert!(!run.exists(), "swept by the next one");
    assert_eq!(laboratory.runs().len(), 1);
    assert!(laboratory.output(&["-q", "--", "true"]).status.success());
    assert_eq!(laboratory.runs().len(), 1);
    send(&other, Signal::SIGTERM);
    ended(&mut other);
    laboratory.assert_nothing_left();
}

#[test]
fn a_killed_worker_or_init_takes_all_with_it() {
    let Some(laboratory) = laboratory("inner") else { return };
    // The outermost process is the first of three with the same words, init the second, the worker the third.
    for place in [1, 2] {
        let (mut child, _) = laboratory.start(&[&["-q"], &STAY[..]].concat(), "ready");
        let mut numbers: Vec<i32> = laboratory
            .processes()
            .iter()
            .filter(|process| process.contains(" lab "))
            .filter_map(|process| process.split(' ').next()?.parse().ok())
            .collect();
        numbers.sort_unstable();
        assert_eq!(numbers.len(), 3, "{:?}", laboratory.processes());
        kill(Pid::from_raw(numbers[place]), Signal::SIGKILL).expect("a signal");
        assert_eq!(ended(&mut child).code(), Some(128 + 9));
        laboratory.wait_for_its_end();
        laboratory.assert_nothing_left();
    }
}

#[test]
fn a_shell_on_a_terminal_has_job_control() {
    let Some(laboratory) = laboratory("terminal") else { return };
    let mut terminal = Terminal::start(&laboratory, &["--host", "server"]);
    terminal.enter("sleep 1000 &\njobs\nkill %1\nwait\nip -br a show path0\nexit 5\n");
    let (code, said) = terminal.end();
    assert_eq!(code, Some(5), "{said}");
    assert!(said.contains("10.77.0.1/24"), "{said}");
    assert!(!said.contains("no job control"), "{said}");
    // That the job has ended bash says at a prompt, or not at all if `wait` has seen it first.
    assert!(said.contains("Running"), "{said}");
    assert!(said.contains("delivered"), "what the path did is said at the end: {said}");
    laboratory.assert_nothing_left();
}

#[test]
fn control_c_ends_the_command_in_order_and_nothing_is_left() {
    let Some(laboratory) = laboratory("control-c") else { return };
    let mut terminal = Terminal::start(
        &laboratory,
        &["--", "env", "--default-signal", "sh", "-c", "'echo re''ady; exec sleep 1000'"],
    );
    terminal.wait_for("ready");
    terminal.enter("\x03");
    let (code, said) = terminal.end();
    assert_eq!(code, Some(128 + 2), "{said}");
    assert!(said.contains("delivered"), "what the path did is said at the end: {said}");
    laboratory.assert_nothing_left();
}

#[test]
fn a_signal_that_comes_as_soon_as_the_command_runs_is_passed_on() {
    let Some(laboratory) = laboratory("signal-at-once") else { return };
    // Several times: what it is about is a moment.
    for _ in 0..5 {
        let script = "kill -INT $PPID; exec sleep 1000";
        let output = laboratory.output(&["--", "env", "--default-signal", "sh", "-c", script]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(128 + 2), "{said}");
        assert!(said.contains("delivered"), "what the path did is said at the end: {said}");
    }
    laboratory.assert_nothing_left();
}

#[test]
fn another_terminal_joins() {
    let Some(laboratory) = laboratory("join") else { return };
    let (mut child, _) = laboratory.start(&[&["-q"], &STAY[..]].concat(), "ready");
    let id = child.id().to_string();
    let script = "ip -br address show path0; ps -e | grep -c sleep; exit 3";
    let output = laboratory.output(&["--join", &id, "--host", "server", "--", "sh", "-c", script]);
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    assert!(said.contains("10.77.0.1/24"), "{said}");
    let output = laboratory.output(&["--join", &id, "--host", "nobody"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("no host nobody"), "{output:?}");
    send(&child, Signal::SIGTERM);
    ended(&mut child);
    let output = laboratory.output(&["--join", &id]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("no sandbox"), "{output:?}");
    laboratory.assert_nothing_left();
}

/// As an ordinary user, made one by the superuser.
fn of_nobody(test: &str, tun: &str) -> Option<Laboratory> {
    if !rustix::process::geteuid().is_root() {
        skipped(
            Lack::Root,
            "it takes the superuser to become somebody else; the other tests here ran as an ordinary user",
        );
        return None;
    }
    Some(Laboratory::of_nobody(test, tun))
}

#[test]
fn an_ordinary_user_has_networks_too() {
    let Some(laboratory) = of_nobody("nobody", "666") else { return };
    if let Some(reason) = laboratory.why_not() {
        assert!(reason.contains("namespaces"), "the only thing that may be missing: {reason}");
        return skipped(Lack::Namespaces, reason);
    }
    let script = "id -u; ip netns exec server ip -br address show path0; cat /proc/self/uid_map; \
                  echo 4096 > /proc/sys/net/ipv4/tcp_notsent_lowat && echo written";
    let output = laboratory.output(&["--path", "lan-1g", "--", "sh", "-c", script]);
    let (said, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{errors}");
    assert!(
        said.starts_with("0\n") && said.contains("65534"),
        "the superuser inside, nobody outside: {said}"
    );
    assert!(said.contains("10.77.0.1/24") && said.contains("written"), "{said}");
    laboratory.assert_nothing_left();

    let (mut child, _) = laboratory.start(&[&["-q"], &STAY[..]].concat(), "ready");
    send(&child, Signal::SIGKILL);
    ended(&mut child);
    laboratory.wait_for_its_end();
    assert!(laboratory.output(&["-q", "--", "true"]).status.success());
    laboratory.assert_nothing_left();
}

#[test]
fn where_interfaces_cannot_be_made_it_says_what_to_do() {
    let Some(laboratory) = of_nobody("refused", "600") else { return };
    let output = laboratory.output(&["--", "true"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert!(said.lines().count() == 1 && said.contains("/dev/net/tun") && said.contains("root"), "{said}");
    laboratory.assert_nothing_left();
}
