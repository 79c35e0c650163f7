#!/bin/sh
# A to-do list in a text file.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
: "${TODO_FILE:=todo.txt}"
. "$here/lib/store.sh"
. "$here/lib/show.sh"

usage() {
    echo "usage: todo.sh add TEXT | done NUMBER | list"
}

command=${1:-list}
[ $# -gt 0 ] && shift

case $command in
    add) store_add "$*" ;;
    done) store_done "${1:?which item?}" ;;
    list) store_read | show_items ;;
    *)
        usage >&2
        exit 2
        ;;
esac
