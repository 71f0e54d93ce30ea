# The export of NFS-Ganesha, which runs on the host, through howdah.
. "$WORK/scripts/lib.sh"
. "$WORK/scripts/relay.sh"
on_host "command -v ganesha.nfsd" || skip "ganesha.nfsd is not installed"
on_host "
    mkdir -p /run/ganesha /var/lib/nfs/ganesha \"$WORK/ganesha\"
    mount -t tmpfs -o mode=777 origin \"$WORK/ganesha\"
    cat >\"$WORK/ganesha.conf\" <<END
NFS_CORE_PARAM { NFS_Port = 2051; MNT_Port = 20051; Protocols = 3; Enable_NLM = false; Enable_RQUOTA = false; }
EXPORT { Export_Id = 1; Path = \"$WORK/ganesha\"; Pseudo = /origin; Protocols = 3; Access_Type = RW; Squash = None;
    SecType = sys; FSAL { Name = VFS; } }
END
    ganesha.nfsd -F -L \"$WORK/log/ganesha.txt\" -f \"$WORK/ganesha.conf\" -p \"$WORK/ganesha.pid\" &
    for try in \$(seq 600); do
        ! grep -q 'NFS SERVER INITIALIZED' \"$WORK/log/ganesha.txt\" || exit 0
        sleep 0.1
    done
    exit 1
" || fail "Ganesha does not serve: $(tail -3 "$WORK/log/ganesha.txt")"
relay "nfs://127.0.0.1$WORK/ganesha?nfsport=2051&mountport=20051"
through_relay
on_host "sha256sum <\"$WORK/ganesha/large\" >\"$WORK/ganesha.sum\""
equal "$(cat "$WORK/ganesha.sum")" "$(sha256sum </mnt/n/large)" "checksum of the file on the origin"
