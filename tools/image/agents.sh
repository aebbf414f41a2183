#!/bin/sh
# Lays out the agents of an image under /out, by the versions and checksums with
# which their adapters are tested: those of tools/agents. It takes their names.
#
# npm brings for most of them a program of the machine's own behind a wrapper in
# JavaScript. The program alone is taken; node comes along for gemini and qwen, which have
# none, and with npm, by which the input agent-version gets another version.
set -eu

[ $# -gt 0 ] || { echo 'agents: say which: claude codex gemini opencode copilot qwen amp, and npm; or none' >&2; exit 2; }
if [ "$*" = none ]; then # they are installed in the job, by version
  mkdir -p /out/usr/local/bin
  sed "s|@REGISTRY@|$(npm config get registry)|" npm.sh >/out/usr/local/bin/npm # by which this image is built
  chmod 755 /out/usr/local/bin/npm
  exit
fi
wanted=''
for name in "$@"; do
  case $name in
    claude) package=@anthropic-ai/claude-code ;;
    codex) package=@openai/codex ;;
    gemini) package=@google/gemini-cli ;;
    opencode) package=opencode-ai ;;
    copilot) package=@github/copilot ;;
    qwen) package=@qwen-code/qwen-code ;;
    amp) package=@sourcegraph/amp ;;
    npm) continue ;;
    *) echo "agents: there is no agent $name" >&2; exit 2 ;;
  esac
  wanted="$wanted $package"
done

# The lock stays as it is: npm skips what is not needed.
# shellcheck disable=SC2086 # words
node -e '
  const file = "package.json", all = JSON.parse(fs.readFileSync(file))
  for (const name of Object.keys(all.devDependencies))
    if (!process.argv.includes(name)) delete all.devDependencies[name]
  fs.writeFileSync(file, JSON.stringify(all))
' $wanted
npm install --ignore-scripts --no-save --no-audit --no-fund

from=node_modules bin=/out/usr/local/bin arch=$(node -p process.arch)
mkdir -p "$bin" /out/opt

# folder takes one as it is, with a program in it: FOLDER NAME PROGRAM
folder() {
  cp -R "$1" "/out/opt/$2"
  ln -s "/opt/$2/$3" "$bin/$2"
}

for name in "$@"; do
  case $name in
    claude) cp "$from/@anthropic-ai/claude-code-linux-$arch/claude" "$bin/" ;;
    codex)
      rm -rf "$from/@openai/codex-linux-$arch"/vendor/*/codex-resources/voice # ralph uses no voice
      folder "$from/@openai/codex-linux-$arch"/vendor/* codex bin/codex
      ;;
    gemini)
      folder "$from/@google/gemini-cli" gemini bundle/gemini.js
      cp "$(command -v node)" "$bin/"
      ;;
    qwen)
      folder "$from/@qwen-code/qwen-code" qwen cli-entry.js
      cp "$(command -v node)" "$bin/"
      ;;
    opencode) cp "$from/opencode-linux-$arch/bin/opencode" "$bin/" ;;
    copilot) folder "$from/@github/copilot-linux-$arch" copilot copilot ;;
    amp) cp "$from/@ampcode/cli-linux-$arch/amp" "$bin/" ;;
    npm)
      cp "$(command -v node)" "$bin/"
      folder "$(npm root --global)/npm" npm bin/npm-cli.js
      ;;
  esac
done
chown -R 0:0 /out
chmod -R u=rwX,go=rX /out
