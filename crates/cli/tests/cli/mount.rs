//! `howdah mount`, `umount` and `mounts`, of a `howdah serve` on this host.

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use howdah_needs::{Lack, skipped};
use howdah_random::Random;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

use crate::server::{HOWDAH, Server, cache_home, home, run, serve};

/// A server, and a directory to mount its export on.
struct Scene {
    home: TempDir,
    server: Server,
    address: SocketAddr,
}

impl Scene {
    /// None, and it says why, where FUSE cannot be used.
    fn new() -> Option<Self> {
        let device = OpenOptions::new().read(true).write(true).open("/dev/fuse");
        if let Err(error) = device {
            skipped(Lack::Fuse, format_args!("/dev/fuse: {error}"));
            return None;
        }
        if !rustix::process::geteuid().is_root() {
            skipped(Lack::Root, "mounting takes root");
            return None;
        }
        let home = home();
        fs::create_dir(home.path().join("mnt")).expect("made");
        let server = start_server(home.path(), "127.0.0.1:0");
        let address = server.address();
        Some(Self { home, server, address })
    }

    fn at(&self) -> PathBuf {
        self.home.path().join("mnt")
    }

    fn howdah(&self, command: &str, arguments: &[&str]) -> (Option<i32>, String, String) {
        let mut howdah = Command::new(HOWDAH);
        howdah.arg(command).args(arguments).arg("--state").arg(self.home.path().join("mounts"));
        run(&mut howdah)
    }

    fn mount(&self, options: &[&str]) -> (Option<i32>, String, String) {
        let url = format!("nfs://{}/", self.address);
        let at = self.at();
        let place = [&url[..], at.to_str().expect("text")];
        self.howdah("mount", &[&place[..], options].concat())
    }

    fn umount(&self, options: &[&str]) -> (Option<i32>, String, String) {
        let at = self.at();
        self.howdah("umount", &[&[at.to_str().expect("text")], options].concat())
    }

    /// What the mounts say of themselves.
    fn mounts(&self) -> Vec<Value> {
        let (code, output, errors) = self.howdah("mounts", &["--json"]);
        assert_eq!(code, Some(0), "{errors}");
        let answer: Value = serde_json::from_str(&output).expect("JSON");
        answer["mounts"].as_array().expect("a list").clone()
    }

    /// Whether no mount is listed any more. Its process lives as long as a mount namespace that another test made beside this one.
    fn is_gone(&self) -> bool {
        let until = Instant::now() + Duration::from_secs(120);
        while Instant::now() < until {
            if self.mounts().is_empty() {
                return true;
            }
        }
        false
    }

    /// Kills the process of the mount, and waits until the kernel knows.
    fn kill(&self) {
        kill_process(self.process(), Signal::KILL).expect("it lives");
        while fs::read_dir(self.at()).is_ok() {
            thread::yield_now();
        }
    }

    fn process(&self) -> Pid {
        let process = self.mounts()[0]["process"].as_i64().expect("a number");
        Pid::from_raw(i32::try_from(process).expect("an id")).expect("not 0")
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        let mut umount = Command::new("umount");
        let _ = umount.arg("-l").arg(self.at()).stderr(std::process::Stdio::null()).status();
    }
}

fn start_server(home: &Path, address: &str) -> Server {
    let mut command = serve(home);
    command.args(["--listen", address, "--squash", "none"]).arg(home.join("data"));
    Server::start(&mut command)
}

#[test]
fn an_export_is_mounted_told_of_and_unmounted() {
    let Some(scene) = Scene::new() else { return };
    let (code, _, errors) = scene.mount(&["-o", "rw,_netdev,x-systemd.automount"]);
    assert_eq!(code, Some(0), "{errors}");
    assert_eq!(fs::read(scene.at().join("file")).expect("read"), b"hello");
    fs::write(scene.at().join("new"), "written").expect("written");
    assert_eq!(fs::read(scene.home.path().join("data/new")).expect("there"), b"written");
    let mount = &scene.mounts()[0];
    assert_eq!((&mount["read"], &mount["written"]), (&5.into(), &7.into()));
    let (_, text, _) = scene.howdah("mounts", &[]);
    assert!(text.contains("read 5 B") && text.contains("wrote 7 B"), "{text}");
    let (code, _, errors) = scene.mount(&[]);
    assert!(code == Some(1) && errors.contains("is mounted already"), "{errors}");
    let (code, _, errors) = scene.umount(&[]);
    assert_eq!(code, Some(0), "{errors}");
    assert!(!scene.at().join("file").exists() && scene.is_gone());
    let (code, _, errors) = scene.umount(&[]);
    assert!(code == Some(1) && errors.contains("nothing is mounted on"), "{errors}");
}

