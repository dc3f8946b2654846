#!/usr/bin/env bash
# Workers on a list of hosts by ssh: workers.sh start|status|stop HOSTS [RUN]
# HOSTS is a file with one host a line. Each needs bash, karat on its search path, and an account that ssh enters without a password.
# KARAT_SETTINGS names the file of settings; default: ~/.config/karat/worker.env. It goes through ssh's standard input, not on a command line.
# The worker's output is in ~/.cache/karat/worker.log of each host.
set -euo pipefail

usage() {
  sed -n '2,5s/^# //p' "$0" >&2
  exit 2
}
[ $# -ge 2 ] && [ $# -le 3 ] || usage
verb=$1 hosts=$2 run=${3:-}
case $verb in start | status | stop) ;; *) usage ;; esac
case $run in
  *[!A-Za-z0-9._-]*)
    echo "error: \`$run\` cannot be passed through ssh; help: name the run by its id (karat store list)" >&2
    exit 2
    ;;
esac
settings=${KARAT_SETTINGS:-$HOME/.config/karat/worker.env}
# Before any worker is started: a host must not be left out because of a file that is missing here.
for file in "$hosts" "$settings"; do
  if [ ! -r "$file" ]; then
    echo "error: cannot read $file" >&2
    exit 2
  fi
done

# What a host runs. Standard input continues with the settings.
read -r -d '' script <<'END' || true
main() {
  local verb=$1 folder=${XDG_CACHE_HOME:-$HOME/.cache}/karat pid user line
  shift
  umask 077
  mkdir -p "$folder"
  pid=$(cat "$folder/worker.pid" 2>/dev/null)
  # Another process may have the number by now.
  read -r user line < <(ps -o uid= -o args= -p "${pid:-0}" 2>/dev/null)
  if [ "$user" = "$(id -u)" ] && [[ $line == *"karat worker"* ]]; then
    case $verb in
      start) echo "runs already, process $pid" ;;
      status) echo "runs, process $pid: $(tail -n 1 "$folder/worker.log")" ;;
      stop) kill -TERM "$pid" && echo "ends within 90 seconds, process $pid" ;;
    esac
    return
  fi
  if [ "$verb" != start ]; then
    echo "does not run"
    return
  fi
  if ! command -v karat >/dev/null; then
    echo "error: karat is not on the search path; help: install it, or set PATH in ~/.bashrc" >&2
    return 127
  fi
  while IFS= read -r line || [ -n "$line" ]; do
    case $line in '' | '#'*) ;; *) export "${line?}" ;; esac
  done
  setsid nohup karat worker "$@" --grace 90s --idle exit </dev/null >>"$folder/worker.log" 2>&1 &
  echo "$!" >"$folder/worker.pid"
  echo "started, process $!"
}
main "$@"; exit
END

failed=0
while read -r host _ <&3; do
  case $host in '' | '#'*) continue ;; esac
  said=$({ printf '%s\n' "$script"; cat "$settings"; } |
    ssh -o BatchMode=yes -o ConnectTimeout=10 "$host" "bash -s -- $verb $run" 2>&1) || failed=1
  printf '%s: %s\n' "$host" "$said"
done 3<"$hosts"
exit "$failed"
