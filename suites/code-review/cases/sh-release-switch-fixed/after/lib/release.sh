# shellcheck shell=bash
#
# Functions on the releases below a root folder.

# serving ROOT: prints the version that is served.
serving() {
    if [ -L "$1/current" ]; then
        basename "$(readlink "$1/current")"
    fi
}

# publish ROOT VERSION: fetches and builds a version, then serves it.
publish() {
    local root=$1 version=$2
    local release=$root/releases/$version
    mkdir -p "$release" &&
        "${FETCH:?}" "$version" "$release" &&
        "${BUILD:?}" "$release" &&
        ln -sfn "$release" "$root/current"
}

# discard ROOT VERSION: removes a version that is not served.
discard() {
    local root=$1 version=$2
    if [ "$(serving "$root")" != "$version" ]; then
        rm -rf -- "${root:?}/releases/${version:?}"
    fi
}

# tidy ROOT COUNT: removes old versions, but for the latest COUNT and the one that is served.
tidy() {
    local root=$1 count=$2 version
    ls -1t "$root/releases" | tail -n "+$((count + 1))" | while IFS= read -r version; do
        discard "$root" "$version"
    done
}
