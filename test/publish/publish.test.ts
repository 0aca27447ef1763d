import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { folderStore } from '#clients/store/folder-store.ts'
import { sesMessageMaxBytes } from '#facts/aws/limits.ts'
import type { Delivery, RenderedFile } from '#model/report.ts'
import { folder, s3 } from '#publish/channels/into-store.ts'
import {
  type Channel,
  markDone,
  mergeDeliveries,
  type PublishedFile,
  publish,
  readDone,
  reportAttachment,
} from '#publish/publish.ts'

const runId = '2026-11-21T05-00-00Z'
const html: RenderedFile = {
  name: 'report.html',
  contentType: 'text/html; charset=utf-8',
  body: '<p>ü</p>',
}
const findings: RenderedFile = {
  name: 'findings.json',
  contentType: 'application/json',
  body: '{}\n',
}

let root: string
let files: PublishedFile[]
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'highwater-publish-'))
  const path = join(root, 'snapshot.ndjson.gz')
  writeFileSync(path, 'records')
  files = [html, findings, { name: 'snapshot.ndjson.gz', contentType: 'application/gzip', path }]
})
afterEach(() => rmSync(root, { recursive: true }))

const read = (...path: string[]) => readFileSync(join(root, ...path), 'utf8')
const failing = (id: string): Channel => ({
  id,
  deliver: () => Promise.reject(new Error(`${id} is down`)),
})

describe('publish', () => {
  it('puts the files plainly into a folder, and beneath their run into a store', async () => {
    const bucket = folderStore(join(root, 'bucket'))
    const deliveries = await publish(files, [
      folder(join(root, 'out')),
      s3({ store: bucket, runId, reportBaseUrl: null }),
    ])
    expect(deliveries).toEqual([
      { channel: 'folder', location: join(root, 'out'), link: null, error: null },
      {
        channel: 's3',
        location: `${join(root, 'bucket')}/runs/${runId}/`,
        link: null,
        error: null,
      },
    ])
    for (const at of ['out', `bucket/runs/${runId}`]) {
      expect(read(at, 'report.html')).toBe('<p>ü</p>')
      expect(read(at, 'findings.json')).toBe('{}\n')
      expect(read(at, 'snapshot.ndjson.gz')).toBe('records')
    }
  })

  it('leaves a snapshot that was written into the folder already', async () => {
    expect(await publish(files, [folder(root)])).toMatchObject([{ error: null }])
    expect(read('snapshot.ndjson.gz')).toBe('records')
  })

  it('publishes the same run again over what it has left', async () => {
    const channel = s3({ store: folderStore(root), runId, reportBaseUrl: null })
    await publish([html], [channel])
    await publish([{ ...html, body: '<p>again</p>' }], [channel])
    expect(read('runs', runId, 'report.html')).toBe('<p>again</p>')
  })

  it.each(['https://reports.example.com', 'https://reports.example.com/'])(
    'links to the report where %s serves the store',
    async reportBaseUrl => {
      const [delivery] = await publish(files, [
        s3({ store: folderStore(root), runId, reportBaseUrl }),
      ])
      expect(delivery?.link).toBe(
        'https://reports.example.com/runs/2026-11-21T05-00-00Z/report.html',
      )
    },
  )

  it('serves the other channels when one fails, and says why', async () => {
    const deliveries = await publish(files, [
      failing('s3'),
      folder(join(root, 'out')),
      failing('other'),
    ])
    expect(deliveries).toEqual([
      { channel: 's3', location: null, link: null, error: 's3 is down' },
      { channel: 'folder', location: join(root, 'out'), link: null, error: null },
      { channel: 'other', location: null, link: null, error: 'other is down' },
    ])
    expect(read('out', 'report.html')).toBe('<p>ü</p>')
  })

  it('fails a channel that took only some of the files', async () => {
    const lost: PublishedFile = {
      name: 'lost',
      contentType: 'text/plain',
      path: join(root, 'nowhere'),
    }
    expect(await publish([html, lost], [folder(join(root, 'out'))])).toMatchObject([
      { location: null, error: expect.stringContaining('ENOENT') },
    ])
  })
})

it('of two steps, the first error of a channel stays', () => {
  const at = (location: string | null, error: string | null): Delivery => ({
    channel: 's3',
    location,
    link: null,
    error,
  })
  const fine = at('here', null)
  expect(
    mergeDeliveries(
      [fine, fine, at(null, 'first'), at(null, 'first')],
      [fine, at(null, 'second'), fine, at(null, 'second')],
    ),
  ).toEqual([fine, at(null, 'second'), at(null, 'first'), at(null, 'first')])
})

describe('the mark that a run is done', () => {
  const deliveries: Delivery[] = [{ channel: 's3', location: 'here', link: null, error: null }]
  const finishedAt = '2026-11-21T05:03:00Z'

  it('is not there before, is set once, and tells what became of the run', async () => {
    const store = folderStore(root)
    expect(await readDone(store, runId)).toBeNull()
    expect(await markDone(store, { runId, finishedAt, deliveries })).toBe(true)
    expect(await markDone(store, { runId, finishedAt: 'later', deliveries: [] })).toBe(false)
    expect(await readDone(store, runId)).toEqual(deliveries)
    expect(await readDone(store, '2026-11-22T05-00-00Z')).toBeNull()
    expect(await Array.fromAsync(store.list('runs/'))).toEqual([`runs/${runId}/done.json`])
  })

  it.each([
    '',
    '{',
    'null',
    '[]',
    '{"schema":"highwater.done/2"}',
    '{"schema":"highwater.done/1"}',
  ])('is not what reads %j', async body => {
    const store = folderStore(root)
    await store.write(`runs/${runId}/done.json`, body, 'application/json')
    expect(await readDone(store, runId)).toBeNull()
  })
})

describe('the report as an attachment', () => {
  it('is the page itself', () => {
    expect(reportAttachment(html)).toEqual({
      fileName: 'report.html',
      contentType: 'text/html',
      body: Buffer.from('<p>ü</p>'),
    })
  })

  it.each([
    { bytes: 5 * 1024 ** 2, fileName: 'report.html' },
    { bytes: 5 * 1024 ** 2 + 1, fileName: 'report.html.gz' },
  ])('of $bytes bytes is $fileName', ({ bytes, fileName }) => {
    expect(reportAttachment({ ...html, body: 'x'.repeat(bytes) })?.fileName).toBe(fileName)
  })

  it('is the same bytes each time when gzipped, and the page comes out of it', () => {
    const large = { ...html, body: 'disk '.repeat(2_000_000) }
    const [first, second] = [reportAttachment(large), reportAttachment(large)]
    expect(first?.body.equals(second?.body ?? Buffer.alloc(0))).toBe(true)
    expect(first?.contentType).toBe('application/gzip')
    expect(gunzipSync(first?.body ?? '').toString() === large.body).toBe(true)
  })

  it('is none when SES would not take it even so', () => {
    const noise = randomBytes(sesMessageMaxBytes * 0.75)
    expect(reportAttachment({ ...html, body: noise.toString('base64') })).toBeNull()
  })
})
