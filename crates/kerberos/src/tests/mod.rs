//! With a real realm: a KDC of this test's own, MIT's library in helpers, and MIT's tokens against ours.

mod helpers;
mod tokens;

use howdah_confine::{ConfinementPlan, Reach, confine};

use crate::HelperSettings;
use crate::realm::{Realm, be_a_helper};

/// The variable that names the directory of a realm to a helper.
const DIRECTORY: &str = "HOWDAH_TEST_DIRECTORY";

/// A helper that is this program, confined as a server's is.
fn settings(realm: &Realm) -> HelperSettings {
    realm.helper("tests::a_process_is_a_helper_when_asked_to").with(DIRECTORY, realm.directory())
}

/// What the helpers of other tests run: this program has no other way to be one.
#[test]
fn a_process_is_a_helper_when_asked_to() {
    be_a_helper(|| {
        let directory = std::env::var_os(DIRECTORY).expect("a directory");
        let reach = Reach { own: vec![directory.into()], ..Reach::default() };
        let _ = confine(&ConfinementPlan { low_ports: false, files: Ok(reach), system_calls: Ok(()) });
    });
}