#[test]
fn a_mount_reads_from_disk_what_the_one_before_it_read_and_two_share_no_directory() {
    let Some(scene) = Scene::new() else { return };
    let data = Random::new(5).bytes(3 << 20);
    for (name, length) in [("large", data.len()), ("small", 6_600)] {
        fs::write(scene.home.path().join("data").join(name), &data[..length]).expect("written");
    }
    let roomy = cache_home();
    let cache = roomy.path().join("cache");
    let options = format!("cache_dir={},cache_size=1G", cache.display());
    let state = || scene.mounts()[0]["cache_state"].clone();
    for is_second in [false, true] {
        let (code, _, errors) = scene.mount(&["-o", &options]);
        assert_eq!(code, Some(0), "{errors}");
        while state() == "loading" {
            thread::yield_now();
        }
        assert_eq!(state(), "on");
        for (name, length) in [("large", data.len()), ("small", 6_600)] {
            assert!(fs::read(scene.at().join(name)).expect("read") == data[..length]);
        }
        let mount = &scene.mounts()[0];
        let count = |key: &str| mount[key].as_u64().expect("a number");
        match is_second {
            false => assert!(count("cache_misses") > 0, "{mount}"),
            true => assert!(count("cache_hits") > 0 && count("cache_misses") == 0, "{mount}"),
        }
        if is_second {
            assert!(
                count("cache_bytes") >= 3 << 20 && mount["cache_dir"] == cache.display().to_string(),
                "{mount}"
            );
            let second = scene.home.path().join("second");
            fs::create_dir(&second).expect("made");
            let (url, second) = (format!("nfs://{}/", scene.address), second.to_str().expect("text"));
            let (code, _, errors) = scene.howdah("mount", &[&url, second, "-o", &options]);
            assert!(code == Some(0) && errors.contains("another mount or relay uses it"), "{errors}");
            let (_, text, _) = scene.howdah("mounts", &[]);
            assert!(text.contains("not used: another mount or relay uses it"), "{text}");
            assert!(text.contains(" of 1.1 GB, 100 % of reads from it"), "{text}");
            scene.howdah("umount", &[second]);
        }
        assert_eq!(scene.umount(&[]).0, Some(0));
        assert!(scene.is_gone());
    }
}

#[test]
fn a_mount_is_made_read_only_and_writable_again() {
    let Some(scene) = Scene::new() else { return };
    let (code, _, errors) = scene.mount(&["-o", "remount,ro"]);
    assert!(code == Some(1) && errors.contains("nothing is mounted by howdah"), "{errors}");
    assert_eq!(scene.mount(&["-o", "nocto,fsc,lookupcache=positive,fsname=x,context=\"a,b\""]).0, Some(0));
    let write = || fs::write(scene.at().join("new"), "written");
    for (options, said, is_writable) in
        [("remount,ro", "read-only", false), ("remount,rw,noexec", "read-write", true)]
    {
        let (code, text, errors) = scene.mount(&["-o", options]);
        assert!(code == Some(0) && text.contains(said), "{options}: {text}{errors}");
        assert_eq!(write().map_err(|error| error.kind()).is_ok(), is_writable, "{options}");
    }
    assert_eq!(fs::read(scene.at().join("file")).expect("the same mount"), b"hello");
    assert_eq!(scene.umount(&[]).0, Some(0));
}

#[test]
fn mount_calls_us_for_the_type_fuse_howdah() {
    let Some(scene) = Scene::new() else { return };
    let url = format!("nfs://{}/", scene.address);
    let mut command = Command::new(HOWDAH);
    command.arg(&url).arg(scene.at()).args(["-o", "rw,nodev,nosuid"]);
    command.env("XDG_RUNTIME_DIR", scene.home.path()).arg("--state").arg(scene.home.path().join("mounts"));
    let (code, _, errors) = run(&mut command);
    assert_eq!(code, Some(0), "{errors}");
    assert_eq!(fs::read(scene.at().join("file")).expect("read"), b"hello");
    assert_eq!(scene.umount(&[]).0, Some(0));
}

