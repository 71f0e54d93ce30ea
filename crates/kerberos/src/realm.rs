//! For tests: a realm that lives as long as one of them, its database in a directory of its own, its KDC on a port that was free;
//! and helpers that are the test's own program.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;

use howdah_gss::Enctype;
use howdah_needs::{Lack, skipped};
use tempfile::TempDir;

use crate::error::PACKAGE;
use crate::library::Library;
use crate::process::{ROLE, run_helper};
use crate::settings::HelperSettings;

/// The service of a realm's server, as a client names it.
pub const SERVICE: &str = "nfs@server.test";
/// Times that a port is looked for: another program may take one that was free.
const ATTEMPTS: usize = 10;

/// A realm, `HOWDAH.TEST`, with `alice`, `nfs/server.test`, `host/server.test`, one such service for each enctype that has a key of that alone
/// (`nfs/server17.test`), and `nfs/other.test`, which is in no keytab.
#[derive(Debug)]
pub struct Realm {
    directory: TempDir,
    kdc: Child,
}

impl Realm {
    /// Starts one. Where the programs or the library are missing, the test is skipped.
    ///
    /// # Panics
    /// One of the programs fails.
    pub fn start() -> Option<Self> {
        let missing =
            ["kdb5_util", "kadmin.local", "krb5kdc"].into_iter().find(|name| program(name).is_none());
        if let Some(name) = missing {
            skipped(Lack::Program, format!("no {name} (packages krb5-kdc and krb5-admin-server)"));
            return None;
        }
        if let Err(why) = Library::load() {
            skipped(Lack::Program, format!("{why} (package {})", PACKAGE));
            return None;
        }
        let directory = tempfile::tempdir().expect("a directory");
        fs::create_dir(directory.path().join("log")).expect("a directory");
        let at = directory.path();
        configure(at, 88);
        run(at, "kdb5_util", &["create", "-s", "-W", "-P", "master", "-r", "HOWDAH.TEST"], "");
        let mut principals = "addprinc -pw secret alice\naddprinc -randkey nfs/server.test\naddprinc -randkey nfs/other.test\n\
                              ktadd -norandkey -k alice.keytab alice\nktadd -norandkey -k server.keytab nfs/server.test\n"
            .to_owned();
        principals +=
            "addprinc -randkey host/server.test\nktadd -norandkey -k server.keytab host/server.test\n";
        for enctype in Enctype::ALL {
            let name = format!("nfs/server{}.test", enctype.number());
            principals += &format!(
                "addprinc -randkey -e {enctype}:normal {name}\nktadd -norandkey -k server.keytab {name}\n"
            );
        }
        run(at, "kadmin.local", &[], &principals);
        let kdc = (0..ATTEMPTS).find_map(|_| start_kdc(at)).expect("a KDC on some port");
        Some(Self { directory, kdc })
    }

    /// Gives the server new keys; its keytab keeps the old ones, too.
    ///
    /// # Panics
    /// The database cannot be changed.
    pub fn change_server_keys(&self) {
        run(self.directory(), "kadmin.local", &[], "ktadd -k server.keytab nfs/server.test\n");
    }

    /// Ends the KDC.
    pub fn stop_kdc(&mut self) {
        let _ = self.kdc.kill();
        let _ = self.kdc.wait();
    }

    /// Where all of it is: what its helpers may write to.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// What clients and servers of it read.
    pub fn configuration(&self) -> PathBuf {
        self.directory().join("krb5.conf")
    }

    /// Of a helper that is this program: its test of this name must call [`be_a_helper`].
    ///
    /// # Panics
    /// The program has no path.
    pub fn helper(&self, test: &str) -> HelperSettings {
        let this = std::env::current_exe().expect("this program");
        HelperSettings::new(&this, &["--exact", test, "--test-threads=1", "--nocapture"])
            .with("KRB5_CONFIG", self.configuration())
            .with_replay_directory(self.directory())
    }

