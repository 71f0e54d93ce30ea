# Another howdah's export through howdah.
. "$WORK/scripts/lib.sh"
. "$WORK/scripts/relay.sh"
relay "nfs://127.0.0.1:2049/"
through_relay
expect_on_server large
