//! A listing as `ls -l` shows it.

use howdah_vfs::{FileKind, Node, Shown};

use super::{mode_letters, short_time};

/// An entry of a directory.
pub struct Listed {
    /// Its name.
    pub name: Vec<u8>,
    /// The node, where it could be looked at.
    pub node: Option<Node>,
    /// Where a symbolic link points, if that is wanted.
    pub target: Option<Vec<u8>>,
}

/// One line an entry; with `long`, in columns as wide as they must be.
pub fn listing(entries: &[Listed], long: bool) -> String {
    if !long {
        return entries.iter().map(|entry| format!("{}\n", Shown(&entry.name))).collect();
    }
    let rows: Vec<[String; 6]> = entries.iter().map(columns).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let widths: [usize; 6] = std::array::from_fn(width);
    let lines = rows.iter().zip(entries).map(|(row, entry)| {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:>width$}"));
        let target = entry.target.as_ref().map(|target| format!(" -> {}", Shown(target)));
        format!(
            "{} {}{}\n",
            cells.collect::<Vec<_>>().join(" "),
            Shown(&entry.name),
            target.unwrap_or_default()
        )
    });
    lines.collect()
}

fn columns(entry: &Listed) -> [String; 6] {
    let Some(node) = entry.node else {
        return ["??????????", "?", "?", "?", "?", "?"].map(str::to_owned);
    };
    let attributes = &node.attributes;
    let size = match attributes.kind {
        FileKind::BlockDevice | FileKind::CharacterDevice => {
            format!("{}, {}", attributes.device.major, attributes.device.minor)
        }
        _ => attributes.size.to_string(),
    };
    [
        mode_letters(attributes),
        attributes.links.to_string(),
        attributes.user.to_string(),
        attributes.group.to_string(),
        size,
        short_time(attributes.modified),
    ]
}