    /// The same for clients and servers that take this enctype alone.
    ///
    /// # Panics
    /// The file cannot be written.
    pub fn configuration_of(&self, enctype: Enctype) -> PathBuf {
        let path = self.directory().join(format!("krb5-{}.conf", enctype.number()));
        let text = fs::read_to_string(self.configuration()).expect("written before");
        let only = format!("[libdefaults]\npermitted_enctypes = {enctype}\n");
        fs::write(&path, text.replacen("[libdefaults]\n", &only, 1)).expect("written");
        path
    }

    /// The keys of the server.
    pub fn server_keytab(&self) -> PathBuf {
        self.directory().join("server.keytab")
    }

    /// The key of alice.
    pub fn client_keytab(&self) -> PathBuf {
        self.directory().join("alice.keytab")
    }
}

impl Drop for Realm {
    fn drop(&mut self) {
        self.stop_kdc();
    }
}

/// What a test calls that helpers run: where the program is none, it returns. Otherwise the process ends with it.
pub fn be_a_helper(confine: impl FnOnce()) {
    if std::env::var_os(ROLE).is_some() {
        let outcome = run_helper(confine);
        // No other test is run, and none reported.
        std::process::exit(i32::from(outcome.is_err()))
    }
}

fn configure(directory: &Path, port: u16) {
    let at = directory.display();
    let client = format!(
        "[libdefaults]\ndefault_realm = HOWDAH.TEST\ndns_lookup_kdc = false\ndns_lookup_realm = false\n\
         dns_canonicalize_hostname = false\nrdns = false\n[realms]\nHOWDAH.TEST = {{\n kdc = 127.0.0.1:{port}\n}}\n\
         [domain_realm]\n.test = HOWDAH.TEST\n"
    );
    let kinds: Vec<String> = Enctype::ALL.iter().map(|enctype| format!("{enctype}:normal")).collect();
    let server = format!(
        "[kdcdefaults]\nkdc_listen = 127.0.0.1:{port}\nkdc_tcp_listen = 127.0.0.1:{port}\n[realms]\nHOWDAH.TEST = {{\n \
         database_name = {at}/principal\n key_stash_file = {at}/stash\n acl_file = {at}/acl\n supported_enctypes = {}\n}}\n\
         [logging]\nkdc = STDERR\nadmin_server = FILE:{at}/log/admin\n",
        kinds.join(" ")
    );
    fs::write(directory.join("krb5.conf"), client).expect("written");
    fs::write(directory.join("kdc.conf"), server).expect("written");
}

/// On a port that is free for datagrams and streams; `None` if another program took it meanwhile.
fn start_kdc(directory: &Path) -> Option<Child> {
    let udp = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let port = udp.local_addr().expect("its number").port();
    let tcp = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).ok()?;
    drop((udp, tcp));
    configure(directory, port);
    let mut command = command(directory, "krb5kdc");
    let mut kdc = command.arg("-n").stderr(Stdio::piped()).spawn().expect("started");
    let log = BufReader::new(kdc.stderr.take().expect("a pipe"));
    let (ready, wait) = mpsc::channel();
    // The log is read to its end: a full pipe would stop the KDC.
    thread::spawn(move || {
        for line in log.lines().map_while(Result::ok) {
            if line.contains("commencing operation") {
                let _ = ready.send(());
            }
        }
    });
    if wait.recv().is_ok() {
        return Some(kdc);
    }
    let _ = kdc.wait();
    None
}

fn run(directory: &Path, program: &str, arguments: &[&str], input: &str) {
    let mut command = command(directory, program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("started");
    child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("written");
    let output = child.wait_with_output().expect("ended");
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
}

fn command(directory: &Path, name: &str) -> Command {
    let mut command = Command::new(program(name).expect("looked for before"));
    command.current_dir(directory).stdout(Stdio::null());
    command
        .env("KRB5_CONFIG", directory.join("krb5.conf"))
        .env("KRB5_KDC_PROFILE", directory.join("kdc.conf"));
    command
}

fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let system = ["/usr/sbin", "/sbin"].map(PathBuf::from);
    std::env::split_paths(&path).chain(system).map(|folder| folder.join(name)).find(|file| file.is_file())
}
