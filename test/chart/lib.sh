# shellcheck shell=bash
# Counting, waiting and saying what went wrong. $dir is the test's own folder.

passed=0
failed=0
skipped=0

pass() { # NAME
    passed=$((passed + 1))
    echo "PASS $1"
}

fail() { # NAME [FILE...] whose ends tell why
    local file
    failed=$((failed + 1))
    echo "FAIL $1"
    for file in "${@:2}"; do
        [ -s "$file" ] && tail -n 30 "$file" | sed 's/^/    /'
    done
}

skip() { # NAME REASON
    skipped=$((skipped + 1))
    echo "SKIP $1: $2"
}

# ok NAME COMMAND...: it succeeds. refused NAME PATTERN COMMAND...: it fails, and says so.
ok() {
    local name=$1
    shift
    if "$@" >"$dir/out" 2>&1 </dev/null; then pass "$name"; else fail "$name" "$dir/out"; fi
}

refused() {
    local name=$1 pattern=$2
    shift 2
    if "$@" >"$dir/out" 2>&1 </dev/null; then
        echo "(it was not refused)" >>"$dir/out"
        fail "$name" "$dir/out"
    elif ! grep -Eq -- "$pattern" "$dir/out"; then
        echo "(no line like: $pattern)" >>"$dir/out"
        fail "$name" "$dir/out"
    else
        pass "$name"
    fi
}

# same NAME WANTED GOT
same() {
    if [ "$2" = "$3" ]; then
        pass "$1"
    else
        diff <(echo "$2") <(echo "$3") >"$dir/out"
        fail "$1 (< wanted, > got)" "$dir/out"
    fi
}

# comes NAME SECONDS COMMAND...: it succeeds sooner or later.
comes() {
    local name=$1 deadline=$((SECONDS + $2))
    shift 2
    until "$@" >"$dir/out" 2>&1 </dev/null; do
        if [ $SECONDS -ge $deadline ]; then
            fail "$name" "$dir/out"
            return 1
        fi
        sleep 0.2
    done
    pass "$name"
}
