//! Reads one table of the file, setting by setting, and collects every problem instead of stopping at the first.

use std::ops::{Range, RangeInclusive};
use std::path::{Path, PathBuf};
use std::time::Duration;

use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

use super::Problem;
use crate::spelling::nearest;

/// The longest time that is believed, in seconds: a day.
const MOST_SECONDS: u64 = 86_400;

/// Settings of other servers and flags of ours, and what does the same here.
const OF_OTHERS: [(&str, &str); 5] = [
    ("port", "listen"),
    ("allow", "clients"),
    ("ro", "read_only"),
    ("root_squash", "squash"),
    ("no_root_squash", "squash"),
];

/// One table of the file, and which settings were asked of it.
pub struct Section<'s, 'f> {
    /// Its name in messages.
    called: &'static str,
    table: &'s DeTable<'f>,
    place: Range<usize>,
    known: Vec<&'static str>,
    problems: &'s mut Vec<Problem>,
}

impl<'s, 'f> Section<'s, 'f> {
    /// The table that stands at this place of the file.
    pub fn new(
        called: &'static str,
        table: &'s DeTable<'f>,
        place: Range<usize>,
        problems: &'s mut Vec<Problem>,
    ) -> Self {
        Self { called, table, place, known: Vec::new(), problems }
    }

    /// The value of a setting as `read` understands it, and its place; `None` if it is missing or wrong.
    pub fn setting<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&DeValue<'f>) -> Result<T, String>,
    ) -> Option<Spanned<T>> {
        let value = self.raw(key)?;
        match read(value.get_ref()) {
            Ok(read) => Some(Spanned::new(value.span(), read)),
            Err(what) => {
                self.problem(value.span(), format!("`{key}`: {what}"));
                None
            }
        }
    }

    /// Like [`Self::setting`], of a setting that may not be missing; `example` shows how it is written.
    pub fn required<T>(
        &mut self,
        key: &'static str,
        example: &str,
        read: impl FnOnce(&DeValue<'f>) -> Result<T, String>,
    ) -> Option<Spanned<T>> {
        if !self.table.contains_key(key) {
            self.known.push(key);
            let what = format!("{} without `{key}`", self.called);
            let help = Some(format!("every {} needs one, as in {example}", self.called));
            self.problems.push(Problem { place: Some(self.place.clone()), what, help });
            return None;
        }
        self.setting(key, read)
    }

    /// The value of a setting as it stands.
    pub fn raw(&mut self, key: &'static str) -> Option<&'s Spanned<DeValue<'f>>> {
        self.known.push(key);
        self.table.get(key)
    }

    /// Whether a setting is there, whatever its value.
    pub fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// Where the value of a setting stands.
    pub fn place_of(&self, key: &str) -> Option<Range<usize>> {
        self.table.get(key).map(Spanned::span)
    }

    /// Notes a problem.
    pub fn problem(&mut self, place: Range<usize>, what: String) {
        self.problems.push(Problem { place: Some(place), what, help: None });
    }

    /// Notes a problem of the whole, which no place shows.
    pub fn problem_of_all(&mut self, what: String) {
        self.problems.push(Problem { place: None, what, help: None });
    }

    /// The list of problems, for a table inside this one.
    pub fn problems(&mut self) -> &mut Vec<Problem> {
        self.problems
    }

    /// To be called last: every setting that nobody asked for is one that does not exist.
    pub fn finish(self) {
        for key in self.table.keys().filter(|key| !self.known.contains(&key.get_ref().as_ref())) {
            self.problems.push(Problem {
                place: Some(key.span()),
                what: format!("{} has no setting `{}`", self.called, key.get_ref()),
                help: Some(self.instead_of(key.get_ref())),
            });
        }
    }

    /// What was probably meant, or all that there is.
    fn instead_of(&self, key: &str) -> String {
        let of_others = OF_OTHERS.iter().find(|(other, _)| *other == key).map(|(_, ours)| *ours);
        let meant = of_others.filter(|ours| self.known.contains(ours));
        match meant.or_else(|| nearest(key, self.known.iter().copied())) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("its settings are: {}", self.known.join(", ")),
        }
    }
}

