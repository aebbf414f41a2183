// Draws the comment and the pull request of a demo as GitHub shows them:
//
//   node pictures.mjs DEMO DOCS
//
// DEMO is the folder of `ralph demo --keep --dir DEMO`. Into DOCS go
// demo-light.png and demo-dark.png.
import { readFileSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { marked } from 'marked'

const [demo, docs] = process.argv.slice(2)
const largest = 150_000 // bytes of a picture
const css = name => readFileSync(createRequire(import.meta.url).resolve(`github-markdown-css/${name}.css`), 'utf8')
const read = name => readFileSync(join(demo, name), 'utf8')

const comment = read('comment.md')
const [title, ...rest] = read('pull.md').split('\n')
const box = (head, body) => `<section><header>${head}</header><div class="markdown-body">${marked.parse(body)}</div></section>`
const page = theme => `<!doctype html><meta charset="utf-8"><style>${css(`github-markdown-${theme}`)}
body { margin: 0; padding: 16px; width: 868px; background: ${theme === 'dark' ? '#0d1117' : '#ffffff'}; font: 14px "DejaVu Sans", sans-serif; }
section { border: 1px solid ${theme === 'dark' ? '#3d444d' : '#d1d9e0'}; border-radius: 6px; margin-bottom: 16px; overflow: hidden; }
header { padding: 8px 16px; background: ${theme === 'dark' ? '#151b23' : '#f6f8fa'}; color: ${theme === 'dark' ? '#9198a1' : '#59636e'}; }
header b { color: ${theme === 'dark' ? '#f0f6fc' : '#1f2328'}; }
.markdown-body { padding: 16px; font: 14px/1.5 "DejaVu Sans", "Noto Color Emoji", sans-serif; }
section:last-child .markdown-body { max-height: 520px; overflow: hidden; }
.markdown-body table { font-size: 12.5px; }
</style><body>${box('<b>github-actions</b> bot commented on the issue', comment)}${box(`<b>${title.slice(2)}</b> · pull request by github-actions bot`, rest.join('\n'))}`

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox'] })
for (const theme of ['light', 'dark']) {
  const view = await browser.newPage({ viewport: { width: 900, height: 600 } })
  await view.setContent(page(theme))
  const path = join(docs, `demo-${theme}.png`)
  await view.screenshot({ path, fullPage: true })
  if (statSync(path).size > largest) throw new Error(`${path} has ${statSync(path).size} bytes, more than ${largest}`)
}
await browser.close()
