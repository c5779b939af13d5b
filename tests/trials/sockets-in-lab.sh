# SPDX-License-Identifier: GPL-2.0-or-later
# In the lab: a guest for each FAMILY:MODULES of SUBJECTS, sampled for SECONDS_EACH. A guest whose kernel dies ends its run, and keeps its report.
# shellcheck disable=SC2086 # OPTIONS is several words.
for pair in $SUBJECTS; do
	family=${pair%%:*}
	outrider run --kernel vmlinuz --initrd "$family.img" --memory 512 --cpus 2 --append "quiet loglevel=1 family=$family" --module "${pair#*:}" \
		--console "$LAB_OUT/$family.console" --duration "${SECONDS_EACH}s" --seed "$SEED" --json "$LAB_OUT/$family.json" $OPTIONS || echo "$family: status $?"
done
