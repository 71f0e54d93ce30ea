//! What was typed, where mount(8) types it: as `mount.howdah`, the program takes what mount(8) hands to its helpers.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use howdah_client::url::url_of;

/// How mount(8) calls us.
const HELPER: &str = "mount.howdah";

/// The arguments as they are meant.
pub fn typed(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let name = arguments.first().and_then(|program| Path::new(program).file_name());
    let is_helper = name == Some(OsStr::new(HELPER)) || is_called_for_fuse(&arguments);
    if !is_helper {
        return arguments;
    }
    // mount(8), "External helpers": SPEC DIR [-sfnv] [-N NAMESPACE] [-o OPTIONS] [-t TYPE.SUBTYPE].
    let is_noise = |argument: &&OsString| !matches!(argument.to_str(), Some("-s" | "-n" | "-w"));
    let mut helped = vec![OsString::from("howdah"), OsString::from("mount")];
    let mut rest = arguments[1..].iter().filter(is_noise);
    while let Some(argument) = rest.next() {
        match argument.to_str() {
            Some("-t" | "-N") => _ = rest.next(),
            Some("-r") => helped.extend(["-o".into(), "ro".into()]),
            _ => helped.push(argument.clone()),
        }
    }
    helped
}

/// Whether mount.fuse3 calls us, for a mount of the type `fuse.howdah`: URL DIR [-o OPTIONS].
fn is_called_for_fuse(arguments: &[OsString]) -> bool {
    let source = arguments.get(1).and_then(|source| source.to_str());
    arguments.len() > 2 && source.is_some_and(|source| matches!(url_of(source), Ok(Some(_))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(text: &str) -> Vec<OsString> {
        typed(text.split(' ').map(OsString::from))
    }

    #[test]
    fn mount_calls_us_by_another_name() {
        let helped = from("/sbin/mount.howdah nfs://h/x /mnt -n -v -o rw,_netdev -t howdah");
        assert_eq!(helped, ["howdah", "mount", "nfs://h/x", "/mnt", "-v", "-o", "rw,_netdev"]);
        for source in ["nfs://h/x", "h:/x"] {
            let helped = from(&format!("/usr/bin/howdah {source} /mnt -o rw,nodev"));
            assert_eq!(helped, ["howdah", "mount", source, "/mnt", "-o", "rw,nodev"]);
        }
        assert_eq!(from("howdah cp nfs://h/x /tmp"), ["howdah", "cp", "nfs://h/x", "/tmp"]);
        assert_eq!(from("howdah nfs://h/x"), ["howdah", "nfs://h/x"]);
        assert_eq!(from("howdah mount -f a b"), ["howdah", "mount", "-f", "a", "b"]);
    }
}
