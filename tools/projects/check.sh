#!/usr/bin/env bash
# Small projects of pnpm, Poetry, uv and Cargo, as a user has them: what ralph init
# proposes, what doctor finds, a run with the scripted agent, and the proof of
# its branch. pnpm comes from npm, Poetry and pytest from Debian. What is not on this
# machine (uv, cargo) is named and left out.
set -euo pipefail
cd "$(dirname "$0")/../.."

dir=$(mktemp -d)
chmod 711 "$dir"
trap 'rm -rf "$dir"' EXIT
go build -o "$dir/ralph" ./cmd/ralph

# begun NAME: an empty repository of that name, as the current folder.
begun() {
  mkdir "$dir/$1"
  cd "$dir/$1"
  git init -q -b main .
  git config user.name Ada
  git config user.email ada@example.com
  printf '.ralph/*\n!.ralph/settings.json\nralph/\nnode_modules/\ntarget/\n.venv/\n__pycache__/\nstory.txtar\n' >.gitignore
}

# expect TEXT COMMAND...: the command succeeds and prints the text.
expect() {
  local text=$1 code=0
  shift
  "$@" >"$dir/said" 2>&1 || code=$?
  if [ $code != 0 ] || ! grep -qF -- "$text" "$dir/said"; then
    echo "projects: ${PWD##*/}: $* ended with $code, and was to print: $text" >&2
    cat "$dir/said" >&2
    exit 1
  fi
  printf '%-6s %-60s ok\n' "${PWD##*/}" "${*##*/ralph }"
}

# tried CHECK ITS-FILE SANDBOX [SETUP]: all commands on the project that is here. Its
# story is written by the script story.txtar.
tried() {
  git add -A
  git commit -qm begin
  expect "check from $2: $1" "$dir/ralph" init --github --proof
  expect "            $1" cat .github/workflows/ralph-proof.yml
  expect "ok   $1: green" "$dir/ralph" doctor --checks --no-sandbox
  expect "ok   $1: green" "$dir/ralph" doctor --checks "$3"
  mkdir -p .ralph
  echo "{\"guardrails\": [{\"command\": \"$1\", \"failAction\": \"APPEND\"}], \"setup\": [${4:+\"$4\"}]}" >.ralph/settings.json
  git add -A
  git commit -qm 'workflows and settings'
  mkdir ralph
  echo '{"project": "p", "branchName": "ralph/more", "userStories": [{"id": "US-001", "title": "More", "acceptanceCriteria": ["it does"], "priority": 1}]}' >ralph/prd.json
  expect ': Proven: ' "$dir/ralph" run "$3" --agent scripted --agent-command story.txtar
  expect ': Proven' "$dir/ralph" prove "$3" main ralph/more
}

npm install --silent --no-audit --no-fund --prefix "$dir/npm" pnpm@9
export PATH=$dir/npm/node_modules/.bin:$PATH
(
  begun pnpm
  mkdir test
  cat >package.json <<'END'
{"name": "shop", "version": "1.0.0", "type": "module", "scripts": {"test": "node --test"}, "dependencies": {"ms": "2.1.3"}}
END
  echo "import ms from 'ms'
export const minutes = (text) => ms(text) / 60000" >index.js
  echo "import test from 'node:test'
import assert from 'node:assert'
import { minutes } from '../index.js'
test('minutes', () => assert.strictEqual(minutes('1h'), 60))" >test/minutes.test.js
  cat >story.txtar <<'END'
-- 1/write/index.js --
import ms from 'ms'
export const minutes = (text) => ms(text) / 60000
export const hours = (text) => ms(text) / 3600000
-- 1/write/test/hours.test.js --
import test from 'node:test'
import assert from 'node:assert'
import { hours } from '../index.js'
test('hours', () => assert.strictEqual(hours('2h'), 2))
-- 1/claim --
US-001
-- 1/promise --
COMPLETE
END
  pnpm install --silent
  tried 'pnpm test' package.json --no-sandbox 'pnpm install --frozen-lockfile' # the sandbox may refuse the registry's address
)

