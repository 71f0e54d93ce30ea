//! `howdah certificate`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::RangedU64ValueParser;

/// Default validity of certificates, in days.
const DAYS: u64 = 825;
/// The longest that may be asked for, in days.
const MOST_DAYS: u64 = 3650;

/// Create TLS certificates: a small CA, and certificates that it issues to servers and clients
///
/// The first call creates the CA: DIR/ca.pem, which every client and server needs, and DIR/ca.key, which must stay secret. Each
/// call issues the certificates that you ask for, as NAME.pem and NAME.key. Only their owner can read keys, and no file is
/// overwritten. Without --server and --client, it issues a certificate for this host.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub struct CertificateArguments {
    /// Directory of the files; created if it is missing
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,

    /// Issue a certificate to a server: its host names and addresses, separated by commas; the first one names the files
    ///
    /// Clients check the name that they mount by. Linux checks the name that the server's address has in the DNS
    /// (reverse look-up): name that one too.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', value_parser = parse_certificate_name)]
    pub server: Vec<String>,

    /// Issue a certificate to a client, for exports with tls = "client-certificate" (xprtsec=mtls)
    #[arg(long, value_name = "NAME", value_parser = parse_certificate_name)]
    pub client: Option<String>,

    /// The user that the client acts for, in exports with squash = "certificate"; the server looks up the name before the @
    #[arg(long, value_name = "USER@DOMAIN", requires = "client")]
    pub user: Option<String>,

    /// Revoke a certificate that this CA issued: add it to DIR/ca.crl, the file for tls_client_crl (--tls-client-crl)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["server", "client"])]
    pub revoke: Option<PathBuf>,

    /// Days that the issued certificates are valid; the CA is valid for ten years
    #[arg(long, value_name = "N", default_value_t = DAYS, value_parser = RangedU64ValueParser::<u64>::new().range(1..=MOST_DAYS))]
    pub days: u64,

    /// Print nothing but errors
    #[arg(short, long)]
    pub quiet: bool,

    /// Print one JSON object, for machines: the files, their names, and when they expire
    #[arg(long)]
    pub json: bool,
}

const EXAMPLES: &str = "\
Examples:
  howdah certificate /etc/howdah/tls
      A CA, and a certificate for this host by its name and addresses.
  howdah certificate /etc/howdah/tls --server nfs.example.org,10.0.0.7
      A certificate for another server.
  howdah certificate /etc/howdah/tls --client backup.example.org
      A certificate for a client.
  howdah certificate /etc/howdah/tls --revoke /etc/howdah/tls/backup.example.org.pem
      Servers with --tls-client-crl /etc/howdah/tls/ca.crl refuse that client from now on.

Exit code: 0 success, 1 a file exists already or cannot be written, 2 wrong arguments.
";

/// A name in a certificate, which names its files, too.
fn parse_certificate_name(text: &str) -> Result<String, String> {
    let is_wrong = |letter: char| {
        letter.is_whitespace() || letter.is_control() || matches!(letter, '/' | '\\' | '"' | '\'')
    };
    match text.is_empty() || text.starts_with('.') || text.starts_with('-') || text.contains(is_wrong) {
        true => Err("a name has no spaces, quotes or slashes, as in backup.example.org".to_owned()),
        false => Ok(text.to_owned()),
    }
}
