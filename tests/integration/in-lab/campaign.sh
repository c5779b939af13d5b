# SPDX-License-Identifier: GPL-2.0-or-later
# campaign.sh outrider run ARGUMENT...: a run of a campaign, whose guest is told which cases are found. For that it must not be --quiet.
. ./told.sh

for word; do
	shift
	[ "$word" = --quiet ] || set -- "$@" "$word"
done
console_input tell
told tell "$@"
