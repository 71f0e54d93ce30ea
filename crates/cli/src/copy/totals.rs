//! What came of a copy, for people and for machines. Pure.

use howdah_copy::Figures;
use serde_json::{Value, json};

use howdah_units::{clock, counted, rate, size};

/// How a copy ended.
pub struct CopyTotals {
    /// What was done.
    pub figures: Figures,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// Whether it was stopped.
    pub stopped: bool,
    /// Transfers at once, at most.
    pub jobs: usize,
    /// Whether files were read back.
    pub verified: bool,
    /// Whether nothing was changed.
    pub is_dry: bool,
    /// Whether a side is at a server, whose memory may have answered what was read back.
    pub remote: bool,
    /// What limited calls to servers, in sentences.
    pub limits: Vec<String>,
}

impl CopyTotals {
    fn rate(&self) -> f64 {
        self.moved() as f64 / self.seconds.max(1e-6)
    }

    /// Bytes that were written: holes take no time.
    fn moved(&self) -> u64 {
        self.figures.copied_bytes.saturating_sub(self.figures.hole_bytes)
    }

    /// What the comparison covered.
    fn coverage(&self) -> &'static str {
        match self.remote {
            true => {
                "after COMMIT, before each file got its name; the server, and this machine for local files, may have \
                 answered from memory"
            }
            false => "after fsync, before each file got its name; the kernel may have answered from memory",
        }
    }
}

/// A few lines.
pub fn as_text(totals: &CopyTotals) -> String {
    let figures = &totals.figures;
    let mut lines = vec![first_line(totals)];
    let mut line = |counts: bool, text: String| {
        if counts {
            lines.push(format!("  {text}"));
        }
    };
    line(
        figures.resumed_files > 0,
        format!(
            "{} resumed: {} were there from an earlier copy",
            counted(figures.resumed_files, "file", "files"),
            size(figures.resumed_bytes)
        ),
    );
    line(
        figures.grown > 0,
        format!(
            "{} grew while copied: the next run copies the rest",
            counted(figures.grown, "file", "files")
        ),
    );
    line(
        figures.vanished > 0,
        format!(
            "{} vanished: listed, and gone before it was copied",
            counted(figures.vanished, "name", "names")
        ),
    );
    let gone = if totals.is_dry { "would be deleted" } else { "deleted" };
    line(figures.removed > 0, format!("{} {gone}", counted(figures.removed, "name", "names")));
    line(figures.excluded > 0, format!("{} excluded", counted(figures.excluded, "name", "names")));
    line(figures.kept > 0, format!("{} unchanged ({})", figures.kept, size(figures.kept_bytes)));
    line(
        figures.left_out_set_id > 0,
        format!(
            "set-ID bits of {} left out; --set-id keeps them",
            counted(figures.left_out_set_id, "file", "files")
        ),
    );
    line(
        figures.left_out_devices > 0,
        format!("{} left out; --devices copies them", counted(figures.left_out_devices, "device", "devices")),
    );
    line(others(figures) > 0, other_nodes(figures));
    line(
        figures.server_bytes > 0,
        format!("{} of this copied by the server itself", size(figures.server_bytes)),
    );
    line(figures.hole_bytes > 0, format!("{} of zeros became holes", size(figures.hole_bytes)));
    line(
        figures.resent_bytes > 0,
        format!("{} were sent again: the server restarted and had lost them", size(figures.resent_bytes)),
    );
    line(totals.verified, verified(totals));
    lines.extend(totals.limits.iter().map(|limit| format!("  {limit}")));
    if figures.errors > 0 {
        lines.push(format!("{}: the copy is not complete", counted(figures.errors, "error", "errors")));
    }
    if totals.stopped {
        lines.push("stopped: run the same command again to resume".to_owned());
    }
    lines.join("\n") + "\n"
}

/// What was read back.
fn verified(totals: &CopyTotals) -> String {
    let figures = &totals.figures;
    let unread = match figures.kept {
        0 => String::new(),
        1 => "1 unchanged file was not read".to_owned(),
        kept => format!("{kept} unchanged files were not read"),
    };
    if figures.verified_files == 0 {
        return match unread.is_empty() {
            true => "verified: nothing".to_owned(),
            false => format!("verified: nothing ({unread})"),
        };
    }
    let unread = if unread.is_empty() { unread } else { format!("; {unread}") };
    format!(
        "verified: {}, {}: both sides were read back and are equal ({}){unread}",
        counted(figures.verified_files, "file", "files"),
        size(figures.verified_bytes),
        totals.coverage()
    )
}

fn first_line(totals: &CopyTotals) -> String {
    let figures = &totals.figures;
    let (files, bytes) = (counted(figures.files, "file", "files"), size(totals.moved()));
    if totals.is_dry {
        return format!("dry run, nothing was changed: {files} ({bytes}) would be copied");
    }
    format!("{files} copied, {bytes} in {:.2} s ({})", totals.seconds, rate(totals.rate()))
}

fn others(figures: &Figures) -> u64 {
    figures.directories + figures.symbolic_links + figures.hard_links + figures.special_files
}

fn other_nodes(figures: &Figures) -> String {
    let all = [
        (figures.directories, "directory", "directories"),
        (figures.symbolic_links, "symbolic link", "symbolic links"),
        (figures.hard_links, "hard link", "hard links"),
        (figures.special_files, "special file", "special files"),
    ];
    let some = all.iter().filter(|(number, ..)| *number > 0);
    some.map(|&(number, one, several)| counted(number, one, several)).collect::<Vec<_>>().join(", ")
}

