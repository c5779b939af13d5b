# SPDX-License-Identifier: GPL-2.0-or-later
# campaign.sh outrider run ARGUMENT...: a run of a campaign, whose guest is told which cases are found. For that it must not be --quiet.
# With a file `strike`, outrider is killed after so many seconds.
. ./told.sh

for word; do
	shift
	[ "$word" = --quiet ] || set -- "$@" "$word"
done
console_input tell
if [ -e strike ]; then
	{
		sleep "$(cat strike)"
		until_true [ -s tell.pid ]
		kill -KILL "$(cat tell.pid)"
	} &
fi
told tell "$@"
