//! The name of a file that another host's file kept from having its own.

use std::time::{SystemTime, UNIX_EPOCH};

use howdah_vfs::Name;

use super::order::ChangeNumber;

/// The name beside which it goes, when, and which change it was: `NAME.conflict-20261128T181503-77`, in UTC.
pub fn conflict_name(name: &[u8], number: ChangeNumber) -> Vec<u8> {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let suffix = format!(".conflict-{}-{number}", stamp(seconds));
    let kept = name.len().min(Name::MAX - suffix.len());
    [&name[..kept], suffix.as_bytes()].concat()
}

/// A time in UTC as `YYYYMMDDThhmmss`: the civil calendar counted in eras of 400 years that begin in March.
fn stamp(seconds: u64) -> String {
    let (days, of_day) = (seconds / 86_400 + 719_468, seconds % 86_400);
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let (day, month) =
        (of_year - (153 * shifted + 2) / 5 + 1, if shifted < 10 { shifted + 3 } else { shifted - 9 });
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let (hour, minute, second) = (of_day / 3_600, of_day / 60 % 60, of_day % 60);
    format!("{year:04}{month:02}{day:02}T{hour:02}{minute:02}{second:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conflict_says_when_it_was() {
        assert_eq!(stamp(0), "19700101T000000");
        assert_eq!(stamp(951_827_696), "20000229T123456");
        assert_eq!(stamp(1_796_083_199), "20261130T235959");
        assert_eq!(conflict_name(&[b'x'; 255], 7).len(), 255);
        assert!(conflict_name(b"file", 7).starts_with(b"file.conflict-2"));
    }
}
