# The exerciser's two halves: one file's bytes, and a directory's names, each against a model.
. "$WORK/scripts/lib.sh"
mount_export
mkdir /mnt/n/names
"$TOOL" exercise-file --seed "$SEED" --seconds "$SECONDS_EACH" /mnt/n/exercised
"$TOOL" exercise-names --drop-caches --seed "$SEED" --seconds "$((SECONDS_EACH / 4))" /mnt/n/names
drop_caches
expect_on_server exercised
