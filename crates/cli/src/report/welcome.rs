//! The screen that a server shows when it is ready.

use std::fmt::Write;
use std::net::SocketAddr;
use std::path::Path;

use howdah_config::{ClientRuleConfig, ExportConfig, ExportName, ServerConfig, Squash};
use howdah_daemon::serve::{Handles, OpenedExport};
use howdah_server::exports::{SecurityFlavor, TlsPolicy};
use howdah_store::local::FallBack;

use super::{mount_commands, settings};

/// Everything that the screen tells.
pub struct Welcome<'a> {
    /// What was asked for.
    pub config: &'a ServerConfig,
    /// Where others reach it, the best first.
    pub hosts: &'a [SocketAddr],
    /// Who runs the server.
    pub user: &'a str,
    /// How each export turned out, in the order of the exports.
    pub opened: &'a [OpenedExport],
    /// Whether clients find the port by themselves.
    pub portmapper: Option<&'a str>,
    /// Where the server may be asked what it does.
    pub admin: Option<&'a Path>,
    /// Where a browser sees what it does.
    pub page: Option<&'a str>,
    /// Where howdah clients find QUIC.
    pub quic: Option<SocketAddr>,
    /// Whether there is a file that a signal lets it read again.
    pub reads_file: bool,
    /// This process.
    pub process: u32,
}

impl Welcome<'_> {
    /// The screen.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let ports = self.ports();
        let versions = match (self.config.nfs4, self.config.udp) {
            (true, true) => "NFSv3 over TCP and UDP, NFSv4.1 and 4.2 over TCP",
            (true, false) => "NFSv3, 4.1 and 4.2 over TCP",
            (false, true) => "NFSv3 over TCP and UDP",
            (false, false) => "NFSv3 over TCP",
        };
        let _ = writeln!(text, "howdah {} serves {versions}, port {ports}", env!("CARGO_PKG_VERSION"));
        for (export, opened) in self.config.exports.iter().zip(self.opened) {
            text.push_str(&exported(export, *opened));
        }
        let _ = write!(text, "\n{}", self.acting());
        let _ = writeln!(text, "State that survives restarts: {}", self.config.state.display());
        if let Some(admin) = self.admin {
            let _ = writeln!(text, "Admin socket, for howdah why, get and set: {}", admin.display());
        }
        if let Some(quic) = self.quic {
            let _ = writeln!(text, "QUIC, for howdah clients (proto=quic): UDP port {}", quic.port());
        }
        if let Some(page) = self.page {
            let _ = writeln!(text, "Live page, for a browser: {page}");
        }
        text.push_str(&self.mounting());
        let _ = write!(text, "\nStop: Ctrl-C or kill {}", self.process);
        if self.reads_file {
            let _ = write!(text, ". Reload the configuration: kill -HUP {}", self.process);
        }
        text + "\n"
    }

    fn ports(&self) -> String {
        let mut ports: Vec<u16> = self.hosts.iter().map(SocketAddr::port).collect();
        ports.sort_unstable();
        ports.dedup();
        ports.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    }

    /// Privileges are the process's, so they are the same for every export.
    fn acting(&self) -> String {
        if self.opened.iter().all(|opened| opened.acts_as_caller) {
            let squashes =
                |export: &ExportConfig| export.clients.iter().any(|rule| rule.access.squash == Squash::Root);
            let squash = match self.config.exports.iter().any(squashes) {
                true => {
                    "Root on a client acts as nobody (root squash) and can change only what everyone can; \
                     squash = \"none\" (--squash none) lets it act as root.\n"
                }
                false => "",
            };
            let takes_claims = |rule: &ClientRuleConfig| rule.access.sec.contains(SecurityFlavor::Sys);
            let takes_claims =
                self.config.exports.iter().any(|export| export.clients.iter().any(takes_claims));
            let acting = match takes_claims {
                true => "Calls act as the user that the client claims, without authentication.",
                false => "Calls act as the user that Kerberos proves. Mount by the name in the keytab.",
            };
            return format!("{squash}{acting} Mount exported file systems with nosuid.\n");
        }
        format!(
            "All calls act as {}: new files belong to that user, no client has more rights\n\
             than that user, and squash has no effect. To act as each caller, run howdah as root.\n",
            self.user
        )
    }

    fn mounting(&self) -> String {
        let (Some(host), Some(export)) = (self.hosts.first(), self.config.exports.first()) else {
            return String::new();
        };
        let name = &export.name;
        let place = if host.ip().is_loopback() { "on this machine" } else { "from another machine" };
        let mut text = format!("\nMount {name} {place} ");
        match required_protection(export.tls) {
            Some(word) => self.mounting_over_tls(&mut text, *host, name, word),
            None => self.mounting_in_the_clear(&mut text, *host, name),
        }
        let others: Vec<String> = self.hosts[1..].iter().map(ToString::to_string).collect();
        if !others.is_empty() {
            let _ = writeln!(text, "Other addresses: {}", others.join(", "));
        }
        text
    }

    fn mounting_in_the_clear(&self, text: &mut String, host: SocketAddr, name: &ExportName) {
        text.push_str("(Linux and macOS as root):\n");
        if self.config.nfs4 {
            let _ = writeln!(text, "  Linux  {}", mount_commands::linux_nfs4(host, name));
        }
        let _ = write!(
            text,
            "  Linux, NFSv3  {}\n  macOS  {}\n  libnfs {}\n",
            mount_commands::linux(host, name),
            mount_commands::macos(host, name),
            mount_commands::url(host, name),
        );
        if let Some(program) = self.portmapper {
            let short = mount_commands::linux_by_portmapper(host, name);
            let _ = writeln!(
                text,
                "On port 111 {program} tells clients the port. A shorter NFSv3 command works too, with locks for all clients:\n  Linux, NFSv3  {short}"
            );
        }
    }

    /// macOS has no TLS for NFS, and locks of NFSv3 come in the clear.
    fn mounting_over_tls(&self, text: &mut String, host: SocketAddr, name: &ExportName, word: &str) {
        text.push_str("by a name in its certificate (Linux 6.5 and later, as root, with tlshd):\n");
        if self.config.nfs4 {
            let command = mount_commands::linux_nfs4(host, name);
            let _ = writeln!(text, "  Linux  {}", mount_commands::over_tls(&command, word));
        }
        let command = mount_commands::linux(host, name);
        let _ = write!(
            text,
            "  Linux, NFSv3  {}\n  libnfs {}&xprtsec={word}\n",
            mount_commands::over_tls(&command, word),
            mount_commands::url(host, name),
        );
    }
}

