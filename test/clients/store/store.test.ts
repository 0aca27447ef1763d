import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { folderStore } from '#clients/store/folder-store.ts'
import { s3Store } from '#clients/store/s3.ts'
import { checkKey, type Store } from '#clients/store/store.ts'
import { type Lab, startLab } from '#lab/lab.ts'

const json = 'application/json'

let folder: string
let lab: Lab | null
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'highwater-store-'))
  lab = null
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await lab?.close()
  rmSync(folder, { recursive: true })
})

async function bucket(): Promise<Store> {
  lab = await startLab([])
  for (const [name, value] of Object.entries(lab.environment)) vi.stubEnv(name, value)
  return s3Store({ bucket: 'highwater-lab', prefix: 'audits/', region: 'us-east-1' })
}

const text = async (store: Store, key: string) => (await store.read(key))?.body.toString() ?? null
const version = async (store: Store, key: string) => (await store.read(key))?.version ?? ''

it('reads no file of a folder that is longer than its limit', async () => {
  const store = folderStore(folder)
  const limits = {
    'highwater.yaml': 2 ** 18,
    'remediation/notices.json': 2 ** 22,
    'remediation/leases/a.json': 2 ** 18,
    'remediation/begun/2026-11-22.json': 2 ** 20,
    'runs/2026-11-22T05-00-00Z/plan.json': 2 ** 24,
  }
  for (const [key, maxBytes] of Object.entries({ ...limits, 'history/runs/a.json.gz': 2 ** 24 })) {
    await store.write(key, Buffer.alloc(maxBytes), json)
    expect((await store.read(key))?.body).toHaveLength(maxBytes)
    await store.write(key, Buffer.alloc(maxBytes + 1), json)
    await expect(store.read(key)).rejects.toThrow(`${key} has ${maxBytes + 1} bytes`)
  }
})

describe.each<[string, () => Store | Promise<Store>]>([
  ['a folder', () => folderStore(join(folder, 'not', 'yet', 'there'))],
  ['an S3 bucket', bucket],
])('%s as a store', (_, open) => {
  let store: Store
  beforeEach(async () => {
    store = await open()
  })

  it('gives back what was written, and null for what was not', async () => {
    await store.write('runs/1/report.html', '<p>ü</p>', 'text/html; charset=utf-8')
    expect(await text(store, 'runs/1/report.html')).toBe('<p>ü</p>')
    expect(await store.read('runs/1/findings.json')).toBeNull()
    expect(await store.read('runs')).toBeNull()
  })

  it('writes over what was there', async () => {
    await store.write('a', 'one', json)
    await store.write('a', Buffer.from([0, 255]), json)
    expect((await store.read('a'))?.body).toEqual(Buffer.from([0, 255]))
  })

  it('knows what was written, and nothing of a key that begins alike', async () => {
    expect(await store.wasWritten('over/a')).toBe(false)
    await store.create('over/a.json', 'x', json)
    expect(await store.wasWritten('over/a')).toBe(false)
    expect(await store.wasWritten('over/a.json')).toBe(true)
  })

  it('creates once', async () => {
    expect(await store.create('runs/1/mail.json', 'one', json)).toBe(true)
    expect(await store.create('runs/1/mail.json', 'two', json)).toBe(false)
    expect(await text(store, 'runs/1/mail.json')).toBe('one')
  })

  it('lets one of many creators win, and keeps that one’s bytes', async () => {
    const names = Array.from({ length: 8 }, (_, index) => `writer ${index}`)
    const won = await Promise.all(names.map(name => store.create('a', name, json)))
    expect(won.filter(Boolean)).toHaveLength(1)
    expect(await text(store, 'a')).toBe(names[won.indexOf(true)])
  })

  it('replaces the version that was given, and no other', async () => {
    await store.create('a', 'one', json)
    const first = await version(store, 'a')
    expect(await store.replace('a', 'two', first)).toBe(true)
    expect(await store.replace('a', 'three', first)).toBe(false)
    expect(await text(store, 'a')).toBe('two')
    expect(await version(store, 'a')).not.toBe(first)
  })

  it('lets one of many replacers win', async () => {
    await store.create('a', 'old', json)
    const old = await version(store, 'a')
    const names = Array.from({ length: 8 }, (_, index) => `writer ${index}`)
    const won = await Promise.all(names.map(name => store.replace('a', name, old)))
    expect(won.filter(Boolean)).toHaveLength(1)
    expect(await text(store, 'a')).toBe(names[won.indexOf(true)])
  })

  it('replaces nothing where nothing is', async () => {
    expect(await store.replace('runs/1/a', 'x', 'any')).toBe(false)
    expect(await store.read('runs/1/a')).toBeNull()
  })

  it('takes a file from disk, byte for byte', async () => {
    const path = join(folder, 'snapshot')
    const body = Buffer.from(Array.from({ length: 300_000 }, (_, index) => (index * 31) % 251))
    writeFileSync(path, body)
    await store.writeFile('runs/1/snapshot.ndjson.gz', path, 'application/gzip')
    expect((await store.read('runs/1/snapshot.ndjson.gz'))?.body.equals(body)).toBe(true)
  })

  it('takes an empty file, too', async () => {
    writeFileSync(join(folder, 'empty'), '')
    await store.writeFile('a', join(folder, 'empty'), json)
    expect(await text(store, 'a')).toBe('')
  })

  it('says so when the file to take is not there', async () => {
    await expect(store.writeFile('a', join(folder, 'none'), json)).rejects.toThrow(/ENOENT.*none/)
    expect(await Array.fromAsync(store.list(''))).toEqual([])
  })

  it('lists what begins with a prefix, sorted, and nothing of a store without it', async () => {
    expect(await Array.fromAsync(store.list(''))).toEqual([])
    for (const key of ['runs/2/b', 'runs/10/a', 'runs/2/a', 'other'])
      await store.write(key, key, json)
    expect(await Array.fromAsync(store.list('runs/'))).toEqual([
      'runs/10/a',
      'runs/2/a',
      'runs/2/b',
    ])
    expect(await Array.fromAsync(store.list('runs/2'))).toEqual(['runs/2/a', 'runs/2/b'])
    expect(await Array.fromAsync(store.list(''))).toHaveLength(4)
  })

  it.each([
    '../a',
    'a/../../b',
    '/a',
    'a//b',
    '',
    'a/',
    './a',
    'a\\b',
    'a\u0000b',
    'C:a',
    'a'.repeat(801),
  ])('refuses the key %j', async key => {
    expect(() => checkKey(key)).toThrowErrorMatchingSnapshot()
    await expect((async () => store.write(key, 'x', json))()).rejects.toThrowErrorMatchingSnapshot()
    await expect((async () => store.read(key))()).rejects.toThrowErrorMatchingSnapshot()
  })
})

