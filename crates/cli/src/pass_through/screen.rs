//! The screen that a pass-through relay shows when it is ready.

use std::fmt::Write;
use std::net::SocketAddr;
use std::path::Path;

use howdah_relay::Far;

use crate::report::{mount_far, mount_far_nfs3};

/// Everything on the screen.
pub struct RelayScreen<'a> {
    /// The far server.
    pub far: &'a Far,
    /// Whether it may be called from ports below 1024.
    pub has_low_ports: bool,
    /// How connections are sized.
    pub sizing: &'a str,
    /// How many there may be.
    pub connections_max: usize,
    /// Where others reach the relay, the best first.
    pub hosts: &'a [SocketAddr],
    /// Where it may be asked what it does.
    pub admin: Option<&'a Path>,
    /// This process.
    pub process: u32,
}

impl RelayScreen<'_> {
    /// The screen.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let ports: Vec<String> = self.hosts.iter().map(|host| host.port().to_string()).collect();
        let mut ports: Vec<&str> = ports.iter().map(String::as_str).collect();
        ports.dedup();
        let _ = writeln!(
            text,
            "howdah {} forwards calls over TCP, port {}\n",
            env!("CARGO_PKG_VERSION"),
            ports.join(", ")
        );
        text.push_str(&self.far());
        let _ = writeln!(text, "\nAt most {} client connections.", self.connections_max);
        let _ = writeln!(text, "{}", capitalized(self.sizing));
        if let Some(admin) = self.admin {
            let _ = writeln!(text, "Admin socket, for howdah why: {}", admin.display());
        }
        text.push_str(&self.mounting());
        let _ =
            writeln!(text, "\nStop: Ctrl-C or kill {0}. Reload certificates: kill -HUP {0}", self.process);
        text
    }

    fn far(&self) -> String {
        let far = self.far;
        let addresses: Vec<String> = far.addresses().iter().map(|address| address.ip().to_string()).collect();
        let mut text = format!("  Far server  {} ({})\n", far.url(), addresses.join(", "));
        let mount = match far.mount_port() {
            Some(port) => format!("MOUNT on port {port}"),
            None => "no MOUNT: only NFSv4 can be mounted".to_owned(),
        };
        let _ = writeln!(text, "      NFS on port {}, {mount}", far.nfs_port());
        let protection = match (far.tls_name(), far.has_certificate()) {
            (None, _) => "no TLS to it; ?xprtsec=tls in the URL enables TLS".to_owned(),
            (Some(name), false) => format!("TLS to it; the server authenticates as {name}"),
            (Some(name), true) => {
                format!("TLS to it; the server authenticates as {name}, and this host by its certificate")
            }
        };
        let _ = writeln!(text, "      {protection}");
        let _ = writeln!(text, "      it sees the address of this host: export to this address");
        if !self.has_low_ports {
            let _ = writeln!(
                text,
                "      it sees ports above 1023, because CAP_NET_BIND_SERVICE is missing: allow them (Linux: insecure)"
            );
        }
        text
    }

    fn mounting(&self) -> String {
        let Some(host) = self.hosts.first() else { return String::new() };
        let mut text = String::from("\nMount an EXPORT of the far server (Linux, as root):\n");
        let _ = writeln!(text, "  NFSv4  {}", mount_far(*host));
        if self.far.mount_port().is_some() {
            let _ = writeln!(text, "  NFSv3  {}", mount_far_nfs3(*host));
        }
        text
    }
}

/// A clause as a sentence.
fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| format!("{}{}.", first.to_uppercase(), letters.as_str()))
}
