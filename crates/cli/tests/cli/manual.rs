//! The commands of README and manual run as printed, but for places, ports and names of hosts. A block that cannot is marked in the
//! page: `<!-- not run: WHY -->` in the line before it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::Signal;

use crate::server::{HOWDAH, Server, run};

const MARK: &str = "<!-- not run: ";

/// A block of commands, one a line.
struct Block {
    lines: Vec<String>,
    is_run: bool,
}

fn blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let parts: Vec<&str> = page.split("```sh\n").collect();
    for pair in parts.windows(2) {
        let before = pair[0].trim_end().lines().next_back().unwrap_or_default().trim_start();
        let text = pair[1].split("```").next().unwrap_or_default().replace("\\\n", " ");
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let lines = lines.map(str::to_owned).collect();
        blocks.push(Block { lines, is_run: !before.starts_with(MARK) });
    }
    blocks
}

/// Where a page's commands run: a server of some directories, and a place that stands for the root directory.
struct Sandbox {
    home: tempfile::TempDir,
    server: Server,
    servers: usize,
}

impl Sandbox {
    fn new() -> Self {
        let home = tempfile::tempdir().expect("a directory");
        let at = |path: &str| home.path().join(path);
        for directory in [
            "srv/data/project",
            "srv/backup",
            "srv/snapshots",
            "tmp/data",
            "etc/exports.d",
            "bin",
            "work/DIR",
        ] {
            fs::create_dir_all(at(directory)).expect("made");
        }
        fs::write(at("srv/data/log"), "a line\n").expect("written");
        fs::write(at("srv/data/project/file"), "content\n").expect("written");
        fs::write(at("tmp/data/hello.txt"), "hello\n").expect("written");
        fs::write(at("work/disk.img"), vec![7; 1 << 20]).expect("written");
        let root = home.path().display();
        let exports = format!("{root}/srv/data 10.0.0.0/8(rw,sync) @trusted(ro)\n");
        fs::write(at("etc/exports"), &exports).expect("written");
        fs::write(at("etc/exports.d/more.exports"), exports.replace("data", "backup")).expect("written");
        let export = |name: &str, path: &str| {
            format!("[[export]]\nname = '{name}'\npath = '{root}/{path}'\nsquash = 'none'\n")
        };
        let text =
            [export("/", "tmp/data"), export("/data", "srv/data"), export("/backup", "srv/backup")].concat();
        let settings = format!("listen = '127.0.0.1:0'\nrpcbind = 'off'\nstate = '{root}/state'\n");
        fs::write(at("etc/howdah.toml"), settings + &text).expect("written");
        wrap(home.path());
        let server =
            Server::start(Command::new(HOWDAH).args(["serve", "--config"]).arg(at("etc/howdah.toml")));
        Self { home, server, servers: 0 }
    }

    /// The line with places of this sandbox in it.
    fn placed(&self, line: &str) -> String {
        let address = self.server.address();
        let mut line = line.to_owned();
        for (host, export) in [
            ("nfs://localhost/", "/"),
            ("nfs://server/export", "/data"),
            ("nfs://far/export", "/data"),
            ("nfs://HOST/EXPORT", "/backup"),
            ("nfs://server/", "/"),
            ("nfs://HOST/", "/"),
        ] {
            line = line.replace(host, &format!("nfs://{address}{export}"));
        }
        let root = self.home.path().display();
        for place in ["/tmp/", "/srv/", "/etc/howdah", "/etc/exports", "/state"] {
            line = line.replace(&format!(" {place}"), &format!(" {root}{place}"));
        }
        line.replace(":9049", ":0").replace("--admin-listen 9048", "--admin-listen 127.0.0.1:0")
    }

    fn shell(&self, line: &str) -> Command {
        let path = std::env::var("PATH").expect("a path");
        let mut command = Command::new("sh");
        command
            .args(["-c", line])
            .current_dir(self.home.path().join("work"))
            .env("PATH", format!("{}:{path}", self.home.path().join("bin").display()))
            .env("XDG_RUNTIME_DIR", self.home.path());
        command
    }

    fn run(&mut self, line: &str) {
        let placed = self.placed(line);
        for serving in ["howdah serve ", "howdah relay "] {
            if placed.contains(serving) {
                self.servers += 1;
                let state = format!("--state {}/state-{} ", self.home.path().display(), self.servers);
                let state = if placed.contains("--state ") { "" } else { state.as_str() };
                let more = format!("{serving}--listen 127.0.0.1:0 --rpcbind off {state}");
                let mut server =
                    Server::start(&mut self.shell(&format!("exec {}", placed.replace(serving, &more))));
                server.signal(Signal::TERM);
                assert!(server.end().success(), "{line}");
                return;
            }
        }
        let (code, output, errors) = run(&mut self.shell(&placed));
        assert_eq!(code, Some(0), "{line}\nas {placed}\n{output}{errors}");
    }
}

/// A `howdah` that asks the sandbox's server where the page asks the one of the host.
fn wrap(home: &Path) {
    let state = home.join("state");
    let script = format!(
        "#!/bin/sh\ncase \" $* \" in *' --state '*|*' --from '*|*' --config '*|*nfs://*) exec {HOWDAH} \"$@\";; esac\n\
         case \"$1\" in why|top|get|set|clients|exports|stat|refused|sync) exec {HOWDAH} \"$@\" --state {};; esac\nexec {HOWDAH} \"$@\"\n",
        state.display()
    );
    let path = home.join("bin/howdah");
    fs::write(&path, script).expect("written");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("set");
}

fn pages() -> Vec<PathBuf> {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let manual = fs::read_dir(repository.join("docs/manual")).expect("pages");
    let mut pages: Vec<PathBuf> = manual.map(|entry| entry.expect("a page").path()).collect();
    pages.sort();
    pages.push(repository.join("README.md"));
    pages
}

#[test]
fn commands_of_the_manual_run_as_printed() {
    let (mut ran, mut left) = (0, 0);
    for path in pages() {
        let blocks = blocks(&fs::read_to_string(&path).expect("a page"));
        left += blocks.iter().filter(|block| !block.is_run).count();
        if !blocks.iter().any(|block| block.is_run) {
            continue;
        }
        let mut sandbox = Sandbox::new();
        for line in blocks.iter().filter(|block| block.is_run).flat_map(|block| &block.lines) {
            sandbox.run(line);
            ran += 1;
        }
    }
    assert!(ran >= 40, "only {ran} commands ran, {left} blocks are marked: are blocks still marked sh?");
}
