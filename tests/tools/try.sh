# What documents tell people to type, for readme.sh and first-skill.sh.

# try_line LINE BASE: runs one line of a `# try` block with the document's address replaced; its output must have what the
# comment behind `#=>` says. MOTE_TOKEN is sent along, where the server wants a token.
try_line() {
    local line=$1 command expected output
    command=${line%%#=>*}
    expected=$(sed 's/.*#=> *//' <<<"$line")
    command=${command//http:\/\/127.0.0.1:8080/$2}
    [ -z "${MOTE_TOKEN:-}" ] || command=${command/#curl /curl -H \"Authorization: Bearer \$MOTE_TOKEN\" }
    output=$(bash -c "$command" 2>&1)
    if grep -qF -- "$expected" <<<"$output"; then
        echo "ok ${line:0:70}"
    else
        echo "FAIL $line"
        echo "     gave: $output"
        return 1
    fi
}
