/** What `npm ci` runs on the machine of the person who installs: nothing of ours, and no script of a dependency. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

interface Lock {
  packages: Record<string, { hasInstallScript?: true }>
}

const { scripts, allowScripts, dependencies, optionalDependencies } = JSON.parse(
  readFileSync('package.json', 'utf8'),
)

describe('npm ci', () => {
  it('runs no script of ours', () => {
    const atInstall = ['preinstall', 'install', 'postinstall', 'prepare', 'prepublish']
    expect(Object.keys(scripts).filter(name => atInstall.includes(name))).toEqual([])
  })

  it('runs no script at all, whichever npm it is', () => {
    expect(readFileSync('.npmrc', 'utf8').split('\n')).toContain('ignore-scripts=true')
  })

  it('runs no script of a dependency', () => {
    const lock: Lock = JSON.parse(readFileSync('package-lock.json', 'utf8'))
    const scripted = Object.entries(lock.packages).flatMap(([path, { hasInstallScript }]) =>
      hasInstallScript ? [path.replace(/^.*node_modules\//, '')] : [],
    )
    expect(allowScripts).toEqual(Object.fromEntries(scripted.map(name => [name, false])))
  })
})

describe('the package', () => {
  it('depends on nothing: all is compiled in', () => {
    expect({ dependencies, optionalDependencies }).toEqual({})
  })
})
