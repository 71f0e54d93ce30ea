//! The state that NFSv4 and NLM share: clients, opens and locks in one table, what is done outside because of them, and the file
//! with what must survive a restart. Knows neither protocol's handlers.

mod caller;
mod client_news;
mod delegated_children;
mod delegating;
mod file_changes;
mod file_key;
mod gone_files;
mod head_log;
mod head_records;
mod head_report;
mod head_run;
mod head_settings;
mod host_mirror;
mod lock_hosts;
mod lock_news;
mod locking;
mod log_trouble;
mod options;
mod own_rights;
mod private_files;
mod recalling;
mod record_file;
mod record_line;
mod record_log;
mod returns;
mod serving;
mod serving_head;
mod session_data;
mod state_number;
#[allow(clippy::module_inception, reason = "the file holds the state itself")]
mod states;
mod status;

pub use caller::{StateCaller, name_of_client};
pub use client_news::ClientNews;
pub use file_key::FileKey;
pub use head_report::{HeadClient, HeadReport, SeenHead, seen_heads};
pub use head_settings::HeadSettings;
pub use host_mirror::LocalLock;
pub use lock_hosts::{KnownHost, LockHost, LockHosts};
pub use lock_news::{GrantTicket, LockNews};
pub use options::StateOptions;
pub use own_rights::OwnRights;
pub use private_files::{is_unwritable, private_directory, private_file, private_part, refuse_foreign};
pub use recalling::{Changer, Recalling};
pub use record_file::RecordFile;
pub use record_log::RecordLog;
pub use serving_head::ServingHead;
pub use session_data::SessionData;
pub use states::{State, States};
pub use status::status;
