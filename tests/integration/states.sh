# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by scripts in the labs that test the confinement of processes.

# states FOLDER...: the state of processes or threads by their folders in /proc, one line each. One that has ended meanwhile has none.
states() {
	for task in "$@"; do
		state=$(sed -n 's/^\(Name\|Uid\|CapEff\|NoNewPrivs\|Seccomp\):\t/\1=/p' "$task/status" | tr '\t\n' ',;')
		[ -z "$state" ] || echo "$state"
	done
}
