#!/bin/sh
# Checks the program by running it: sh test.sh
set -eu

here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
TODO_FILE=$folder/todo.txt
export TODO_FILE
passed=0
failed=0

check() {
    if [ "$2" = "$3" ]; then
        passed=$((passed + 1))
        echo "ok    $1"
    else
        failed=$((failed + 1))
        echo "FAIL  $1: wanted '$2', got '$3'"
    fi
}

todo() {
    sh "$here/todo.sh" "$@"
}

check "an empty list prints nothing" "" "$(todo list)"
todo add Buy milk
todo add "Write a letter"
check "items are listed" 2 "$(todo list | wc -l | tr -d ' ')"
check "items are numbered" "2." "$(todo list | sed -n 2p | cut -d' ' -f1)"
todo done 1
check "an item can be done" "done" "$(sed -n 1p "$TODO_FILE" | cut -f1)"
check "the others stay open" "open" "$(sed -n 2p "$TODO_FILE" | cut -f1)"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
