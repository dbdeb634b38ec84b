#!/usr/bin/env bash
# Fuzzes what a peer's bytes reach: each target (tests/fuzz/targets) for a while, two at most at a time.
#
#     tests/fuzz.sh [SECONDS] [TARGET...]        20 seconds for each of all targets unless told
#
# Installs cargo-fuzz when it is missing, makes the corpora from the golden files, and keeps what it learns outside the
# checkout (MOTE_CACHE), so that the next run goes on there. An input that fails stays in .../fuzz/failed: run it alone
# with the command that is printed, mend what is wrong, and give it a name in tests/tests/regressions.rs.
# Status 77 where there is no nightly compiler.
set -euo pipefail

cd "$(dirname "$0")/.."
seconds=20
case ${1:-} in [0-9]*) seconds=$1; shift ;; esac
targets=("$@")
[ ${#targets[@]} -gt 0 ] || for file in tests/fuzz/targets/*.rs; do targets+=("$(basename "$file" .rs)"); done

cache=${MOTE_CACHE:-$HOME/.cache/mote}
work=$cache/fuzz
# Not the folder of the other builds: the compiler is another one.
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$cache/target}/fuzz CARGO_TERM_COLOR=${CARGO_TERM_COLOR:-never}
export PATH=$cache/cargo-fuzz/bin:$PATH

if ! rustup run nightly rustc --version 2>/dev/null; then
    echo "no nightly compiler: rustup toolchain install nightly --profile minimal"
    exit 77
fi
host=$(rustup run nightly rustc -vV | sed -n 's/^host: //p')
if ! command -v cargo-fuzz >/dev/null; then
    echo "installing cargo-fuzz"
    cargo install cargo-fuzz --locked --quiet --root "$cache/cargo-fuzz" --target-dir "$CARGO_TARGET_DIR/cargo-fuzz"
fi
cargo fmt --check --manifest-path tests/fuzz/Cargo.toml
echo "building the targets"
cargo +nightly fuzz build --fuzz-dir tests/fuzz
programs=$CARGO_TARGET_DIR/$host/release
mkdir -p "$work/failed"
rm -rf "$work/seeds"
"$programs/seeds" "$work/seeds"

# fuzz TARGET: runs it and says in one line what came of it
fuzz() {
    local target=$1 log=$work/$1.log status=0 dictionary=$work/seeds/$1.dict
    [ -e "$dictionary" ] || dictionary=$work/seeds/json.dict
    mkdir -p "$work/corpus/$target" "$work/seeds/$target"
    "$programs/$target" "$work/corpus/$target" "$work/seeds/$target" \
        -dict="$dictionary" -max_total_time="$seconds" -max_len=4096 -timeout=10 -rss_limit_mb=1024 \
        -print_final_stats=1 -artifact_prefix="$work/failed/$target-" >"$log" 2>&1 || status=$?
    awk -v target="$target" '
        / cov: / { for (i = 1; i < NF; i++) { if ($i == "cov:") cov = $(i + 1); if ($i == "ft:") ft = $(i + 1) } }
        /^stat::number_of_executed_units/ { runs = $2 }
        /^stat::peak_rss_mb/ { rss = $2 }
        END { printf "%-8s %9d runs, %5d edges, %6d features, %4d MiB\n", target, runs, cov, ft, rss }' "$log"
    if [ "$status" -ne 0 ]; then
        grep -vE '^#[0-9]+|^"' "$log" | tail -40
        echo "FAILED $target, to see it again: $programs/$target $work/failed/$target-..."
        grep -F 'Test unit written to' "$log" || true
        return 1
    fi
}

failed=0
echo "fuzzing ${targets[*]}: $seconds seconds each"
while [ ${#targets[@]} -gt 0 ]; do
    pair=("${targets[@]:0:2}")
    targets=("${targets[@]:2}")
    running=()
    for target in "${pair[@]}"; do
        fuzz "$target" &
        running+=($!)
    done
    for one in "${running[@]}"; do wait "$one" || failed=1; done
done
exit "$failed"
