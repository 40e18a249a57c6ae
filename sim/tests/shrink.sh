#!/bin/sh
# Shrinks failing seeds of programs with a planted bug, and prints a line each (docs/replaying.md).
#
#   cargo sim mutants --keep DIR --only ID...     leaves each program at DIR/ID/sim
#   sim/tests/shrink.sh COUNT DIR/ID/sim... > shrunk.tsv
#
# COUNT seeds of each program, from seed 1 on. Columns: program, token, check and recovery step that the run
# saw, steps before and after, seconds, whether the file read back fails so (true), and whether shrinking it
# again changes it (same). SIZE and REPLICAS are those of `sim run`.
set -eu
count=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
field() { sed -n "s/.*\"$1\":\"\{0,1\}\([^,\"}]*\).*/\1/p" | head -n 1; }
for program in "$@"; do
    "$program" run --json --from-seed 1 --seeds "${SEEDS:-20000}" --failures "$count" --per-group "$count" \
        --size "${SIZE:-mixed}" --replicas "${REPLICAS:-1}" --out "$work/out" > "$work/run" || true
    grep '"type":"failure"' "$work/run" | head -n "$count" > "$work/failures" || true
    while read -r failure; do
        token=$(echo "$failure" | field token)
        class="$(echo "$failure" | field check).$(echo "$failure" | field recovery_step)"
        "$program" shrink "$token" -o "$work/once.kdl" --json > "$work/line" < /dev/null || true
        "$program" shrink "$work/once.kdl" -o "$work/twice.kdl" --json > "$work/again" < /dev/null || true
        again=$(cmp -s "$work/once.kdl" "$work/twice.kdl" && echo same || echo changed)
        [ -z "${KEEP:-}" ] || cp "$work/once.kdl" "$KEEP/$(basename "$(dirname "$program")")-$token.kdl"
        kept="$(field check < "$work/line").$(field recovery_step < "$work/line")"
        [ "$kept" = "$class" ] || kept="$kept!"
        steps() { sed -n "s/.*\"$1\":{[^}]*\"steps\":\([0-9]*\).*/\1/p" "$work/line"; }
        printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$program" "$token" "$class" "$kept" "$(steps from)" \
            "$(steps to)" "$(field seconds < "$work/line")" "$(field verified < "$work/line")" "$again"
    done < "$work/failures"
done
