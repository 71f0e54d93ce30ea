//! The guest's kernel: its command line. It starts nothing by itself, so that the caller chooses where it runs.

use std::path::PathBuf;
use std::process::Command;

/// The guest's kernel, of Debian's package user-mode-linux.
pub const GUEST_KERNEL: &str = "linux.uml";

/// What a guest is booted with. `scripts/init.sh` in the work directory is its first process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kernel {
    /// The directory that it shares with the host, see [`GuestShare`](super::GuestShare).
    pub work: PathBuf,
    /// Its memory in MiB. Only what it uses is taken from the host.
    pub memory: u32,
    /// Its network interface `vec0`.
    pub interface: Option<GuestInterface>,
    /// A file that is its disk `/dev/ubda`.
    pub disk: Option<PathBuf>,
    /// Where its memory is a file, which should not be on a disk.
    pub memory_directory: PathBuf,
    /// Whether its serial line is its standard input and output; the console is then its standard error.
    pub serial_line: bool,
}

/// How the guest's packets come and go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GuestInterface {
    /// Through a tap device of the namespace that the guest is started in.
    Tap(String),
    /// Through a packet socket on an interface there: for who may not make taps. Slower.
    Raw(String),
}

impl Kernel {
    /// The arguments of [`GUEST_KERNEL`].
    pub fn arguments(&self) -> Vec<String> {
        let console = if self.serial_line { "con0=null,fd:2" } else { "con0=null,fd:1" };
        let mut words = vec![format!("mem={}M", self.memory)];
        words.extend(
            ["rootfstype=hostfs", "root=/dev/root", "rw", "quiet", "con=null", console].map(str::to_owned),
        );
        words.extend(self.serial_line.then(|| "ssl0=fd:0,fd:1".to_owned()));
        words.push(format!("init={}", self.work.join("scripts/init.sh").display()));
        words.push(format!("WORK={}", self.work.display()));
        words.extend(self.interface.as_ref().map(GuestInterface::argument));
        words.extend(self.disk.as_ref().map(|disk| format!("ubda={}", disk.display())));
        words
    }

    /// Adds arguments and environment to a command that starts it.
    pub fn configure(&self, command: &mut Command) {
        command
            .args(self.arguments())
            .env("TMPDIR", &self.memory_directory)
            .env("HOME", self.work.join("home"));
    }
}

impl GuestInterface {
    fn argument(&self) -> String {
        let (transport, name) = match self {
            Self::Tap(name) => ("tap", name),
            Self::Raw(name) => ("raw", name),
        };
        // Both receive merged segments; `depth` is how many packets one system call moves.
        format!("vec0:transport={transport},ifname={name},depth=128,gro=1,mac=02:00:00:00:00:03")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(kernel: &Kernel) -> String {
        kernel.arguments().join(" ")
    }

    #[test]
    fn a_guest_with_everything() {
        let mut kernel = Kernel {
            work: "/w".into(),
            memory: 768,
            interface: Some(GuestInterface::Tap("guest0".into())),
            disk: Some("/w/disk".into()),
            memory_directory: "/dev/shm".into(),
            serial_line: true,
        };
        assert_eq!(
            words(&kernel),
            "mem=768M rootfstype=hostfs root=/dev/root rw quiet con=null con0=null,fd:2 ssl0=fd:0,fd:1 \
             init=/w/scripts/init.sh WORK=/w \
             vec0:transport=tap,ifname=guest0,depth=128,gro=1,mac=02:00:00:00:00:03 ubda=/w/disk"
        );
        (kernel.serial_line, kernel.interface, kernel.disk) = (false, None, None);
        assert_eq!(
            words(&kernel),
            "mem=768M rootfstype=hostfs root=/dev/root rw quiet con=null con0=null,fd:1 \
             init=/w/scripts/init.sh WORK=/w"
        );
    }
}
