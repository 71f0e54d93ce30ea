//! How attributes are written for people and for machines; shared by `ls` and `stat`.

use howdah_vfs::{Attributes, FileKind, Shown, Timestamp};
use jiff::tz::TimeZone;
use serde_json::{Value, json};

/// What kind of node it is, as a word.
pub fn kind_word(kind: FileKind) -> &'static str {
    match kind {
        FileKind::Regular => "file",
        FileKind::Directory => "directory",
        FileKind::SymbolicLink => "symbolic link",
        FileKind::BlockDevice => "block device",
        FileKind::CharacterDevice => "character device",
        FileKind::Socket => "socket",
        FileKind::Fifo => "fifo",
    }
}

/// Puts a name into an object: as it is if it is text. Else it is escaped, and its bytes stand beside it in hexadecimal.
pub fn name_json(value: &mut Value, key: &str, name: &[u8]) {
    match std::str::from_utf8(name) {
        Ok(text) => value[key] = json!(text),
        Err(_) => {
            value[key] = json!(Shown(name).to_string());
            let hex: String = name.iter().map(|byte| format!("{byte:02x}")).collect();
            value[format!("{key}_hex")] = json!(hex);
        }
    }
}

/// Kind and permissions in ten letters, as in `drwxr-xr-x`.
pub fn mode_letters(attributes: &Attributes) -> String {
    let kind = match attributes.kind {
        FileKind::Regular => '-',
        FileKind::Directory => 'd',
        FileKind::SymbolicLink => 'l',
        FileKind::BlockDevice => 'b',
        FileKind::CharacterDevice => 'c',
        FileKind::Socket => 's',
        FileKind::Fifo => 'p',
    };
    let mode = attributes.mode;
    let class = |shift: u32, special: u32, [both, only]: [char; 2]| {
        let bits = mode >> shift;
        let execute = match (bits & 1 != 0, mode & special != 0) {
            (true, true) => both,
            (false, true) => only,
            (true, false) => 'x',
            (false, false) => '-',
        };
        [if bits & 4 != 0 { 'r' } else { '-' }, if bits & 2 != 0 { 'w' } else { '-' }, execute]
    };
    let classes = [class(6, 0o4000, ['s', 'S']), class(3, 0o2000, ['s', 'S']), class(0, 0o1000, ['t', 'T'])];
    std::iter::once(kind).chain(classes.into_iter().flatten()).collect()
}

/// A time in the user's zone, to the nanosecond: `2026-11-22 00:46:20.000000001 +0000`.
pub fn exact_time(time: Timestamp) -> String {
    match jiff::Timestamp::new(time.seconds, time.nanoseconds.cast_signed()) {
        Ok(instant) => instant.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S.%9f %z").to_string(),
        Err(_) => format!("{}.{:09} seconds since 1970", time.seconds, time.nanoseconds),
    }
}

/// A time in the user's zone, to the minute: `2026-11-22 00:46`.
pub fn short_time(time: Timestamp) -> String {
    let instant = jiff::Timestamp::from_second(time.seconds);
    instant.map_or_else(
        |_| format!("@{}", time.seconds),
        |instant| instant.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string(),
    )
}

/// All attributes, for machines. Times are strings of seconds since 1970 with nine decimals: exact, unlike a number.
pub fn attributes_json(attributes: &Attributes) -> Value {
    let time = |time: Timestamp| format!("{}.{:09}", time.seconds, time.nanoseconds);
    json!({
        "kind": kind_word(attributes.kind),
        "mode": format!("{:04o}", attributes.mode),
        "links": attributes.links,
        "user": attributes.user,
        "group": attributes.group,
        "size": attributes.size,
        "used": attributes.used,
        "device": { "major": attributes.device.major, "minor": attributes.device.minor },
        "file_system": attributes.file_system,
        "file": attributes.file,
        "accessed": time(attributes.accessed),
        "modified": time(attributes.modified),
        "changed": time(attributes.changed),
    })
}

#[cfg(test)]
mod tests {
    use howdah_vfs::DeviceNumber;

    use super::*;

    fn letters(kind: FileKind, mode: u32) -> String {
        let time = Timestamp::default();
        mode_letters(&Attributes {
            change: 0,
            kind,
            mode,
            links: 1,
            user: 0,
            group: 0,
            size: 0,
            used: 0,
            device: DeviceNumber::default(),
            file_system: 0,
            file: 0,
            accessed: time,
            modified: time,
            changed: time,
            created: None,
        })
    }

    #[test]
    fn modes_read_as_in_ls() {
        assert_eq!(letters(FileKind::Regular, 0o644), "-rw-r--r--");
        assert_eq!(letters(FileKind::Directory, 0o1777), "drwxrwxrwt");
        assert_eq!(letters(FileKind::Regular, 0o6711), "-rws--s--x");
        assert_eq!(letters(FileKind::Regular, 0o7000), "---S--S--T");
    }
}
