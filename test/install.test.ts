/** What `npm ci` runs on the machine of the person who installs: nothing. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

describe('npm ci', () => {
  it('runs no script, whatever the version of npm', () => {
    expect(readFileSync('.npmrc', 'utf8').split('\n')).toContain('ignore-scripts=true')
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'))
    const atInstall = ['preinstall', 'install', 'postinstall', 'prepare', 'prepublish']
    expect(Object.keys(scripts).filter(name => atInstall.includes(name))).toEqual([])
  })
})
