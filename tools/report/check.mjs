// Opens pages in a real browser and holds each against what a page has to be:
//
//   node check.mjs FOLDER [PICTURES]
//
// Into PICTURES goes what each looks like, for people to look at.
//
// In light and dark, at 390, 768 and 1280 pixels, folded and unfolded: nothing on
// the console, nothing asked of the network, nothing wider than the window,
// nothing that axe-core objects to; and with scripts off the same words. Text
// that a page's own .txt file lists has to be on it as text.
import { readFileSync, readdirSync, existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { chromium } from 'playwright-core'

const [folder, pictures] = process.argv.slice(2)
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const widths = { phone: { width: 390, height: 1280 }, tablet: { width: 768, height: 1280 }, desk: { width: 1280, height: 1400 } }
let failures = 0
let looked = 0

const browser = await chromium.launch({ executablePath: program(), args: ['--no-sandbox'] })
for (const file of readdirSync(folder).filter(name => name.endsWith('.html')).sort()) {
  const plain = await read(file)
  for (const colorScheme of ['light', 'dark']) {
    for (const [place, viewport] of Object.entries(widths)) await look(file, plain, { colorScheme, place, viewport })
  }
}
await browser.close()
console.log(`${looked} views, ${failures} complaints`)
process.exit(failures ? 1 : looked ? 0 : 2)

// program is the browser that browser.sh found, or that was named.
function program() {
  const found = process.env.CHROMIUM
  if (found && existsSync(found)) return found
  console.error('report-check: no browser; run it as make report-check, or name the path of one in CHROMIUM')
  process.exit(2)
}

async function look(file, plain, { colorScheme, place, viewport }) {
  const complain = what => { failures++; console.log(`${file}, ${place}, ${colorScheme}: ${what}`) }
  const address = pathToFileURL(resolve(folder, file)).href
  looked++
  const context = await browser.newContext({ viewport, colorScheme, bypassCSP: true })
  const page = await context.newPage()
  listen(page, address, complain)
  await page.goto(address)
  if (pictures) await page.screenshot({ path: join(pictures, `${basename(file, '.html')}-${place}-${colorScheme}.png`) })
  await fits(page, 'folded', complain)
  if (await page.evaluate(() => document.body.textContent) !== plain) complain('other words without scripts')
  await page.evaluate(() => document.querySelectorAll('details').forEach(d => { d.open = true }))
  await fits(page, 'unfolded', complain)
  await bears(page, file, complain)
  await page.evaluate(axe)
  const { violations, passes } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }))
  if (!passes.length) complain('axe looked at nothing')
  for (const v of violations) complain(`axe: ${v.id}: ${v.help}: ${v.nodes.slice(0, 3).map(n => n.target.join(' ') + ' ' + n.failureSummary).join(' | ')}`)
  await context.close()
}

// read is what stands on a page as it is, with its own policy and no scripts.
async function read(file) {
  const address = pathToFileURL(resolve(folder, file)).href
  const context = await browser.newContext({ javaScriptEnabled: false })
  const page = await context.newPage()
  listen(page, address, what => { failures++; console.log(`${file}, no scripts: ${what}`) })
  await page.goto(address)
  const text = await page.locator('body').textContent()
  await context.close()
  return text
}

function listen(page, address, complain) {
  page.on('console', message => complain(`console: ${message.text()}`))
  page.on('pageerror', error => complain(`error: ${error.message}`))
  page.on('dialog', dialog => { complain('a dialog'); dialog.dismiss() })
  page.on('request', request => { if (request.url() !== address) complain(`asks for ${request.url()}`) })
}

async function fits(page, how, complain) {
  const { wide, window, who } = await page.evaluate(() => {
    const window = document.documentElement.clientWidth
    const over = [...document.querySelectorAll('body *')].filter(e => !e.closest('.skip, .unseen, thead') && e.getBoundingClientRect().right > window + 1)
    return { wide: document.documentElement.scrollWidth, window, who: over.slice(0, 3).map(e => e.outerHTML.slice(0, 120)) }
  })
  if (wide > window || who.length) complain(`${how}: ${wide} px wide in ${window}: ${who.join(' ')}`)
  const touching = await page.evaluate(() => {
    const box = cell => { const range = document.createRange(); range.selectNodeContents(cell); return range.getBoundingClientRect() }
    const touch = (left, right) => right.width && left.bottom > right.top && left.right + 4 > right.left
    return [...document.querySelectorAll('td + td')].filter(c => touch(box(c.previousElementSibling), box(c))).map(c => c.parentElement.textContent)
  })
  if (touching.length) complain(`${how}: cells touch: ${touching.slice(0, 3).join(' ')}`)
}

// bears looks for text that has to be there as text, and for what it must not
// have become.
async function bears(page, file, complain) {
  const elements = await page.evaluate(() => document.querySelectorAll('script, img, iframe, object, embed, form, input, link, base, video, audio, [onerror], [onload], [onclick]').length)
  if (elements) complain(`${elements} elements that are none of ours`)
  if (await page.evaluate(() => 'owned' in globalThis || document.title === 'owned')) complain('a script of theirs ran')
  const list = join(folder, file.replace(/html$/, 'txt'))
  if (!existsSync(list)) return
  const text = await page.evaluate(() => document.body.textContent)
  for (const want of readFileSync(list, 'utf8').split('\n').filter(Boolean)) {
    if (!text.includes(want)) complain(`does not bear ${JSON.stringify(want)} as text`)
  }
}