/// The word of `xprtsec` for an export that takes no connection in the clear.
fn required_protection(policy: TlsPolicy) -> Option<&'static str> {
    match policy {
        TlsPolicy::Off | TlsPolicy::Offered => None,
        TlsPolicy::Required => Some("tls"),
        TlsPolicy::ClientCertificate => Some("mtls"),
    }
}

fn exported(export: &ExportConfig, opened: OpenedExport) -> String {
    let durability = export.durability;
    let kept = match opened.handles {
        Handles::Kernel => format!("{durability}, file handles of the kernel"),
        Handles::Index => format!("{durability}, file handles of an index"),
        Handles::FileNumbers(why) => {
            let why = match why {
                FallBack::NodeNumbers => "handles of this FUSE daemon become invalid when it restarts",
                FallBack::Forgotten => {
                    "this FUSE daemon cannot open a handle after the kernel dropped its caches"
                }
            };
            format!("{durability}, file handles of file numbers, by an index: {why}")
        }
        Handles::Memory => "lost when the server ends".to_owned(),
        Handles::Server if export.caching.is_some() => "forwarded to that server, through caches".to_owned(),
        Handles::Server => "forwarded to that server, without caches".to_owned(),
    };
    let mut text = format!("\n  {}  {}\n", export.name, export.source);
    for rule in &export.clients {
        let _ = writeln!(text, "      {}: {}", rule.who, settings::access(&rule.access, opened));
    }
    let _ = writeln!(text, "      {kept}");
    match export.tls {
        TlsPolicy::Off | TlsPolicy::Offered => {}
        TlsPolicy::Required => text.push_str("      TLS required\n"),
        TlsPolicy::ClientCertificate => text.push_str("      TLS and a certificate of the client required\n"),
    }
    text
}

#[cfg(test)]
mod tests {
    use howdah_config::{Source, load_text};
    use howdah_server::exports::SecurityFlavors;
    use snapbox::{assert_data_eq, str};

    use super::*;

    fn one_export() -> ServerConfig {
        let file = "state = '/var/lib/howdah'\n[[export]]\nname = '/data'\npath = '/usr'\n";
        let mut config = load_text(Path::new("howdah.toml"), file.to_owned()).expect("good");
        config.exports[0].source = Source::Directory("/srv/data".into());
        config
    }

    fn screen(acts_as_caller: bool, hosts: &[&str]) -> String {
        screen_of(&one_export(), acts_as_caller, hosts)
    }

    fn screen_of(config: &ServerConfig, acts_as_caller: bool, hosts: &[&str]) -> String {
        let hosts: Vec<SocketAddr> = hosts.iter().map(|text| text.parse().expect("an address")).collect();
        let handles = if acts_as_caller { Handles::Kernel } else { Handles::Index };
        let opened =
            [OpenedExport { handles, acts_as_caller, guards_host: acts_as_caller, guards_far: false }];
        let portmapper = acts_as_caller.then_some("rpcbind");
        Welcome {
            config,
            hosts: &hosts,
            user: "alice",
            opened: &opened,
            portmapper,
            admin: Some(Path::new("/run/42.admin")),
            page: acts_as_caller.then_some("http://127.0.0.1:9048/#token=42"),
            quic: None,
            reads_file: acts_as_caller,
            process: 42,
        }
        .text()
    }