/// One object.
pub fn as_json(totals: &CopyTotals) -> Value {
    let mut value = json!({
        "seconds": totals.seconds,
        "bytes_per_second": totals.rate(),
        "stopped": totals.stopped,
        "dry_run": totals.is_dry,
        "jobs": totals.jobs,
        "limits": totals.limits,
    });
    let figures = totals.figures.iter().filter(|(name, _)| !name.starts_with("found_"));
    figures.for_each(|(name, number)| value[name] = json!(number));
    if totals.verified {
        value["verified_how"] = json!(totals.coverage());
    }
    value
}

/// How far a copy is, in one line: what is done, of how much, how fast now, and how long it may take.
pub fn progress_line(figures: &Figures, rate: f64) -> String {
    let done = figures.settled_bytes();
    let all_known = figures.found_all > 0;
    let left = figures.found_bytes.saturating_sub(done) as f64;
    // While the tree is not all known there is more than what is known.
    let more = if all_known { "" } else { "+" };
    let time = match rate > 0.0 {
        true => format!("  {}{more} left", clock(left / rate)),
        false => String::new(),
    };
    // Of a tree that is not all known, or of files without data, a part would mislead.
    let part = match all_known && figures.found_bytes > 0 {
        true => format!("{:.0} %, ", (100.0 * done as f64 / figures.found_bytes as f64).floor().min(100.0)),
        false => String::new(),
    };
    format!(
        "{part}{} of {}{more}  {} files  {}{time}",
        size(done),
        size(figures.found_bytes),
        figures.files + figures.kept,
        howdah_units::rate(rate)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures() -> Figures {
        Figures {
            found_bytes: 4_000_000,
            found_all: 1,
            copied_bytes: 2_000_000,
            files: 3,
            directories: 1,
            ..Figures::default()
        }
    }

    #[test]
    fn totals_say_what_happened_and_no_more() {
        let totals = CopyTotals {
            figures: figures(),
            seconds: 2.0,
            stopped: false,
            jobs: 4,
            verified: false,
            is_dry: false,
            remote: true,
            limits: vec!["writes limited by the path, which is full".to_owned()],
        };
        assert_eq!(
            as_text(&totals),
            "3 files copied, 2.0 MB in 2.00 s (1.0 MB/s)\n  1 directory\n  writes limited by the path, which is full\n"
        );
        let sparse = Figures { copied_bytes: 9_000_000_000, hole_bytes: 8_998_000_000, ..figures() };
        let text = as_text(&CopyTotals { figures: sparse, limits: Vec::new(), ..totals });
        let expected =
            "3 files copied, 2.0 MB in 2.00 s (1.0 MB/s)\n  1 directory\n  9.0 GB of zeros became holes\n";
        assert_eq!(text, expected, "holes are not moved");
        let totals =
            CopyTotals { limits: vec!["writes limited by the path, which is full".to_owned()], ..totals };
        let figures = Figures { errors: 2, resumed_files: 1, resumed_bytes: 1000, ..figures() };
        let figures = Figures { left_out_set_id: 1, left_out_devices: 2, ..figures };
        let dry = as_text(&CopyTotals {
            figures: Figures { removed: 2, ..figures },
            is_dry: true,
            limits: Vec::new(),
            ..totals
        });
        assert!(dry.starts_with("dry run, nothing was changed: 3 files (2.0 MB) would be copied\n"), "{dry}");
        assert!(dry.contains("  2 names would be deleted\n"), "{dry}");
        let text = as_text(&CopyTotals { figures, stopped: true, verified: true, ..totals });
        for part in ["set-ID bits of 1 file left out; --set-id", "2 devices left out; --devices"] {
            assert!(text.contains(part), "{part} in\n{text}");
        }
        for part in
            ["1 file resumed", "1.0 kB were there", "verified: nothing\n", "2 errors", "the same command"]
        {
            assert!(text.contains(part), "{part} in\n{text}");
        }
    }

    #[test]
    fn what_was_not_read_back_is_said() {
        let said = |verified_files, kept| {
            let figures = Figures { verified_files, kept, ..figures() };
            verified(&CopyTotals {
                figures,
                seconds: 2.0,
                stopped: false,
                jobs: 4,
                verified: true,
                is_dry: false,
                remote: true,
                limits: Vec::new(),
            })
        };
        assert_eq!(said(0, 0), "verified: nothing");
        assert_eq!(said(0, 1), "verified: nothing (1 unchanged file was not read)");
        assert!(said(3, 0).ends_with("may have answered from memory)"));
        assert!(said(3, 2).ends_with("from memory); 2 unchanged files were not read"));
    }

    #[test]
    fn json_has_every_figure() {
        let totals = CopyTotals {
            figures: figures(),
            seconds: 2.0,
            stopped: false,
            jobs: 4,
            verified: false,
            is_dry: false,
            remote: true,
            limits: vec!["writes limited by the path, which is full".to_owned()],
        };
        let value = as_json(&totals);
        assert_eq!(
            (&value["copied_bytes"], &value["files"], &value["errors"]),
            (&json!(2_000_000), &json!(3), &json!(0))
        );
        assert!(value.get("found_bytes").is_none());
        assert_eq!(value["limits"], json!(["writes limited by the path, which is full"]));
    }

    #[test]
    fn progress_is_one_line_that_is_honest_about_what_is_known() {
        assert_eq!(progress_line(&figures(), 1e6), "50 %, 2.0 MB of 4.0 MB  3 files  1.0 MB/s  0:02 left");
        let some = Figures { found_all: 0, ..figures() };
        assert_eq!(progress_line(&some, 1e6), "2.0 MB of 4.0 MB+  3 files  1.0 MB/s  0:02+ left");
        assert_eq!(progress_line(&some, 0.0), "2.0 MB of 4.0 MB+  3 files  0 B/s");
    }
}
