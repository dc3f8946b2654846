# shellcheck shell=bash
#
# Functions for folders with one file for each night.

# The files of a folder by their date, the latest first.
newest_first() {
    local file
    for file in "$1"/*.sql.gz; do
        if [ -e "$file" ]; then
            printf '%s\n' "$file"
        fi
    done | sort -r
}

# rotate FOLDER KEEP: removes all but the latest KEEP files.
rotate() {
    local folder=$1 keep=$2 file
    case $keep in
        '' | *[!0-9]* | 0)
            echo "cannot keep '$keep' backups" >&2
            return 1
            ;;
    esac
    newest_first "$folder" | tail -n "+$keep" | while IFS= read -r file; do
        rm -- "$file"
        echo "removed ${file##*/}"
    done
}
