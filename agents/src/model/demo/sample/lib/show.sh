# Prints the items that come on standard input.

show_items() {
    number=0
    while IFS="$(printf '\t')" read -r state text; do
        number=$((number + 1))
        printf '%s. [%s] %s\n' "$number" "$state" "$text"
    done
}
