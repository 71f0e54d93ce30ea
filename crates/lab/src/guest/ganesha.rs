//! NFS-Ganesha, a server in user space: its configuration, its flags, and how it says that it serves.

use std::path::{Path, PathBuf};

/// What one Ganesha serves. It wants an rpcbind to register with, and `/run` and `/var/lib/nfs` of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ganesha {
    /// The exported directory: the root of a file system, which is all that it reaches files through.
    pub export: PathBuf,
    /// The storage module behind it, such as `VFS`.
    pub storage: String,
    /// Where it answers NFS.
    pub nfs_port: u16,
    /// Where it answers MOUNT.
    pub mount_port: u16,
}

impl Ganesha {
    /// The program.
    pub const PROGRAM: &str = "ganesha.nfsd";
    /// What it says in its log when it serves.
    pub const SERVES: &str = "NFS SERVER INITIALIZED";
    /// Directories that it expects.
    pub const DIRECTORIES: [&str; 2] = ["/run/ganesha", "/var/lib/nfs/ganesha"];

    /// The arguments with which it runs in the foreground, with this configuration and this log (`STDOUT` is one).
    pub fn arguments(log: &Path, configuration: &Path) -> [String; 9] {
        let [log, configuration] = [log, configuration].map(|path| path.display().to_string());
        let words = ["-F", "-N", "EVENT", "-p", "/run/ganesha/pid", "-L", &log, "-f", &configuration];
        words.map(str::to_owned)
    }

    /// Its configuration: one export for everybody, and nothing that needs the system's services. Without its cache of
    /// directories, with which a listing goes round and round once entries that it has not come to are removed.
    pub fn configuration(&self) -> String {
        let Self { export, storage, nfs_port, mount_port } = self;
        format!(
            r#"NFS_CORE_PARAM {{
    Protocols = 3, 4;
    NFS_Port = {nfs_port};
    MNT_Port = {mount_port};
    Enable_UDP = true;
    Enable_NLM = false;
    Enable_RQUOTA = false;
}}
NFSv4 {{
    Graceless = true;
}}
NFS_KRB5 {{
    Active_krb5 = false;
}}
MDCACHE {{
    Dir_Chunk = 0;
}}
EXPORT {{
    Export_Id = 1;
    Path = "{export}";
    Pseudo = "{export}";
    Protocols = 3, 4;
    Transports = TCP, UDP;
    SecType = sys;
    Access_Type = RW;
    Squash = No_Root_Squash;
    FSAL {{
        Name = {storage};
    }}
}}
"#,
            export = export.display()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_told_what_to_export_and_where() {
        let ganesha =
            Ganesha { export: "/srv/x".into(), storage: "VFS".into(), nfs_port: 2049, mount_port: 20_048 };
        let text = ganesha.configuration();
        for line in ["Path = \"/srv/x\";", "Name = VFS;", "NFS_Port = 2049;", "MNT_Port = 20048;"] {
            assert!(text.lines().any(|said| said.trim() == line), "{line} in {text}");
        }
        assert_eq!(text.matches('{').count(), text.matches('}').count());
    }
}
