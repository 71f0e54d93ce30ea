//! What people type: URLs, sizes, paths of networks, plans. Wrong ones are refused with words; right ones mean what they say.

use howdah_client::url::NfsUrl;
use howdah_lab::plan::Plan;
use howdah_link::PathSpec;
use howdah_server::tuning::{parse_memory_budget, parse_receive_buffer, parse_send_buffer};

/// The first byte says what it is, the rest is the text.
pub fn run(input: &[u8]) {
    let Some((kind, text)) = input.split_first() else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    match kind % 4 {
        0 => url(text),
        1 => sizes(text),
        2 => path(text),
        _ => plan(text),
    }
}

fn url(text: &str) {
    match text.parse::<NfsUrl>() {
        Ok(url) => {
            assert!(NfsUrl::is_meant(text));
            assert!(
                url.path.iter().all(|name| !name.is_empty() && !name.contains(&b'/') && !name.contains(&0))
            );
            assert_ne!(url.host, "");
            let shown = url.to_string();
            assert_eq!(shown.parse::<NfsUrl>().expect("shown as it is typed"), url, "{shown}");
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

fn sizes(text: &str) {
    for parse in [parse_send_buffer, parse_receive_buffer, parse_memory_budget] {
        if let Err(why) = parse(text) {
            assert!(!why.is_empty());
        }
    }
}

fn path(text: &str) {
    let Ok(spec) = toml::from_str::<PathSpec>(text) else { return };
    drop(spec.build::<Vec<u8>>(7));
}

fn plan(text: &str) {
    if let Err(error) = Plan::parse("fuzzed.toml", text) {
        assert!(!error.to_string().is_empty());
    }
}
