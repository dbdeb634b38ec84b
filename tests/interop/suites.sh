# How suites of real clients are run, for run.sh and door.sh. Both have: here, cache, base, suites, and a function `suite NAME`,
# which writes its cases on standard output and gives its verdict as the status.

"$here/setup.sh"

export PYTHONDONTWRITEBYTECODE=1
export NO_PROXY="127.0.0.1,localhost,::1${NO_PROXY:+,$NO_PROXY}"

# Node looks for packages beside the script, so the scripts go to the packages.
javascript() {
    cp "$here"/js/*.mjs "$1"
    node "$1/$2" "$base"
}

# run_suites PREFIX: runs all of them and keeps what they say as PREFIX NAME.log; sets `failed` and `table`
run_suites() {
    local name start status ok bad log
    failed=0
    table=$(printf '%-14s %7s %7s %8s' suite passed failed seconds)
    for name in $suites; do
        echo "== $name"
        log=$cache/$1$name.log start=$SECONDS status=0
        suite "$name" 2>&1 | tee "$log" || status=1
        ok=$(grep -c '^ok ' "$log" || true)
        bad=$(grep -c '^FAIL ' "$log" || true)
        if [ "$status" -ne 0 ] || [ "$ok" -eq 0 ]; then
            failed=1
            [ "$bad" -gt 0 ] || bad=crashed
        fi
        table+=$(printf '\n%-14s %7s %7s %8s' "$name" "$ok" "$bad" $((SECONDS - start)))
    done
}
