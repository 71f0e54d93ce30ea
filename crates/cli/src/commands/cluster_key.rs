//! `howdah cluster-key`.

use howdah_daemon::host::make_cluster_key;

use super::Failure;
use crate::arguments::ClusterKeyArguments;
use crate::report;

/// Makes the secret, and says what to do with it.
pub fn run(arguments: &ClusterKeyArguments) -> Result<(), Failure> {
    make_cluster_key(&arguments.file)?;
    if arguments.quiet {
        return Ok(());
    }
    let file = std::path::absolute(&arguments.file).unwrap_or_else(|_| arguments.file.clone());
    let file = file.display();
    report::print(&format!(
        "key           {file}: copy it to every head (scp -p), and keep it from everybody else\n\n\
         In the configuration of every head:\n  [cluster]\n  id = \"storage\"\n  key_file = \"{file}\"\n\n\
         Then compare the heads:\n  howdah check --cluster HEAD HEAD\n"
    ));
    Ok(())
}
