//! One `[[share]]` of the file: how much of what is short the clients of some networks get.

use howdah_server::ShareRule;
use toml::Spanned;
use toml::de::DeValue;

use super::Problem;
use super::network_table::clients;
use super::section::{Section, kind, number};

/// The largest weight.
const WEIGHT_MAX: u64 = 100;

/// Reads all of them; an entry for each network. Whatever is wrong is among the problems.
pub fn shares(section: &mut Section<'_, '_>) -> Vec<ShareRule> {
    let Some(value) = section.raw("share") else { return Vec::new() };
    let DeValue::Array(items) = value.get_ref() else {
        let what = format!("`share`: expected [[share]] in double brackets, found {}", kind(value.get_ref()));
        section.problem(value.span(), what);
        return Vec::new();
    };
    items.iter().flat_map(|item| share(item, section.problems())).collect()
}

fn share(value: &Spanned<DeValue<'_>>, problems: &mut Vec<Problem>) -> Vec<ShareRule> {
    let DeValue::Table(table) = value.get_ref() else {
        let what = format!("`share`: expected [[share]], found {}", kind(value.get_ref()));
        problems.push(Problem { place: Some(value.span()), what, help: None });
        return Vec::new();
    };
    let mut section = Section::new("[[share]]", table, value.span(), problems);
    let clients = section.required("clients", "clients = \"10.0.0.0/8\"", clients);
    let weight = section.required("weight", "weight = 4", number(1..=WEIGHT_MAX));
    section.finish();
    let (Some(clients), Some(weight)) = (clients, weight) else { return Vec::new() };
    let weight = u32::try_from(weight.into_inner()).expect("the range fits");
    clients.into_inner().into_iter().map(|clients| ShareRule { clients, weight }).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::load_text;
    use super::*;

    fn load(shares: &str) -> Result<Vec<ShareRule>, String> {
        let file = format!("{shares}\n[[export]]\nname = '/x'\npath = '/usr'\n");
        let config = load_text(Path::new("x"), file).map_err(|error| error.to_string())?;
        Ok(config.shares)
    }

    #[test]
    fn each_network_has_a_weight() {
        let shares = load("[[share]]\nclients = ['10.0.0.0/8', '*']\nweight = 4\n").expect("it is good");
        assert_eq!((shares.len(), shares[0].weight), (2, 4));
        for (text, why) in [
            ("[[share]]\nclients = '*'\n", "without `weight`"),
            ("[[share]]\nweight = 2\n", "without `clients`"),
            ("[[share]]\nclients = '*'\nweight = 0\n", "from 1 to 100"),
            ("share = 1\n", "double brackets"),
        ] {
            let error = load(text).expect_err(text);
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
