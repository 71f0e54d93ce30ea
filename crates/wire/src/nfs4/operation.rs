//! The numbers of all operations (RFC 8881 18, RFC 7862 15, RFC 8276 8.4, `nfs_opnum4`), and which minor version has them.

macro_rules! operations {
    ($($name:ident = $number:literal,)*) => {
        /// The RFC's name of an operation.
        pub const fn name(operation: u32) -> Option<&'static str> {
            match operation {
                $($number => Some(stringify!($name)),)*
                ILLEGAL => Some("ILLEGAL"),
                _ => None,
            }
        }
    };
}

/// Stands in the result for a number that no operation has (`OP_ILLEGAL`).
pub const ILLEGAL: u32 = 10044;

/// Whether a minor version has an operation of this number, supported or not: if not, the answer is NFS4ERR_OP_ILLEGAL, and
/// [`ILLEGAL`] stands for the number.
pub fn exists(operation: u32, minor_version: u32) -> bool {
    let last = match minor_version {
        0 => 39,
        1 => 58,
        _ => 75,
    };
    (3..=last).contains(&operation)
}

operations! {
    ACCESS = 3,
    CLOSE = 4,
    COMMIT = 5,
    CREATE = 6,
    DELEGPURGE = 7,
    DELEGRETURN = 8,
    GETATTR = 9,
    GETFH = 10,
    LINK = 11,
    LOCK = 12,
    LOCKT = 13,
    LOCKU = 14,
    LOOKUP = 15,
    LOOKUPP = 16,
    NVERIFY = 17,
    OPEN = 18,
    OPENATTR = 19,
    OPEN_CONFIRM = 20,
    OPEN_DOWNGRADE = 21,
    PUTFH = 22,
    PUTPUBFH = 23,
    PUTROOTFH = 24,
    READ = 25,
    READDIR = 26,
    READLINK = 27,
    REMOVE = 28,
    RENAME = 29,
    RENEW = 30,
    RESTOREFH = 31,
    SAVEFH = 32,
    SECINFO = 33,
    SETATTR = 34,
    SETCLIENTID = 35,
    SETCLIENTID_CONFIRM = 36,
    VERIFY = 37,
    WRITE = 38,
    RELEASE_LOCKOWNER = 39,
    BACKCHANNEL_CTL = 40,
    BIND_CONN_TO_SESSION = 41,
    EXCHANGE_ID = 42,
    CREATE_SESSION = 43,
    DESTROY_SESSION = 44,
    FREE_STATEID = 45,
    GET_DIR_DELEGATION = 46,
    GETDEVICEINFO = 47,
    GETDEVICELIST = 48,
    LAYOUTCOMMIT = 49,
    LAYOUTGET = 50,
    LAYOUTRETURN = 51,
    SECINFO_NO_NAME = 52,
    SEQUENCE = 53,
    SET_SSV = 54,
    TEST_STATEID = 55,
    WANT_DELEGATION = 56,
    DESTROY_CLIENTID = 57,
    RECLAIM_COMPLETE = 58,
    ALLOCATE = 59,
    COPY = 60,
    COPY_NOTIFY = 61,
    DEALLOCATE = 62,
    IO_ADVISE = 63,
    LAYOUTERROR = 64,
    LAYOUTSTATS = 65,
    OFFLOAD_CANCEL = 66,
    OFFLOAD_STATUS = 67,
    READ_PLUS = 68,
    SEEK = 69,
    WRITE_SAME = 70,
    CLONE = 71,
    GETXATTR = 72,
    SETXATTR = 73,
    LISTXATTRS = 74,
    REMOVEXATTR = 75,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_that_exists_has_a_name() {
        for number in (0..200).chain([ILLEGAL]) {
            assert_eq!(name(number).is_some(), exists(number, 2) || number == ILLEGAL, "{number}");
        }
        assert!(exists(58, 1) && !exists(59, 1) && exists(59, 2) && !exists(2, 1));
    }
}
