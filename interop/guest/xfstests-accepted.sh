# Tests of xfstests that fail over NFS, each with its reason. One that passes all the same fails the job.
accepted() { :; }
