/** A real Chromium, where there is one: the page is looked at in what readers have. */
import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const places = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/opt/google/chrome/chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

/** Null: there is none. `CHROMIUM` names one elsewhere. */
export const browserPath: string | null =
  [process.env.CHROMIUM ?? '', ...places].find(place => place !== '' && existsSync(place)) ?? null

/** @throws Error where `browserPath` is null */
export function openBrowser(): Promise<Browser> {
  if (browserPath === null) throw new Error('no Chromium here: install one, or name it in CHROMIUM')
  // In a container there is often neither a user namespace nor a large /dev/shm.
  return chromium.launch({
    executablePath: browserPath,
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  })
}
