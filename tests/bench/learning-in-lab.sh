# SPDX-License-Identifier: GPL-2.0-or-later
# One run of the stock kernel under the agent's mixed stress, sampled for SECONDS_EACH with this SEED. OPTIONS: more of them.
# The options are words.
# shellcheck disable=SC2086
timeout -k 20 $((SECONDS_EACH + 200)) outrider run --kernel vmlinuz --initrd initrd.img --append "quiet -- busy:$((SECONDS_EACH + 600)) poweroff" \
	--rate 1000 --delay 3000 --duration "${SECONDS_EACH}s" --seed "$SEED" --json "$LAB_OUT/races.json" --coverage "$LAB_OUT/coverage.json" \
	--console "$LAB_OUT/console.log" ${OPTIONS:-}
