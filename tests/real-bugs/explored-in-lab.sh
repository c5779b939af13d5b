# SPDX-License-Identifier: GPL-2.0-or-later
# In a lab: outrider explore of PREPARE, A and B, with APPEND, MEMORY, and OPTIONS, a word each. What comes back: json, err, console, status.
status=0
# The options are words.
# shellcheck disable=SC2086
outrider explore --kernel vmlinuz --initrd initrd.img --append "$APPEND" --memory "$MEMORY" --console "$LAB_OUT/console" --prepare "$PREPARE" --a "$A" --b "$B" \
	--format json $OPTIONS >"$LAB_OUT/json" 2>"$LAB_OUT/err" || status=$?
cat "$LAB_OUT/err"
echo $status >"$LAB_OUT/status"
