#!/usr/bin/env bash
# Usage: deploy.sh VERSION
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib/release.sh"

version=${1:?a version is needed}
root=${DEPLOY_ROOT:?}

case $version in
    *[!0-9A-Za-z.-]* | .* | -*)
        echo "not a version: $version" >&2
        exit 2
        ;;
esac

if [ -e "$root/releases/$version" ]; then
    echo "$version is there already" >&2
    exit 2
fi

former=$(serving "$root")
if ! publish "$root" "$version"; then
    echo "could not publish $version, still serving ${former:-nothing}" >&2
    discard "$root" "$version"
    exit 1
fi
echo "serving $version instead of ${former:-nothing}"
tidy "$root" "${KEEP:-3}"
