/** Which programs of others the end-to-end tests take: one that is too old is passed over by its version, and does not fail them. */
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { temporaryFolder } from '#test/cli.ts'
import { strangersMissing } from '#test/strangers/strangers.ts'

afterEach(() => void vi.unstubAllEnvs())

/** A moto_server alone on the PATH. @param python of which folder its first line names one; null: it lies beside it */
function installed(version: string, python: string | null): void {
  const folder = temporaryFolder()
  const write = (path: string, text: string) => {
    writeFileSync(path, text)
    chmodSync(path, 0o755)
  }
  write(join(python ?? folder, 'python3'), `#!/bin/sh\necho ${version}\n`)
  write(join(folder, 'moto_server'), python === null ? '#!/bin/sh\n' : `#!${python}/python3\n`)
  vi.stubEnv('KUBEBUILDER_ASSETS', '')
  vi.stubEnv('PATH', folder)
}

const ofMoto = () => strangersMissing().filter(missing => missing.includes('moto'))

describe.each([
  ['by its first line', true],
  ['by what lies beside it', false],
])('moto, whose Python is known %s,', (_, isNamed) => {
  it.each([
    ['5.2.1', false],
    ['5.2.4', false],
    ['5.2.5', true],
    ['5.2.10', true],
    ['6.0.0', true],
  ])('of version %s is taken: %s', (version, isTaken) => {
    installed(version, isNamed ? temporaryFolder() : null)
    const said = `moto_server of version 5.2.5 or later on the PATH (it is ${version}: pip install 'moto[server]>=5.2.5')`
    expect(ofMoto()).toEqual(isTaken ? [] : [said])
  })
})

it('moto that is not there is named with what installs it', () => {
  vi.stubEnv('KUBEBUILDER_ASSETS', '')
  vi.stubEnv('PATH', temporaryFolder())
  expect(ofMoto()).toMatchSnapshot()
})
