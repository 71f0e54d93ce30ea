# What a guest does here once it has booted: one job, whose exit code it leaves.
code=0
sh -eu "$WORK/scripts/$JOB" >"$WORK/log/$JOB_LOG" 2>&1 </dev/null || code=$?
echo "$code" >"$WORK/job.code.new"
mv "$WORK/job.code.new" "$WORK/job.code"