#[test]
fn a_mount_says_what_was_negotiated_or_nothing() {
    let Some(scene) = Scene::new() else { return };
    let (code, text, errors) = scene.mount(&["--verbose", "-o", "ro,rsize=65536,acregmin=1"]);
    assert_eq!(code, Some(0), "{errors}");
    let address = scene.address;
    for part in [
        &format!("nfs://{address}/ is mounted on {}\n", scene.at().display()),
        &format!("  NFSv3 over TCP without TLS to {address}, "),
        " connection",
        "  rsize 64 KiB, wsize ",
        "  ro,acregmin=1,",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert_eq!(scene.umount(&["-q"]), (Some(0), String::new(), String::new()));
    assert_eq!(scene.mount(&["-q"]), (Some(0), String::new(), String::new()));
    let (code, text, errors) = scene.mount(&["-q"]);
    assert!(code == Some(1) && text.is_empty() && errors.contains("is mounted already"), "{text}{errors}");
}

#[test]
fn a_mount_of_a_tree_that_nobody_else_changes_says_so_and_when_that_is_wrong() {
    let Some(scene) = Scene::new() else { return };
    let (code, _, errors) = scene.mount(&["-o", "alone"]);
    assert_eq!(code, Some(0), "{errors}");
    assert!(errors.contains("never on two hosts at once"), "{errors}");
    let status = || scene.mounts().remove(0);
    let directory = scene.at().join("directory");
    fs::create_dir(&directory).expect("made");
    fs::write(directory.join("ours"), "ours").expect("written");
    assert!(fs::metadata(directory.join("theirs")).is_err());
    assert_eq!((&status()["alone"], &status()["alone_broken"]), (&Value::Bool(true), &Value::Null));
    fs::write(scene.home.path().join("data/directory/theirs"), "theirs").expect("written");
    assert!(fs::metadata(directory.join("theirs")).is_err(), "it is believed");
    fs::write(directory.join("ours too"), "ours").expect("written");
    while status()["alone_broken"] != "directory" {
        thread::yield_now();
    }
    while fs::metadata(directory.join("theirs")).is_err() {
        thread::yield_now();
    }
    let (_, output, _) = scene.howdah("mounts", &[]);
    assert!(output.contains("-o alone was wrong: another client changed directory; "), "{output}");
    assert_eq!(scene.umount(&[]).0, Some(0));
    let (code, _, errors) = scene.mount(&["-o", "alone,actimeo=60"]);
    assert!(code == Some(2) && errors.contains("-o alone and -o actimeo=60 contradict"), "{errors}");
}

#[test]
fn a_mount_whose_server_is_gone_is_unmounted_without_it() {
    let Some(mut scene) = Scene::new() else { return };
    assert_eq!(scene.mount(&[]).0, Some(0));
    fs::write(scene.at().join("new"), "written").expect("written");
    scene.server.signal(Signal::KILL);
    scene.server.end();
    let (code, _, errors) = scene.umount(&[]);
    assert_eq!(code, Some(0), "{errors}");
    assert!(scene.is_gone());
}

#[test]
fn who_has_the_mount_in_another_namespace_keeps_no_umount_waiting() {
    let Some(scene) = Scene::new() else { return };
    assert_eq!(scene.mount(&[]).0, Some(0));
    let mut other = Command::new("unshare");
    other.args(["--mount", "--propagation", "private", "sh", "-c", "echo inside; cat"]);
    let mut other = other.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("util-linux is there");
    let mut inside = String::new();
    BufReader::new(other.stdout.take().expect("piped")).read_line(&mut inside).expect("it began");
    let (code, _, errors) = scene.umount(&[]);
    assert!(code == Some(0) && errors.contains("Another mount namespace"), "{code:?} {errors}");
    assert!(!scene.at().join("file").exists());
    assert_eq!(scene.mounts().len(), 1, "it serves the other namespace");
    drop(other.stdin.take());
    other.wait().expect("it ends");
    assert!(scene.is_gone());
}

#[test]
fn what_cannot_be_mounted_is_said() {
    let Some(scene) = Scene::new() else { return };
    let (code, _, errors) = scene.mount(&["-o", "alow_other"]);
    assert!(code == Some(2) && errors.contains("did you mean allow_other?"), "{errors}");
    fs::write(scene.at().join("hidden"), "x").expect("written");
    let (code, _, errors) = scene.mount(&[]);
    assert!(code == Some(1) && errors.contains("is not empty"), "{errors}");
    fs::remove_file(scene.at().join("hidden")).expect("removed");
    fs::remove_dir(scene.at()).expect("removed");
    let (code, _, errors) = scene.mount(&[]);
    assert!(code == Some(1) && errors.contains("mkdir -p"), "{errors}");
    fs::write(scene.at(), "x").expect("written");
    let (code, _, errors) = scene.mount(&[]);
    assert!(code == Some(1) && errors.contains("is not a directory"), "{errors}");
}

#[test]
fn a_server_that_is_not_there_is_said_and_nothing_is_mounted() {
    let Some(mut scene) = Scene::new() else { return };
    scene.server.signal(Signal::KILL);
    scene.server.end();
    let (code, _, errors) = scene.mount(&[]);
    assert!(code == Some(1) && errors.contains("127.0.0.1"), "{errors}");
    assert!(scene.mounts().is_empty());
}

#[test]
fn a_mount_in_use_stays_unless_it_is_lazy() {
    let Some(scene) = Scene::new() else { return };
    assert_eq!(scene.mount(&[]).0, Some(0));
    let open = File::open(scene.at().join("file")).expect("opened");
    let (code, _, errors) = scene.umount(&[]);
    assert!(code == Some(1) && errors.contains("is in use by") && errors.contains("--lazy"), "{errors}");
    assert_eq!(scene.umount(&["--lazy"]).0, Some(0));
    assert!(!scene.at().join("file").exists());
    assert_eq!(std::io::read_to_string(open).expect("read"), "hello");
}

#[test]
fn a_lazy_unmount_waits_for_no_server() {
    let Some(scene) = Scene::new() else { return };
    assert_eq!(scene.mount(&[]).0, Some(0));
    // Another process has the file open: one that starts others would wait for the server, as each of them closes its copy.
    let mut writer = Command::new("sh")
        .args(["-c", "exec > late; printf later; read end"])
        .current_dir(scene.at())
        .stdin(Stdio::piped())
        .spawn()
        .expect("started");
    while !fs::metadata(scene.at().join("late")).is_ok_and(|file| file.len() == 5) {
        thread::yield_now();
    }
    scene.server.freeze();
    let (code, _, errors) = scene.umount(&["--lazy"]);
    scene.server.signal(Signal::CONT);
    assert!(code == Some(0) && errors.contains("writes the rest when the server answers"), "{errors}");
    assert!(!scene.at().join("late").exists());
    drop(writer.stdin.take());
    writer.wait().expect("it ends");
    let late = scene.home.path().join("data/late");
    let until = Instant::now() + Duration::from_secs(120);
    while fs::read(&late).expect("it was made") != b"later" {
        assert!(Instant::now() < until, "it is not written");
        thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_mount_that_is_told_to_end_unmounts() {
    let Some(scene) = Scene::new() else { return };
    assert_eq!(scene.mount(&[]).0, Some(0));
    kill_process(scene.process(), Signal::TERM).expect("it lives");
    while scene.at().join("file").exists() {
        thread::yield_now();
    }
}

#[test]
fn what_others_mounted_is_taken_away_by_their_program() {
    let Some(scene) = Scene::new() else { return };
    let at = scene.at();
    run(Command::new("mount").args(["-t", "tmpfs", "none"]).arg(&at));
    let (code, _, errors) = scene.mount(&[]);
    run(Command::new("umount").arg(&at));
    let advice = format!("{0} is mounted already (none): umount {0} takes it away", at.display());
    assert!(code == Some(1) && errors.contains(&advice), "{errors}");
}

#[test]
fn a_mount_whose_process_was_killed_is_replaced() {
    let Some(scene) = Scene::new() else { return };
    assert_eq!(scene.mount(&[]).0, Some(0));
    scene.kill();
    let (code, _, errors) = run(Command::new(HOWDAH).arg("mounts"));
    let named = format!("{} (nfs://{}/) was killed", scene.at().display(), scene.address);
    assert!(code == Some(1) && errors.contains(&named), "{errors}");
    for target in [scene.at(), scene.at().join("file")] {
        let (code, _, errors) = scene.howdah("sync", &[target.to_str().expect("text")]);
        let advice = format!("was killed: howdah umount {0}, then howdah sync nfs://", scene.at().display());
        assert!(code == Some(1) && errors.contains(&advice), "{errors}");
    }
    let (code, _, errors) = scene.mount(&[]);
    assert_eq!(code, Some(0), "{errors}");
    assert_eq!(fs::read(scene.at().join("file")).expect("read"), b"hello");
    assert_eq!(scene.mounts().len(), 1);
    assert_eq!(scene.umount(&[]).0, Some(0));
    let left = fs::read_dir(scene.home.path().join("mounts")).expect("listed").flatten();
    let left: Vec<_> = left.map(|entry| entry.file_name()).collect();
    assert_eq!(left, ["running"]);
}

#[test]
fn a_killed_mount_is_replaced_also_by_a_link_to_it_and_while_files_are_open() {
    let Some(scene) = Scene::new() else { return };
    let link = scene.home.path().join("link");
    std::os::unix::fs::symlink(scene.at(), &link).expect("made");
    let url = format!("nfs://{}/", scene.address);
    assert_eq!(scene.mount(&[]).0, Some(0));
    let open = File::open(scene.at().join("file")).expect("opened");
    scene.kill();
    for place in [format!("{}/below", scene.at().display()), format!("{}/below/it", scene.at().display())] {
        let (code, _, errors) = scene.howdah("mount", &[&url, &place]);
        assert!(code == Some(1) && errors.contains("mnt is a mount whose process is gone"), "{errors}");
    }
    for place in [link.display().to_string(), format!("{}/", link.display())] {
        let (code, _, errors) = scene.howdah("mount", &[&url, &place]);
        assert_eq!(code, Some(0), "{place}: {errors}");
        assert_eq!(fs::read(scene.at().join("file")).expect("read"), b"hello");
        scene.kill();
    }
    drop(open);
    let (code, _, errors) = scene.howdah("umount", &[link.to_str().expect("text")]);
    assert!(code == Some(1) && errors.contains("was killed"), "{errors}");
    assert!(fs::read_dir(scene.at()).expect("free").next().is_none());
}

#[test]
fn of_many_starts_one_replaces_a_killed_mount() {
    let Some(scene) = Scene::new() else { return };
    assert_eq!(scene.mount(&[]).0, Some(0));
    scene.kill();
    let starts = thread::scope(|scope| {
        let starts: Vec<_> = (0..4).map(|_| scope.spawn(|| scene.mount(&[]))).collect();
        starts.into_iter().map(|start| start.join().expect("no panic")).collect::<Vec<_>>()
    });
    let refused = |(code, _, errors): &&(Option<i32>, String, String)| {
        *code == Some(1) && errors.contains("is mounted already")
    };
    assert_eq!(starts.iter().filter(refused).count(), 3, "{starts:?}");
    assert_eq!((scene.mounts().len(), scene.umount(&[]).0), (1, Some(0)));
    assert!(fs::read_dir(scene.at()).expect("free").next().is_none());
}

#[test]
fn a_mount_whose_server_is_away_is_not_taken_for_a_killed_one() {
    let Some(mut scene) = Scene::new() else { return };
    assert_eq!(scene.mount(&["-o", "noac"]).0, Some(0));
    scene.server.signal(Signal::KILL);
    scene.server.end();
    let (code, _, errors) = scene.mount(&[]);
    assert!(code == Some(1) && errors.contains("is mounted already"), "{errors}");
    assert_eq!(scene.mounts().len(), 1);
}

#[test]
fn a_server_that_is_killed_and_comes_back_is_waited_for() {
    const SIZE: usize = 48 << 20;
    const SEED: u64 = 0x5eed;
    let Some(mut scene) = Scene::new() else { return };
    assert_eq!(scene.mount(&[]).0, Some(0));
    let mut random = Random::new(SEED);
    let mut content = vec![0; SIZE];
    content.chunks_mut(8).for_each(|part| part.copy_from_slice(&random.number().to_le_bytes()));
    let (source, target) = (scene.home.path().join("source"), scene.at().join("large"));
    fs::write(&source, &content).expect("written");
    // Another process writes: one that starts a server would wait for it in its own copy of the open file.
    let mut copy = Command::new("dd");
    copy.args(["bs=1M", "conv=fsync", "status=none"]);
    copy.arg(format!("if={}", source.display())).arg(format!("of={}", target.display()));
    let mut copy = copy.spawn().expect("started");
    let there = scene.home.path().join("data/large");
    while fs::metadata(&there).map_or(0, |file| file.len()) == 0 {
        thread::yield_now();
    }
    scene.server.signal(Signal::KILL);
    scene.server.end();
    scene.server = start_server(scene.home.path(), &scene.address.to_string());
    assert!(copy.wait().expect("it ends").success());
    assert!(fs::read(&there).expect("read") == content, "seed {SEED:#x}");
    assert!(fs::read(&target).expect("read") == content, "seed {SEED:#x}");
    assert_eq!(scene.umount(&[]).0, Some(0));
}
