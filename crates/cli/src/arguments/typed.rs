//! What was typed, where mount(8) types it: as `mount.howdah`, the program takes what mount(8) hands to its helpers.

use std::ffi::{OsStr, OsString};
use std::path::Path;

/// How mount(8) calls us.
const HELPER: &str = "mount.howdah";

/// The arguments as they are meant.
pub fn typed(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let name = arguments.first().and_then(|program| Path::new(program).file_name());
    if name != Some(OsStr::new(HELPER)) {
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
        assert_eq!(from("howdah mount -f a b"), ["howdah", "mount", "-f", "a", "b"]);
    }
}
