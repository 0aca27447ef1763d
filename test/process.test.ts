/** What tests share of their process: its environment, and the folder of its temporary files. */
import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { memoryFolder } from '#test/memory-folder.ts'
import { withEnvironment } from '#test/undo.ts'

describe('the environment of a test', () => {
  const name = 'HIGHWATER_OF_A_TEST'

  it('is set back once', () => {
    const { PATH } = process.env
    const undo = withEnvironment({ [name]: 'a', PATH: '/none' })
    expect(process.env).toMatchObject({ [name]: 'a', PATH: '/none' })
    undo()
    expect(process.env).not.toHaveProperty(name)
    expect(process.env.PATH).toBe(PATH)
    process.env.PATH = '/later'
    undo()
    expect(process.env.PATH).toBe('/later')
    process.env.PATH = PATH
  })

  it('stays until the test ends', () => {
    withEnvironment({ [name]: 'b' })
    expect(process.env[name]).toBe('b')
  })

  it('is not that of the test before', () => {
    expect(process.env).not.toHaveProperty(name)
  })
})

it('has temporary files in memory only if that has room', () => {
  const memory = tmpdir()
  const folder = memoryFolder(memory, 1)
  expect(folder && dirname(folder)).toBe(memory)
  rmSync(folder!, { recursive: true })
  expect(memoryFolder(memory, Number.POSITIVE_INFINITY)).toBeNull()
  expect(memoryFolder(join(memory, 'none'), 1)).toBeNull()
})
