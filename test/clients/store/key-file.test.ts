import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { fileMacKey } from '#clients/store/key-file.ts'
import { temporaryFolder } from '#test/cli.ts'

describe('the key of a machine', () => {
  it('is made once, for its owner alone, and stays the same', async () => {
    const path = join(temporaryFolder(), 'highwater', 'seal.key')
    const made = await Promise.all(Array.from({ length: 20 }, () => fileMacKey(path).mac('x')))
    expect(new Set(made).size).toBe(1)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(readFileSync(path)).toHaveLength(32)
    expect(readdirSync(dirname(path))).toEqual(['seal.key'])
    const [mac = ''] = made
    const key = fileMacKey(path)
    expect([
      await key.isMac('x', mac),
      await key.isMac('y', mac),
      await key.isMac('x', ''),
    ]).toEqual([true, false, false])
    expect(await key.identity()).toMatch(/^\S+ \(uid \d+\) on \S+$/)
  })

  it.each<[string, (path: string) => void, RegExp]>([
    [
      'others may read',
      path => {
        writeFileSync(path, Buffer.alloc(32))
        chmodSync(path, 0o644)
      },
      /its mode is 644, and has to be 600/,
    ],
    [
      'is a link',
      path => {
        writeFileSync(`${path}.real`, Buffer.alloc(32), { mode: 0o600 })
        symlinkSync(`${path}.real`, path)
      },
      /cannot be used: ELOOP/,
    ],
    ['is too short', path => writeFileSync(path, 'x', { mode: 0o600 }), /it has 1 bytes, not 32/],
    ['is a folder', path => mkdirSync(path), /cannot be used/],
  ])('is refused where it %s', async (_, make, message) => {
    const path = join(temporaryFolder(), 'seal.key')
    make(path)
    await expect(fileMacKey(path).mac('x')).rejects.toThrow(message)
  })
})
