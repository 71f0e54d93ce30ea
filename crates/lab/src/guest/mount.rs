//! A mount of the Linux kernel's client, as the script that a guest runs for it.

use std::net::IpAddr;

use anyhow::{Context, Result, ensure};

use super::mount_option;

/// Where a guest has its mount.
pub const MOUNTED: &str = "/mnt/n";

/// Options that a plan need not name: version 3 over TCP, without the lock manager, which no server here has.
const USUAL: &[&str] = &["vers=3", "proto=tcp", "mountproto=tcp", "nolock"];
/// The same of version 4, which has neither a MOUNT protocol nor a lock manager.
const USUAL_4: &[&str] = &["proto=tcp"];

/// Our own word among the options: the mount's read-ahead in kilobytes, which `mount` cannot set.
const READ_AHEAD: &str = "read_ahead_kb";

/// Where the kernel has that, as a word of a shell.
const READ_AHEAD_FILE: &str = "/sys/class/bdi/$(mountpoint -d /mnt/n)/read_ahead_kb";

/// An export, and how it is mounted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    server: IpAddr,
    source: String,
    options: String,
    read_ahead_kb: Option<u32>,
}

impl Mount {
    /// The mount of `export` at a server that answers NFS and MOUNT at these ports. `words` are options of mount(8),
    /// and `read_ahead_kb=N`, separated by commas (or `&`, as in a URL).
    pub fn new(server: IpAddr, export: &str, ports: (u16, u16), words: &str) -> Result<Self> {
        let words: Vec<&str> = words.split([',', '&']).filter(|word| !word.is_empty()).collect();
        let mut read_ahead_kb = None;
        let (nfs, mount) = ports;
        let is_4 = words.iter().any(|word| is_version_4(word));
        let usual = if is_4 { USUAL_4 } else { USUAL };
        let mut options: Vec<String> =
            usual.iter().filter(|usual| !names(&words, usual)).map(|&word| word.to_owned()).collect();
        options.push(format!("port={nfs}"));
        if !is_4 {
            options.push(format!("mountport={mount}"));
        }
        for word in words {
            ensure!(
                word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"=_.:-".contains(&byte)),
                "mount option \"{word}\": letters, digits and = _ . : - are allowed"
            );
            match word.split_once('=') {
                Some((READ_AHEAD, number)) => {
                    let number = number
                        .parse()
                        .with_context(|| format!("{READ_AHEAD} takes a number, not \"{number}\""))?;
                    read_ahead_kb = Some(number);
                }
                _ => {
                    mount_option::check(word)?;
                    options.push(word.to_owned());
                }
            }
        }
        let host = match server {
            IpAddr::V4(address) => address.to_string(),
            IpAddr::V6(address) => format!("[{address}]"),
        };
        Ok(Self { server, source: format!("{host}:{export}"), options: options.join(","), read_ahead_kb })
    }

    /// The command that mounts, as a person would type it.
    pub fn command(&self) -> Vec<String> {
        ["mount", "-t", "nfs", "-o", &self.options, &self.source, MOUNTED].map(str::to_owned).to_vec()
    }

    /// The command that sets the read-ahead, if it is to be another than the kernel's.
    pub fn read_ahead_command(&self) -> Option<Vec<String>> {
        let kilobytes = self.read_ahead_kb?;
        let echo = format!("echo {kilobytes} >{READ_AHEAD_FILE}");
        Some(["sh".to_owned(), "-c".to_owned(), echo].to_vec())
    }

    /// Whether Kerberos says who calls.
    pub fn uses_kerberos(&self) -> bool {
        self.options.split(',').any(is_kerberos)
    }

    /// Mounts it, and says what the kernel made of the options.
    pub fn script(&self) -> String {
        let Self { server, source, options, .. } = self;
        let kerberos =
            if self.uses_kerberos() { format!("{}\n", kerberos("client", *server)) } else { String::new() };
        let read_ahead =
            self.read_ahead_command().and_then(|words| words.last().cloned()).unwrap_or_default();
        format!(
            "{kerberos}mkdir -p {MOUNTED}\n\
             mount -t nfs -o '{options}' '{source}' {MOUNTED}\n\
             {read_ahead}\n\
             grep ' {MOUNTED} ' /proc/mounts\n\
             echo \"read-ahead: $(cat {READ_AHEAD_FILE}) KB\"\n"
        )
    }
}

/// Whether this option of a mount asks for version 4.
pub fn is_version_4(word: &str) -> bool {
    word.starts_with("vers=4") || word.starts_with("nfsvers=4")
}

/// Whether this option of a mount asks for Kerberos.
pub fn is_kerberos(word: &str) -> bool {
    word.starts_with("sec=krb5")
}

/// The line of a script that starts Kerberos in a guest, which is the `client` or the `server`. Clients know the server by this address.
pub fn kerberos(role: &str, server: IpAddr) -> String {
    format!("ROLE={role} SERVER={server}\n. \"$WORK/scripts/krb5.sh\"")
}

/// Whether the words name this option, whatever its value.
fn names(words: &[&str], option: &str) -> bool {
    let name = |word: &str| word.split('=').next().unwrap_or_default().to_owned();
    words.iter().any(|word| name(word) == name(option))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERVER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 77, 0, 1));

    #[test]
    fn version_4_has_no_mount_protocol() {
        let address = "192.0.2.1".parse().expect("an address");
        let mount = Mount::new(address, "/", (2049, 20048), "vers=4.2,nconnect=2").expect("a mount");
        assert_eq!(mount.options, "proto=tcp,port=2049,vers=4.2,nconnect=2");
    }

    #[test]
    fn a_plan_says_what_is_not_usual() {
        let mount =
            Mount::new(SERVER, "/x", (2049, 20_048), "nconnect=4,read_ahead_kb=15360").expect("a mount");
        assert_eq!(
            mount.command().join(" "),
            "mount -t nfs -o vers=3,proto=tcp,mountproto=tcp,nolock,port=2049,mountport=20048,nconnect=4 \
             10.77.0.1:/x /mnt/n"
        );
        let script = mount.script();
        assert!(
            script.contains("echo 15360 >/sys/class/bdi/$(mountpoint -d /mnt/n)/read_ahead_kb\n"),
            "{script}"
        );
        let script = Mount::new(SERVER, "/", (1, 2), "").expect("a mount").script();
        assert!(!script.contains("echo 1"), "{script}");
    }

    #[test]
    fn kerberos_starts_before_the_mount() {
        let script = |words| Mount::new(SERVER, "/", (1, 2), words).expect("a mount").script();
        let with = script("vers=4.2,sec=krb5i");
        assert!(
            with.starts_with("ROLE=client SERVER=10.77.0.1\n. \"$WORK/scripts/krb5.sh\"\nmkdir "),
            "{with}"
        );
        assert!(script("sec=sys").starts_with("mkdir "));
    }

    #[test]
    fn what_a_plan_says_stands_in_place_of_the_usual() {
        let address = "fd77::1".parse().expect("an address");
        let mount = Mount::new(address, "/", (1, 2), "vers=3&proto=tcp6&rsize=1048576").expect("a mount");
        assert_eq!(
            mount.command()[4..6],
            ["mountproto=tcp,nolock,port=1,mountport=2,vers=3,proto=tcp6,rsize=1048576", "[fd77::1]:/"]
        );
    }

    #[test]
    fn words_that_a_shell_would_understand_are_refused() {
        for words in ["x;y", "a'b", "read_ahead_kb=much", "$(x)"] {
            assert!(Mount::new(SERVER, "/", (1, 2), words).is_err(), "{words}");
        }
    }
}
