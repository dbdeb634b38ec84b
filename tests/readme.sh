#!/usr/bin/env bash
# Runs what the README tells people to type, against a server that is there already: readme.sh BASE_URL
#
# A fenced block that begins with `# try` is run line by line, with the README's address replaced by the given one; its
# output must have what the comment behind `#=>` says. MOTE_TOKEN is sent along, where the server wants a token.
set -uo pipefail

cd "$(dirname "$0")/.." || exit 1
base=$1
command -v curl >/dev/null || { echo "curl is missing"; exit 77; }

count=0
failed=0
while IFS= read -r line; do
    command=${line%%#=>*}
    expected=$(sed 's/.*#=> *//' <<<"$line")
    command=${command//http:\/\/127.0.0.1:8080/$base}
    [ -z "${MOTE_TOKEN:-}" ] || command=${command/#curl /curl -H \"Authorization: Bearer \$MOTE_TOKEN\" }
    output=$(bash -c "$command" 2>&1)
    count=$((count + 1))
    if grep -qF -- "$expected" <<<"$output"; then
        echo "ok ${line:0:70}"
    else
        echo "FAIL $line"
        echo "     gave: $output"
        failed=$((failed + 1))
    fi
done < <(awk '/^```/ { inside = 0 } inside && /#=>/ { print } /^# try/ { inside = 1 }' README.md)

echo "$((count - failed)) passed, $failed failed"
[ "$count" -gt 0 ] && [ "$failed" -eq 0 ]
