#!/usr/bin/env bash
# Runs what a document tells people to type, against a server that is there already: readme.sh [DOCUMENT...] BASE_URL
#
# A fenced block that begins with `# try` is run line by line, with the document's address replaced by the given one. Without
# a document it is the README.
set -uo pipefail

cd "$(dirname "$0")/.." || exit 1
. tests/tools/try.sh
command -v curl >/dev/null || { echo "curl is missing"; exit 77; }
documents=()
for word in "$@"; do
    case $word in http*) base=$word ;; *) documents+=("$word") ;; esac
done
[ ${#documents[@]} -gt 0 ] || documents=(README.md)

count=0
failed=0
for document in "${documents[@]}"; do
    before=$count
    while IFS= read -r line; do
        count=$((count + 1))
        try_line "$line" "$base" || failed=$((failed + 1))
    done < <(awk '/^```/ { inside = 0 } inside && /#=>/ { print } /^# try/ { inside = 1 }' "$document")
    [ "$count" -gt "$before" ] || { echo "FAIL $document has nothing to try"; failed=$((failed + 1)); }
done

echo "$((count - failed)) passed, $failed failed"
[ "$count" -gt 0 ] && [ "$failed" -eq 0 ]
