#!/usr/bin/env bash
# One run of the simulator dealt out over a Slurm array. See docs/scaling.md.
#
#   SEED=$(date +%s) SEEDS=8000000 OUT=$PWD/runs/$SEED sbatch --export=ALL deploy/slurm-array.sh
#
# SIM    the program (default: target/release/sim), on a disk that every node sees
# SEED   the first seed: one for all tasks
# SEEDS  how many, those of all tasks
# OUT    a directory that every node sees: one directory a task below it
#
# A task that was killed, preempted or requeued goes on where it was. When the array is over:
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

if [[ -s $out/run.jsonl ]]; then
    exec "$sim" run --resume "$out" --jobs "${SLURM_CPUS_PER_TASK:-1}"
fi
exec "$sim" run --from-seed "$SEED" --seeds "$SEEDS" --shard env --jobs "${SLURM_CPUS_PER_TASK:-1}" --out "$out"
