# A version whose pages cannot be built is not served.
set -u
mkdir -p site bin
printf '#!/bin/sh\necho pages > "$2/pages"\n' > bin/fetch
printf '#!/bin/sh\ncase $1 in */2.0) exit 1 ;; esac\n' > bin/build
chmod +x bin/fetch bin/build
export DEPLOY_ROOT=$PWD/site FETCH=$PWD/bin/fetch BUILD=$PWD/bin/build
bash deploy.sh 1.0 || exit 3
bash deploy.sh 2.0
status=$?
echo "status $status, serving $(basename "$(readlink site/current)")"
[ "$status" -ne 0 ] && [ "$(basename "$(readlink site/current)")" = 1.0 ]
