# NFS-Ganesha that speaks only NFSv4 and runs on the host, through howdah: for clients of version 3 and 4.2, with the relay killed while they
# write and while they have files open. Some of its handles have more than 64 bytes.
. "$WORK/scripts/lib.sh"
. "$WORK/scripts/relay.sh"
on_host "command -v ganesha.nfsd" || skip "ganesha.nfsd is not installed"
on_host "
    mkdir -p /run/ganesha /var/lib/nfs/ganesha \"$WORK/ganesha\"
    mount -t tmpfs -o mode=777 origin \"$WORK/ganesha\"
    cat >\"$WORK/ganesha.conf\" <<END
NFS_CORE_PARAM { NFS_Port = 2051; Protocols = 4; Enable_NLM = false; Enable_RQUOTA = false; }
NFSV4 { Graceless = true; Minor_Versions = 1, 2; }
EXPORT { Export_Id = 1; Path = \"$WORK/ganesha\"; Pseudo = /origin; Protocols = 4; Access_Type = RW; Squash = None;
    SecType = sys; FSAL { Name = VFS; } }
END
    ganesha.nfsd -F -L \"$WORK/log/ganesha.txt\" -f \"$WORK/ganesha.conf\" -p \"$WORK/ganesha.pid\" &
    for try in \$(seq 600); do
        ! grep -q 'NFS SERVER INITIALIZED' \"$WORK/log/ganesha.txt\" || exit 0
        sleep 0.1
    done
    exit 1
" || fail "Ganesha does not serve: $(tail -3 "$WORK/log/ganesha.txt")"
relay_killed 'nfs://127.0.0.1:2051/origin?version=4' "$WORK/ganesha" on_host
