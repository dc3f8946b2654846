#!/usr/bin/env bash
# Usage: deploy.sh VERSION
set -euo pipefail

version=${1:?a version is needed}
root=${DEPLOY_ROOT:?}
release=$root/releases/$version

mkdir -p "$release"
"${FETCH:?}" "$version" "$release"
"${BUILD:?}" "$release"
ln -sfn "$release" "$root/current"
echo "serving $version"
