// Makes the example journals of internal/show/report anew: plays each story of
// examples/ with the program and its scripted agent in a folder of its own, and
// writes down what is left with times, ids and digests that are always the same.
//
//   node examples.mjs PROGRAM FOLDER
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const [program, folder] = process.argv.slice(2)
const stories = join(dirname(fileURLToPath(import.meta.url)), 'examples')

// How long each step takes, in seconds, by the event that ends it.
const took = { agent_ended: 97, base: 21, work: 18, proof: 33, tests: 14, resumed: 2400, run_began: 0 }
const began = Date.UTC(2026, 10, 20, 12)

for (const name of readdirSync(stories)) make(basename(name, '.txtar'), unpack(readFileSync(join(stories, name), 'utf8')))

function unpack(text) {
  const files = {}
  const parts = text.split(/^-- (.+) --\n/m).slice(1)
  for (let i = 0; i < parts.length; i += 2) (files[parts[i]] ??= []).push(parts[i + 1])
  return files
}

function make(name, files) {
  const top = mkdtempSync(join(tmpdir(), 'ralph-example-'))
  const dir = join(top, 'shop')
  const scripts = { agent: `${name}\n`, calm: `${name}\n` }
  for (const [path, texts] of Object.entries(files)) {
    const [first, ...rest] = path.split('/')
    for (const text of texts) {
      if (first in scripts) scripts[first] += `-- ${rest.join('/')} --\n${text}`
      else if (path !== 'flags') put(join(dir, path), text)
    }
  }
  put(join(dir, '.gitignore'), '*.txtar\n')
  put(join(dir, 'script.txtar'), scripts.agent)
  put(join(dir, 'calm.txtar'), scripts.calm)
  const env = { ...process.env, HOME: top, GOFLAGS: '-mod=mod', GOPROXY: 'off', GOPATH: join(top, 'go'), GOCACHE: goCache() }
  const sh = line => spawnSync('sh', ['-c', line], { cwd: dir, env, encoding: 'utf8' })
  sh('git init -q -b main . && git config user.name Ada && git config user.email ada@example.com && git add . && git commit -q -m begin')
  const ran = sh(`'${program}' ${files.flags[0].trim()}`)
  if (ran.status === 137) sh(`'${program}' resume --agent scripted --agent-command script.txtar`)
  keep(name, dir, sh)
  rmSync(top, { recursive: true, force: true })
}

function goCache() {
  return spawnSync('go', ['env', 'GOCACHE'], { encoding: 'utf8' }).stdout.trim()
}

function put(path, text) {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

function keep(name, dir, sh) {
  const id = readdirSync(join(dir, '.ralph/runs')).at(-1)
  const run = join(dir, '.ralph/runs', id)
  const events = readFileSync(join(run, 'journal.jsonl'), 'utf8').trim().split('\n').map(line => JSON.parse(line))
  const steady = steadier(dir, id, events)
  const to = join(folder, name)
  rmSync(to, { recursive: true, force: true })
  timed(events)
  for (const at of named(events)) {
    const beside = at.path.startsWith('.ralph/') ? join(dir, at.path) : join(run, at.path)
    const text = steady(readFileSync(beside, 'utf8'))
    at.digest(createHash('sha256').update(text).digest('hex'), Buffer.byteLength(text))
    put(join(to, steady(basename(at.path))), text)
  }
  for (const e of events.filter(e => e.type === 'commits_taken' && e.from !== e.to)) {
    put(join(to, steady(e.to).slice(0, 7) + '.diff'), steady(sh(`git diff --no-color --no-ext-diff ${e.from} ${e.to}`).stdout))
  }
  put(join(to, 'journal.jsonl'), steady(events.map(e => JSON.stringify(e)).join('\n') + '\n'))
}

// steadier gives what is otherwise each time the same values each time.
function steadier(dir, id, events) {
  const ids = [...new Set(JSON.stringify(events).match(/\b[0-9a-f]{40}\b/g))]
  const pairs = ids.map((old, i) => [old, createHash('sha1').update(`object ${i}`).digest('hex')])
  return text => {
    for (const [old, now] of pairs) text = text.replaceAll(old, now).replaceAll(old.slice(0, 7), now.slice(0, 7))
    return text.replaceAll(dir, '/home/ada/shop').replaceAll(id, 'run-20261120T120000.000')
      .replace(/(?<![\d.])\d+\.\d{3}s\b/g, '0.004s').replace(/\(cached\)/g, '0.004s').replace(/\(\d+\.\d\ds\)/g, '(0.00s)')
      .replace(/^index [0-9a-f]+\.\.[0-9a-f]+/gm, 'index 0000000..1111111')
  }
}

function timed(events) {
  let now = began
  let pause = 0
  for (const e of events) {
    const seconds = pause || (took[e.where] ?? took[e.type] ?? 1) + (e.type === 'agent_ended' ? 31 * (e.tools % 5) : 0)
    now += seconds * 1000
    e.at = new Date(now).toISOString()
    for (const part of [e, e.first]) if (part && 'took_ms' in part) part.took_ms = seconds * 1000 - 40
    pause = 0
    pause = 0
    if (e.until) e.until = new Date(now + 241000).toISOString()
    if (e.type === 'paused') [e.ms, pause] = [240000, 240]
  }
}

// named are the files that events name, each with a way to put its digest right.
function* named(events) {
  for (const e of events) {
    for (const key of ['prompt', 'transcript']) {
      const at = e[key]
      if (at?.path) yield { path: at.path, digest: (sum, size) => Object.assign(at, { digest: sum, size }) }
    }
    for (const check of [e, e.first]) if (check?.log) yield { path: check.log, digest: sum => { check.digest = sum } }
  }
}