describe('a folder', () => {
  it('never shows a file that is still being written, nor leaves one behind', async () => {
    const store = folderStore(folder)
    await store.write('runs/1/a', 'x', json)
    await store.create('runs/1/a', 'y', json)
    await store.replace('runs/1/a', 'y', 'other')
    expect(readdirSync(join(folder, 'runs', '1'))).toEqual(['a'])
    writeFileSync(join(folder, 'runs', '1', 'b.0.partial'), 'half')
    expect(await Array.fromAsync(store.list(''))).toEqual(['runs/1/a'])
  })

  it('removes what is still being written if the process exits', async () => {
    const store = folderStore(folder)
    await store.write('a', 'one', json)
    writeFileSync(join(folder, 'a.lock'), '')
    const others = process.listeners('exit')
    const waiting = store.replace('a', 'two', await version(store, 'a'))
    const partials = () => readdirSync(folder).filter(name => name.endsWith('.partial'))
    await expect.poll(partials).toHaveLength(1)
    const [removePartials] = process.listeners('exit').filter(one => !others.includes(one))
    removePartials?.(0)
    expect(partials()).toEqual([])
    rmSync(join(folder, 'a.lock'))
    await expect(waiting).rejects.toThrow(/ENOENT/)
    expect(process.listeners('exit')).toEqual(others)
  })

  it('leaves a file that lies at its place already', async () => {
    writeFileSync(join(folder, 'snapshot'), 'whole')
    await folderStore(folder).writeFile('snapshot', join(folder, 'snapshot'), json)
    expect(readFileSync(join(folder, 'snapshot'), 'utf8')).toBe('whole')
  })

  it.each([
    ['long ago', -60_000],
    ['by a clock that was ahead', 3_600_000],
  ])('takes over the lock of a process that died, taken %s', async (_, offsetMs) => {
    const store = folderStore(folder)
    await store.write('a', 'one', json)
    const lock = join(folder, 'a.lock')
    writeFileSync(lock, '')
    const at = new Date(Date.now() + offsetMs)
    utimesSync(lock, at, at)
    expect(await store.replace('a', 'two', await version(store, 'a'))).toBe(true)
    expect(readdirSync(folder)).toEqual(['a'])
  })

  it('says what stands in its way', async () => {
    writeFileSync(join(folder, 'file'), '')
    await expect(folderStore(join(folder, 'file')).write('a', 'x', json)).rejects.toThrow(
      /^a file stands where/,
    )
    await folderStore(folder).write('runs/a', 'x', json)
    await expect(folderStore(folder).write('runs', 'x', json)).rejects.toThrow(
      /^a folder stands where/,
    )
  })
})
