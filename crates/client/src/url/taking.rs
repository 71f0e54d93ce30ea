//! Taking the options of a URL, one after the other.

use super::UrlError;
use super::option_table::KNOWN_OPTIONS;
use super::options::UrlOptions;
use super::refusal::Refusal;

/// Takes one `name=value` of a URL.
pub(super) fn take(options: &mut UrlOptions, name: &str, value: &str) -> Result<(), UrlError> {
    let known = KNOWN_OPTIONS.iter().find(|known| known.name == name);
    let known = known.ok_or_else(|| UrlError::UnknownOption(name.to_owned()))?;
    (known.set)(options, value).map_err(|refusal| match refusal {
        Refusal::Value => UrlError::OptionValue {
            option: known.name.to_owned(),
            value: value.to_owned(),
            takes: known.takes,
        },
        Refusal::Unsupported(why) => UrlError::Unsupported { option: format!("{name}={value}"), why },
    })
}
