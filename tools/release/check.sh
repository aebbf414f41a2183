#!/usr/bin/env bash
# make release-check: the release workflow under act, as a push to main runs it,
# and then all that people do with what it built. Nothing is published.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD
# shellcheck source=tools/container/docker.sh
. tools/container/docker.sh
trap docker_down EXIT # which also removes $dir

version=$(tools/release/notes.sh)
built=$version-snapshot

# stub makes an action that runs a command in the place of another's.
stub() {
  mkdir -p "$dir/stub/$1"
  printf 'name: stub\nruns:\n  using: composite\n  steps: [{run: "%s", shell: bash}]\n' "$2" >"$dir/stub/$1/action.yml"
}

# The repository as it is committed, twice: no path, no time and no file that git
# does not know gets into what is built.
step "$version under act, as a push to main"
git clone --quiet "$root" "$dir/some-other-place"
mkdir -p "$dir/home/.config/act" "$dir/one"
touch "$dir/home/.config/act/actrc"
stub actions/checkout "git clone --quiet $dir/some-other-place . && mkdir .bin && ln -s $GORELEASER .bin/"
stub actions/upload-artifact "cp -R dist $dir/one/"
locals=()
while read -r used; do
  [ -e "$dir/stub/${used%@*}" ] || stub "${used%@*}" 'exit 0'
  locals+=("--local-repository=$used=$dir/stub/${used%@*}")
done < <(sed -n 's|.*uses: \(\S*@\S*\).*|\1|p' .github/workflows/release.yml | sort -u)
git clone --quiet "$root" "$dir/asked" # where act finds the workflow
git -C "$dir/asked" remote set-url origin https://github.com/ralph-loop/ralph
(
  cd "$dir/asked"
  GOCACHE=$(go env GOCACHE) GOMODCACHE=$(go env GOMODCACHE) HOME=$dir/home "$ACT" push --workflows .github/workflows/release.yml \
    --platform ubuntu-latest=-self-hosted --pull=false --no-skip-checkout --defaultbranch main "${locals[@]}" 2>&1
) >"$dir/act.log" || { tail -n 60 "$dir/act.log" >&2; die 'the release workflow failed under act: see above'; }
grep -E 'Success - Main|Job ' "$dir/act.log"
if grep -E '\[release/(image|publish)' "$dir/act.log"; then die 'a dry run publishes nothing'; fi
dist=$dir/one/dist

step 'the same bytes once more, somewhere else'
(cd "$dir/some-other-place" && tools/release/build.sh "$version" snapshot) >"$dir/log" 2>&1 || { tail -n 30 "$dir/log" >&2; die 'the second build failed'; }
for file in "$dist"/*.tar.gz "$dist"/*.deb "$dist"/*.rpm "$dist"/*.cdx.json "$dist"/SHA256SUMS "$dist"/homebrew/Casks/ralph.rb; do
  cmp "$file" "$dir/some-other-place/${file#"$dir/one/"}"
  printf '%10d  %s\n' "$(stat -c %s "$file")" "${file#"$dist/"}"
done

step 'installed by host/install.sh, as a release by commit, version and v1'
releases=$dir/releases
mkdir -p "$releases" && ln -s "$dist" "$releases/$version"
git init --quiet --bare "$dir/remote" && git push --quiet "$dir/remote" HEAD:refs/heads/main
git clone --quiet --branch main "$dir/remote" "$dir/released"
(cd "$dir/released" && tools/release/reopen.sh && tools/release/push.sh "$version" "$dist/SHA256SUMS" "ghcr.io/ralph-loop/ralph-agents@sha256:$(printf %064d 0)")
commit=$(git -C "$dir/remote" rev-parse "$version")
for ref in v1 "$version" "$commit"; do
  git -C "$dir/released" fetch --quiet origin "$ref" && git -C "$dir/released" checkout --quiet --detach FETCH_HEAD
  mkdir -p "$dir/temp"
  said=$(RUNNER_TEMP=$dir/temp GITHUB_OUTPUT=$dir/output RALPH_RELEASES=file://$releases "$dir/released/host/install.sh")
  [ "$said" = "ralph $built" ] || die "by $ref it is $said, want ralph $built"
done
ralph=$dir/temp/ralph/ralph

step 'a workflow that pins the release by its commit'
go build -trimpath -buildvcs=false -ldflags "-s -w -X main.version=$version -X main.actionRepository=$dir/remote" -o "$dir/as-released" ./cmd/ralph
mkdir "$dir/project" && git -C "$dir/project" init --quiet
"$dir/as-released" init --github --host -d "$dir/project" >"$dir/log"
[ "$(grep -c "uses: ralph-loop/ralph/host@$commit # $version\$" "$dir/project/.github/workflows/ralph.yml")" = 2 ] || die 'the workflow does not pin the release'
if grep -q 'no release' "$dir/log"; then die 'a release says that there is none'; fi

step 'go install, by the version of the module'
module=github.com/ralph-loop/ralph
mkdir -p "$dir/proxy/$module/@v" "$dir/bin"
git archive --format=zip --prefix="$module@$version/" -o "$dir/proxy/$module/@v/$version.zip" HEAD
cp go.mod "$dir/proxy/$module/@v/$version.mod"
printf '{"Version":"%s"}\n' "$version" >"$dir/proxy/$module/@v/$version.info"
echo "$version" >"$dir/proxy/$module/@v/list"
# A cache of modules of its own, filled from the usual one: Go takes a version that
# it has seen for one that never changes.
GOMODCACHE=$dir/mod GOFLAGS='-modcacherw -trimpath' GONOSUMDB='*' GOBIN=$dir/bin \
  GOPROXY=file://$dir/proxy,file://$(go env GOMODCACHE)/cache/download,$(go env GOPROXY) go install "$module/cmd/ralph@$version"
[ "$("$dir/bin/ralph" --version)" = "ralph $version" ] || die "go install gives $("$dir/bin/ralph" --version)"

step 'Windows: the program that says to use WSL2'
GOOS=windows go build -trimpath -o "$dir/ralph.exe" ./cmd/ralph

step 'an upgrade while a run is in progress'
tools/release/upgrade.sh "$ralph" "$dir"

step 'a container without Go: Debian, git and the archive'
if tools/container/able.sh >"$dir/log" 2>&1; then
  IMAGE=ralph-small:here AGENTS=none VERSION=$version RELEASES=$releases CHECKOUT=$dir/released tools/image/build.sh tools/release/container.sh
else
  tail -n 2 "$dir/log"
  echo 'no container can be had here: left out'
fi
step 'all of it held'