# wanted PROGRAM: it is on this machine, or that is said.
wanted() {
  command -v "$1" >/dev/null || { echo "projects: $1 is not here: its project is left out" >&2; return 1; }
}

# shop: a package of Python, its tests, and a story's work, as Poetry and uv have them.
shop() {
  mkdir shop tests
  touch README.md shop/__init__.py
  echo 'from shop.price import total

def test_total():
    assert total(2, 3) == 6' >tests/test_total.py
  echo 'def total(price, pieces):
    return price * pieces' >shop/price.py
  cat >story.txtar <<'END'
-- 1/write/shop/price.py --
def total(price, pieces):
    return price * pieces

def discount(price):
    return price * 9 // 10
-- 1/write/tests/test_discount.py --
from shop.price import discount

def test_discount():
    assert discount(100) == 90
-- 1/claim --
US-001
-- 1/promise --
COMPLETE
END
}

if ! [ -x /usr/bin/poetry ] || ! [ -x /usr/bin/pytest-3 ]; then
  root=''
  [ "$(id -u)" = 0 ] || root=sudo
  $root apt-get update -q >/dev/null
  DEBIAN_FRONTEND=noninteractive $root apt-get install -y -q --no-install-recommends python3-poetry python3-pytest >/dev/null
fi
(
  begun poetry
  shop
  mkdir -p money/money # a dependency that is not installed anywhere else
  echo 'RATE = 9' >money/money/__init__.py
  cat >money/pyproject.toml <<'END'
[tool.poetry]
name = "money"
version = "1.0.0"
description = ""
authors = []
[build-system]
requires = ["poetry-core"]
build-backend = "poetry.core.masonry.api"
END
  sed -i '1i from money import RATE\n' shop/price.py
  sed -i 's|-- 1/write/shop/price.py --|&\nfrom money import RATE\n|; s|price \* 9|price * RATE|' story.txtar
  cat >pyproject.toml <<'END'
[tool.poetry]
name = "shop"
version = "1.0.0"
description = ""
authors = ["Ada <ada@example.com>"]
[tool.poetry.dependencies]
python = "^3.8"
money = {path = "money", develop = true}
[tool.poetry.scripts]
pytest = "pytest:console_main"
[tool.pytest.ini_options]
testpaths = ["tests"]
[build-system]
requires = ["poetry-core"]
build-backend = "poetry.core.masonry.api"
END
  printf '[virtualenvs.options]\nsystem-site-packages = true\n' >poetry.toml # for pytest
  poetry install --quiet # which also writes poetry.lock
  tried 'poetry run pytest' pyproject.toml --sandbox 'poetry install'
)

if wanted uv; then (
  begun uv
  shop
  cat >pyproject.toml <<'END'
[project]
name = "shop"
version = "1.0.0"
requires-python = ">=3.9"
dependencies = ["packaging==24.2"]
[dependency-groups]
dev = ["pytest==8.3.4"]
[tool.pytest.ini_options]
pythonpath = ["."]
END
  uv sync --quiet # which also writes uv.lock
  tried 'uv run pytest' pyproject.toml --no-sandbox 'uv sync --locked'
); fi

wanted cargo || exit 0
(
  begun cargo
  cargo init --quiet --vcs none --lib --name shop .
  cat >src/lib.rs <<'END'
//! A shop.
/// The price of some pieces.
pub fn total(price: u32, pieces: u32) -> u32 {
    price * pieces
}

#[cfg(test)]
mod tests {
    #[test]
    fn totals() {
        assert_eq!(super::total(2, 3), 6);
    }
}
END
  cat >story.txtar <<'END'
-- 1/run --
printf '\n/// What is left of a price.\npub fn discount(price: u32) -> u32 {\n    price * 9 / 10\n}\n' >>src/lib.rs
-- 1/write/tests/discount.rs --
#[test]
fn discounts() {
    assert_eq!(shop::discount(100), 90);
}
-- 1/claim --
US-001
-- 1/promise --
COMPLETE
END
  cargo generate-lockfile --quiet --offline
  level=--no-sandbox
  if "$dir/ralph" doctor --sandbox >/dev/null 2>&1; then
    level=--sandbox
  fi
  tried 'cargo test' Cargo.toml "$level"
)