/// A string.
pub fn text<'v>(value: &'v DeValue<'_>) -> Result<&'v str, String> {
    value.as_str().ok_or_else(|| format!("expected a string in quotes, found {}", kind(value)))
}

/// `true` or `false`.
pub fn truth(value: &DeValue<'_>) -> Result<bool, String> {
    value.as_bool().ok_or_else(|| format!("expected true or false without quotes, found {}", kind(value)))
}

/// A whole number in a range.
pub fn number(range: RangeInclusive<u64>) -> impl FnOnce(&DeValue<'_>) -> Result<u64, String> {
    move |value| {
        let said = || format!("expected a whole number from {} to {}", range.start(), range.end());
        let digits = value.as_integer().ok_or_else(|| format!("{}, found {}", said(), kind(value)))?;
        whole(digits).filter(|number| range.contains(number)).ok_or_else(said)
    }
}

/// A time in seconds, for which something is believed.
pub fn seconds(value: &DeValue<'_>) -> Result<Duration, String> {
    number(0..=MOST_SECONDS)(value).map(Duration::from_secs)
}

/// A size may be a number of bytes or a text with a unit, and a number may be the word `auto`.
pub fn size<T>(parse: fn(&str) -> Result<T, String>) -> impl FnOnce(&DeValue<'_>) -> Result<T, String> {
    move |value| match value {
        // In decimal, however it is written in the file: what parses knows no other.
        DeValue::Integer(number) => {
            parse(&whole(number).map_or_else(|| number.to_string(), |number| number.to_string()))
        }
        value => parse(text(value)?),
    }
}

/// A user or group id.
pub fn identity(value: &DeValue<'_>) -> Result<u32, String> {
    // The largest number means "no change" to the system, so it is nobody's.
    let number = number(0..=u64::from(u32::MAX - 1))(value)?;
    Ok(u32::try_from(number).expect("the range fits"))
}

fn whole(digits: &DeInteger<'_>) -> Option<u64> {
    u64::from_str_radix(digits.as_str(), digits.radix()).ok()
}

/// What a value is, in words.
pub fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "a number",
        DeValue::Float(_) => "a floating-point number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

/// A path from the root.
///
/// # Errors
/// It is no text, or begins elsewhere.
pub fn absolute(value: &DeValue<'_>) -> Result<PathBuf, String> {
    let path = Path::new(text(value)?);
    if path.is_absolute() {
        Ok(path.to_owned())
    } else {
        Err("expected a path that starts with a slash".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_whole() {
        let table = DeTable::parse("workers = 4.5").expect("it is TOML");
        assert_eq!(
            number(1..=1024)(table.get_ref()["workers"].get_ref()),
            Err("expected a whole number from 1 to 1024, found a floating-point number".to_owned())
        );
    }

    #[test]
    fn a_setting_that_is_none_names_the_one_that_was_meant() {
        for (text, help) in [
            ("lisen = 1", "did you mean `listen`?"),
            ("port = 1", "did you mean `listen`?"),
            ("zzz = 1", "its settings are: listen, workers"),
        ] {
            let table = DeTable::parse(text).expect("it is TOML");
            let mut problems = Vec::new();
            let mut section = Section::new("the file", table.get_ref(), 0..0, &mut problems);
            assert!(section.raw("listen").is_none() && section.raw("workers").is_none());
            section.finish();
            assert_eq!(problems[0].help.as_deref(), Some(help));
        }
    }

    #[test]
    fn a_size_may_be_written_in_any_radix() {
        let read = |text: &str| {
            let file = format!("size = {text}");
            let table = DeTable::parse(&file).expect("it is TOML");
            size(|text| text.parse::<u64>().map_err(|_| text.to_owned()))(table.get_ref()["size"].get_ref())
        };
        for text in ["536870912", "536_870_912", "0x20000000", "0x2000_0000", "0o4000000000", "'536870912'"] {
            assert_eq!(read(text), Ok(512 << 20), "{text}");
        }
        assert_eq!(read("0b10000000_00000000"), Ok(1 << 15));
        for text in ["-5", "0x1_0000_0000_0000_0000"] {
            assert_eq!(read(text), Err(text.replace('_', "")), "{text}");
        }
    }
}
