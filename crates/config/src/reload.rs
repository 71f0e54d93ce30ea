//! What a reload can change, and what waits for a restart.

use std::path::PathBuf;

use howdah_tls::ServerFiles;

use super::{ExportConfig, KerberosConfig, ServerConfig, Source, asks_kerberos};

impl ServerConfig {
    /// What holds after a reload of `new`: its exports, as far as they can change while they are served, and the
    /// server's settings as they were. Also the names of the settings that wait for a restart.
    ///
    /// # Errors
    /// An id that moves to another directory: handles in the hands of clients would lead there. The first export with Kerberos: the
    /// process that reads the keytab starts with the server.
    pub fn reloaded(&self, new: Self) -> Result<(Self, Vec<String>), String> {
        if asks_kerberos(&new.exports) && !asks_kerberos(&self.exports) {
            return Err("no export took Kerberos (sec) until now; restart howdah to apply it".to_owned());
        }
        let mut waiting: Vec<String> =
            self.differing(&new).into_iter().map(|name| format!("`{name}`")).collect();
        let mut exports = new.exports;
        for export in &mut exports {
            let Some(old) = self.exports.iter().find(|old| old.id == export.id) else { continue };
            if !old.source.is_same_place(&export.source) {
                return Err(moved(export, &old.source));
            }
            if old.source != export.source {
                waiting.push(format!("the size or the options of export {}", export.name));
                export.source = old.source.clone();
            }
            if old.durability != export.durability {
                waiting.push(format!("`durability` of export {}", export.name));
                export.durability = old.durability;
            }
            if (old.caching, &old.disk_cache) != (export.caching, &export.disk_cache) {
                waiting.push(format!("the caches of export {}", export.name));
                export.caching = old.caching;
                export.disk_cache.clone_from(&old.disk_cache);
            }
            if old.cross_mounts != export.cross_mounts {
                waiting.push(format!("`cross_mounts` of export {}", export.name));
                export.cross_mounts = old.cross_mounts;
            }
        }
        let kerberos = KerberosConfig { keytab: self.kerberos.keytab.clone(), ..new.kerberos };
        Ok((Self { exports, kerberos, caps: new.caps, shares: new.shares, ..self.clone() }, waiting))
    }

    fn differing(&self, new: &Self) -> Vec<&'static str> {
        let of_tls =
            |file: fn(&ServerFiles) -> &PathBuf| self.tls.as_ref().map(file) != new.tls.as_ref().map(file);
        let differs = [
            ("listen", self.listen != new.listen),
            ("udp", self.udp != new.udp),
            ("udp_sockets", self.udp_sockets.sockets != new.udp_sockets.sockets),
            ("udp_per_interface", self.udp_sockets.per_interface != new.udp_sockets.per_interface),
            ("quic", self.quic != new.quic),
            ("workers", self.workers != new.workers),
            ("state", self.state != new.state),
            ("rpcbind", self.rpcbind != new.rpcbind),
            ("nfs4", self.nfs4 != new.nfs4),
            ("acls", self.acls != new.acls),
            ("lease", self.lease != new.lease),
            ("manage_gids", self.manage_gids != new.manage_gids),
            ("quotas", self.quotas != new.quotas),
            ("admin", self.admin != new.admin),
            ("admin_listen", self.admin_listen != new.admin_listen),
            ("tls_certificate", of_tls(|tls| &tls.certificate)),
            ("tls_key", of_tls(|tls| &tls.key)),
            ("tls_client_ca", self.client_ca() != new.client_ca()),
            ("tls_client_crl", self.client_crl() != new.client_crl()),
            ("keytab", self.kerberos.keytab != new.kerberos.keytab),
            ("cluster", self.cluster != new.cluster),
            ("metrics", self.metrics.address != new.metrics.address),
            ("metrics_clients", self.metrics.clients != new.metrics.clients),
            ("sandbox", self.sandbox != new.sandbox),
            ("tuning", self.tuning.enabled != new.tuning.enabled),
            ("tcp_sndbuf", self.tuning.send_buffer != new.tuning.send_buffer),
            ("tcp_rcvbuf", self.tuning.receive_buffer != new.tuning.receive_buffer),
            ("tcp_congestion", self.tuning.congestion != new.tuning.congestion),
            ("memory_budget", self.tuning.memory_budget != new.tuning.memory_budget),
            ("network", self.tuning.networks != new.tuning.networks),
            ("log", self.log != new.log),
            ("log_format", self.log_format != new.log_format),
        ];
        differs.into_iter().filter(|(_, differs)| *differs).map(|(name, _)| name).collect()
    }
}

impl ServerConfig {
    fn client_ca(&self) -> &[PathBuf] {
        self.tls.as_ref().map_or(&[], |tls| &tls.authorities)
    }

    fn client_crl(&self) -> &[PathBuf] {
        self.tls.as_ref().map_or(&[], |tls| &tls.revocations)
    }
}

fn moved(export: &ExportConfig, from: &Source) -> String {
    format!(
        "export {} keeps its id {} but moves from {from} to {}; restart howdah to apply it",
        export.name, export.id, export.source
    )
}

#[cfg(test)]
mod tests {
    use crate::testing::one_export;
    use crate::{Durability, Source};

    #[test]
    fn rules_change_at_once_and_the_rest_waits() {
        let old = one_export();
        let mut new = one_export();
        new.workers = 9;
        new.exports[0].durability = Durability::Async;
        new.exports[0].clients.clear();
        let (held, waiting) = old.reloaded(new).expect("accepted");
        assert_eq!(waiting, ["`workers`", "`durability` of export /data"]);
        assert_eq!(held.workers, old.workers);
        assert_eq!(held.exports[0].durability, Durability::Sync);
        assert!(held.exports[0].clients.is_empty());
    }

    #[test]
    fn another_size_of_memory_waits() {
        let (mut old, mut new) = (one_export(), one_export());
        (old.exports[0].source, new.exports[0].source) = (Source::Memory(1 << 20), Source::Memory(2 << 20));
        let (held, waiting) = old.reloaded(new).expect("accepted");
        assert_eq!(held.exports[0].source, Source::Memory(1 << 20));
        assert_eq!(waiting, ["the size or the options of export /data"]);
    }

    #[test]
    fn principals_change_at_once_and_the_first_ticket_waits() {
        let (old, mut new) = (one_export(), one_export());
        new.kerberos.keytab = Some("/k".into());
        new.kerberos.principals.realms.push("A.ORG".to_owned());
        let (held, waiting) = old.reloaded(new.clone()).expect("accepted");
        assert_eq!((waiting, held.kerberos.keytab), (vec!["`keytab`".to_owned()], None));
        assert_eq!(held.kerberos.principals.realms, ["A.ORG"]);
        new.exports[0].clients[0].access.sec = crate::parse_flavors("krb5").expect("one");
        assert!(old.reloaded(new.clone()).expect_err("no helper runs").contains("restart howdah"));
        assert!(new.reloaded(new.clone()).is_ok());
    }

    #[test]
    fn an_id_does_not_move() {
        let mut new = one_export();
        new.exports[0].source = Source::Directory("/srv/other".into());
        assert!(one_export().reloaded(new).expect_err("refused").contains("restart howdah to apply it"));
    }
}
