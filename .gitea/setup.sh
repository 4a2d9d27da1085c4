#!/bin/sh
# Prints the folder that holds the `knaster` of the checked-out commit; installs it first if nobody has yet. It is the
# commit's own knaster/ where there is one, else what .gitea/requirements.txt names.
# At a prompt:  PATH="$(.gitea/setup.sh):$PATH"
#
# Each version (what is installed, and for which Python) has a folder of its own in the runner's tool cache. It is made
# beside its place and then renamed: nobody finds a half, and of two that make it at once the first wins. Versions that
# nobody asked for in 30 days go when a new one comes.
set -eu
cd "$(dirname "$0")/.."

python=${PYTHON:-python3}
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
  echo "knaster needs Python 3.11 or newer; '$python' is not. Name one: PYTHON=python3.12" >&2
  exit 2
}
if git cat-file -e HEAD:knaster/version.py 2> /dev/null; then
  content=$(git rev-parse HEAD:knaster HEAD:schemas HEAD:.gitea HEAD:requirements.lock HEAD:pyproject.toml)
  fetch=fetch_own
else
  content=$(git rev-parse HEAD:.gitea/requirements.txt HEAD:.gitea/setup.sh)
  fetch=fetch_pinned
fi
machine=$("$python" -c 'import platform, sys; print(sys.version, sys.base_prefix, platform.machine(), platform.libc_ver())')
version=$(printf '%s\n' "$content" "$machine" | git hash-object --stdin)
cache=${RUNNER_TOOL_CACHE:-${XDG_CACHE_HOME:-${HOME:?}/.cache}}/knaster

pip_install() {
  "$1/venv/bin/python" -m pip --disable-pip-version-check -q install $3 -r "$1/$2"
}

fetch_own() {
  git show HEAD:requirements.lock > "$1/requirements.lock"
  pip_install "$1" requirements.lock --require-hashes
  site=$("$1/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  git archive HEAD knaster | tar -x -C "$site"
  git archive HEAD schemas .gitea | tar -x -C "$site/knaster"
  "$1/venv/bin/python" -m compileall -q "$site/knaster"
}

fetch_pinned() {
  git show HEAD:.gitea/requirements.txt > "$1/requirements.txt"
  pip_install "$1" requirements.txt ""
}

install() {
  mkdir -p "$cache"
  find "$cache" -mindepth 1 -maxdepth 1 -mtime +30 -exec rm -rf {} +
  new=$(mktemp -d "$cache/new.XXXXXX")
  trap 'rm -rf "$new"' EXIT
  "$python" -m venv "$new/venv"
  "$fetch" "$new"
  mkdir "$new/bin"
  # Not the script that pip would write: that one names the folder before the renaming. -I: the tool, never files of the
  # working folder or of PYTHONPATH.
  printf '%s\n' '#!/bin/sh' 'exec "${0%/*}/../venv/bin/python" -I -m knaster "$@"' > "$new/bin/knaster"
  chmod +x "$new/bin/knaster"
  "$new/bin/knaster" --version
  mv -T "$new" "$cache/$version" 2> /dev/null || test -x "$cache/$version/bin/knaster"
}

touch -c "$cache/$version"
test -x "$cache/$version/bin/knaster" || install >&2
echo "$cache/$version/bin"