    #[test]
    fn an_export_with_kerberos_alone_says_who_proves_users() {
        let mut config = one_export();
        config.exports[0].clients[0].access.sec = SecurityFlavors::new([SecurityFlavor::Krb5p]).expect("one");
        let screen = screen_of(&config, true, &["10.0.0.1:2049"]);
        assert!(screen.contains("Calls act as the user that Kerberos proves. Mount by the name"), "{screen}");
        assert!(!screen.contains("claims"), "{screen}");
    }

    #[test]
    fn an_export_that_requires_tls_is_mounted_over_tls() {
        let mut config = one_export();
        config.exports[0].tls = TlsPolicy::ClientCertificate;
        let screen = screen_of(&config, true, &["10.0.0.1:2049"]);
        let mounting: Vec<&str> = screen.lines().skip_while(|line| !line.starts_with("Mount ")).collect();
        assert_data_eq!(
            mounting[..4].join("\n"),
            str![[r#"
Mount /data from another machine by a name in its certificate (Linux 6.5 and later, as root, with tlshd):
  Linux  mount -t nfs -o xprtsec=mtls 10.0.0.1:/data /mnt
  Linux, NFSv3  mount -t nfs -o xprtsec=mtls,vers=3,proto=tcp,port=2049,mountport=2049,mountproto=tcp,nolock 10.0.0.1:/data /mnt
  libnfs nfs://10.0.0.1/data/?nfsport=2049&mountport=2049&xprtsec=mtls
"#]]
        );
        assert!(screen.contains("      TLS and a certificate of the client required\n"), "{screen}");
    }

    #[test]
    fn as_root_with_rpcbind() {
        assert_data_eq!(
            screen(true, &["10.0.0.1:2049", "[fd00::1]:2049"]),
            str![[r#"
howdah 0.1.0 serves NFSv3 over TCP and UDP, NFSv4.1 and 4.2 over TCP, port 2049

  /data  /srv/data
      *: read and write, root acts as 65534:65534, any port (from this host: below 1024)
      sync, file handles of the kernel

Root on a client acts as nobody (root squash) and can change only what everyone can; squash = "none" (--squash none) lets it act as root.
Calls act as the user that the client claims, without authentication. Mount exported file systems with nosuid.
State that survives restarts: /var/lib/howdah
Admin socket, for howdah why, get and set: /run/42.admin
Live page, for a browser: http://127.0.0.1:9048/#token=42

Mount /data from another machine (Linux and macOS as root):
  Linux  mount -t nfs 10.0.0.1:/data /mnt
  Linux, NFSv3  mount -t nfs -o vers=3,proto=tcp,port=2049,mountport=2049,mountproto=tcp,nolock 10.0.0.1:/data /mnt
  macOS  mount -t nfs -o vers=3,tcp,port=2049,mountport=2049,locallocks 10.0.0.1:/data /mnt
  libnfs nfs://10.0.0.1/data/?nfsport=2049&mountport=2049
On port 111 rpcbind tells clients the port. A shorter NFSv3 command works too, with locks for all clients:
  Linux, NFSv3  mount -t nfs -o vers=3 10.0.0.1:/data /mnt
Other addresses: [fd00::1]:2049

Stop: Ctrl-C or kill 42. Reload the configuration: kill -HUP 42

"#]]
        );
    }

    #[test]
    fn as_an_ordinary_user_on_one_machine() {
        assert_data_eq!(
            screen(false, &["127.0.0.1:3049"]),
            str![[r#"
howdah 0.1.0 serves NFSv3 over TCP and UDP, NFSv4.1 and 4.2 over TCP, port 3049

  /data  /srv/data
      *: read and write, any port
      sync, file handles of an index

All calls act as alice: new files belong to that user, no client has more rights
than that user, and squash has no effect. To act as each caller, run howdah as root.
State that survives restarts: /var/lib/howdah
Admin socket, for howdah why, get and set: /run/42.admin

Mount /data on this machine (Linux and macOS as root):
  Linux  mount -t nfs -o port=3049 127.0.0.1:/data /mnt
  Linux, NFSv3  mount -t nfs -o vers=3,proto=tcp,port=3049,mountport=3049,mountproto=tcp,nolock 127.0.0.1:/data /mnt
  macOS  mount -t nfs -o vers=3,tcp,port=3049,mountport=3049,locallocks 127.0.0.1:/data /mnt
  libnfs nfs://127.0.0.1/data/?nfsport=3049&mountport=3049

Stop: Ctrl-C or kill 42

"#]]
        );
    }
}
