#!/bin/sh
# Writes the SBOM of an archive, CycloneDX 1.6, from what the Go linker wrote into
# the program: sbom.sh ARCHIVE FILE. It has no clock and no random number.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
tar -xzf "$1" -C "$dir" ralph
go version -m -json "$dir/ralph" | node -e '
  const info = JSON.parse(fs.readFileSync(0)), [, name, version] = process.argv
  const purl = (path, version) => `pkg:golang/${path}@${version}`
  const library = (m) => {
    const used = m.Replace ?? m, ref = purl(used.Path, used.Version)
    return {type: "library", "bom-ref": ref, name: used.Path, version: used.Version, purl: ref}
  }
  const main = {type: "application", "bom-ref": name, name: info.Main.Path, version}
  const parts = [...info.Deps.map(library), library({Path: "std", Version: info.GoVersion.replace("go", "")})]
  console.log(JSON.stringify({
    bomFormat: "CycloneDX", specVersion: "1.6", version: 1, metadata: {component: main}, components: parts,
    dependencies: [{ref: name, dependsOn: parts.map((one) => one["bom-ref"])}],
  }, null, 1))' "$(basename "$1")" "$3" >"$2"
