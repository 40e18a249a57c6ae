#!/usr/bin/env bash
# One run of the simulator dealt out over a Slurm array. See docs/scaling.md.
#
#   SEED=$(date +%s) SEEDS=8000000 OUT=$PWD/runs/$SEED sbatch --export=ALL deploy/slurm-array.sh
#
# SIM    the program (default: target/release/sim), on a disk that every node sees
# SEED   the first seed: one for all tasks
# SEEDS  how many, those of all tasks
# OUT    a directory that every node sees: one directory a task below it
# SHARDS how many tasks there are (default: 8, as the array below); `--array=0-31` goes with SHARDS=32
#
# A task that was killed, preempted or requeued goes on where it was. One that never began is made up for by itself,
# `sbatch --array=3 …`: how many tasks there are is not asked of Slurm, to which that is an array of one. So tasks are
# numbered 0 to SHARDS-1, all of them sooner or later, in any arrays (`--array=0-6:2`, then `--array=1-7:2`). When all
# of them are over:
#   "$SIM" merge "$OUT" --html "$OUT/run.html" --junit "$OUT/run.xml"

#SBATCH --job-name=sim
#SBATCH --array=0-7
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=1
#SBATCH --requeue
#SBATCH --open-mode=append

set -euo pipefail

sim=${SIM:-target/release/sim}
: "${SEED:?the first seed, one for all tasks}" "${SEEDS:?how many seeds, those of all tasks}" "${OUT:?a directory}"
out=$OUT/$SLURM_ARRAY_TASK_ID
shard=$((SLURM_ARRAY_TASK_ID + 1))/${SHARDS:-8}

if [[ -s $out/run.jsonl ]]; then
    exec "$sim" run --resume "$out" --jobs "${SLURM_CPUS_PER_TASK:-1}"
fi
exec "$sim" run --from-seed "$SEED" --seeds "$SEEDS" --shard "$shard" --jobs "${SLURM_CPUS_PER_TASK:-1}" --out "$out"
