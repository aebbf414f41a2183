#!/bin/sh
# Stands in for npm in the image without node: `npm install --prefix DIR … -- PACKAGE@VERSION`
# installs the program that an agent's package has for this machine, checked by the
# registry's sha512. It knows nothing else of npm.
set -eu
die() {
  echo "npm: $1" >&2
  exit 1
}

prefix='' what=''
while [ $# -gt 0 ]; do
  case $1 in
  --prefix) prefix=$2 && shift ;;
  --) what=$2 && break ;;
  esac
  shift
done
[ -n "$prefix" ] && [ -n "$what" ] || die 'this image has no node: its npm installs an agent and nothing else'
package=${what%@*} version=${what##*@}
case $package in
@anthropic-ai/claude-code) program=claude ;;
@openai/codex) program=codex ;;
@github/copilot) program=copilot ;;
opencode-ai) program=opencode ;;
@sourcegraph/amp) program=amp ;;
*) die "$package needs node, which this image has not: use the image ralph-agents" ;;
esac
registry=${npm_config_registry:-${NPM_CONFIG_REGISTRY:-@REGISTRY@}}
case $(uname -m) in aarch64 | arm64) arch=arm64 ;; *) arch=x64 ;; esac
dir=$prefix/node_modules/.$program
mkdir -p "$dir" "$prefix/node_modules/.bin"

get() {
  curl --fail --silent --show-error --location --retry 3 ${NODE_EXTRA_CA_CERTS:+--cacert "$NODE_EXTRA_CA_CERTS"} --output "$2" "$1" || die "cannot get $1"
}
# field prints the string that a manifest, which is one line, has under a name.
field() { grep -o "\"$1\": *\"[^\"]*\"" "$dir/manifest" | head -n 1 | cut -d'"' -f4; }

get "${registry%/}/$package/$version" "$dir/manifest"
own=$(field "[^\"]*-linux-$arch") # "npm:PACKAGE@VERSION", or the version of the package of that name
[ -n "$own" ] || die "$what has no program for linux-$arch"
case $own in
npm:*) get "${registry%/}/$(echo "${own#npm:}" | sed 's|\(.\)@|\1/|')" "$dir/manifest" ;;
*) get "${registry%/}/$(grep -o "\"[^\"]*-linux-$arch\"" "$dir/manifest" | head -n 1 | tr -d '"')/$own" "$dir/manifest" ;;
esac
get "$(field tarball)" "$dir/package.tgz"
want=$(field integrity | sed -n 's/^sha512-//p' | base64 -d | od -An -v -tx1 | tr -d ' \n')
got=$(sha512sum <"$dir/package.tgz" | cut -d' ' -f1)
[ "$want" = "$got" ] || die "$what has the sha512 $got, not ${want:-one that the registry tells}"
tar -xzf "$dir/package.tgz" -C "$dir" --no-same-owner
rm -f "$dir/package.tgz" "$dir/manifest"
found=$(find "$dir" -type f -name "$program" | head -n 1)
[ -n "$found" ] || die "$what has no program $program"
chmod 755 "$found"
ln -sf "../${found#"$prefix/node_modules/"}" "$prefix/node_modules/.bin/$program" # the folder is renamed
