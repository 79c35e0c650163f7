# Keeps items: one a line, "open" or "done", a tab, the text.

store_read() {
    if [ -f "$TODO_FILE" ]; then cat "$TODO_FILE"; fi
}

store_add() {
    printf 'open\t%s\n' "$1" >>"$TODO_FILE"
}

store_done() {
    awk -v number="$1" 'NR == number { sub(/^open/, "done") } { print }' "$TODO_FILE" >"$TODO_FILE.new"
    mv "$TODO_FILE.new" "$TODO_FILE"
}
