/** A record in the bucket that names another API server: the functions send nothing there. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { expect, it, onTestFinished, vi } from 'vitest'
import { fleet } from '#lab/scenarios/fleet.ts'
import { temporaryFolder } from '#test/cli.ts'
import { labOf } from '#test/lab-audit.ts'
import { fanOutHandlers, invoke, serviceEnvironment } from '#test/lambda.ts'

vi.setConfig({ testTimeout: 120_000 })

const run = '2026-11-21T05-00-00Z'

it('is read by the endpoint that EKS names, and its own gets no connection', async () => {
  const storeFolder = temporaryFolder()
  const bucket = join(storeFolder, 'highwater-lab')
  mkdirSync(bucket, { recursive: true })
  writeFileSync(join(bucket, 'highwater.yaml'), 'fanOut: { aboveNodes: 1 }\n')
  await labOf([fleet({ nodes: 3 })], { storeFolder, at: '2026-11-21T05:00:00Z' })
  Object.assign(process.env, serviceEnvironment)
  let connections = 0
  const evil = createServer(socket => {
    connections += 1
    socket.destroy()
  })
  await new Promise<void>(done => evil.listen(0, '127.0.0.1', done))
  onTestFinished(() => void evil.close())

  await invoke(JSON.parse(readFileSync('events/scheduled.json', 'utf8')), {
    HIGHWATER_STATE_MACHINE_ARN: 'arn:aws:states:us-east-1:111122223333:stateMachine:highwater',
  })
  await fanOutHandlers.Discover?.({ run })
  const file = (name: string) => join(bucket, 'runs', run, 'fan-out/clusters/0', name)
  const lines = gunzipSync(readFileSync(file('cluster.ndjson.gz')))
    .toString()
    .trim()
    .split('\n')
  const endpoint = `https://127.0.0.1:${(evil.address() as AddressInfo).port}`
  const forged = lines.map(line => {
    const record = JSON.parse(line)
    return JSON.stringify(record.eks ? { ...record, eks: { ...record.eks, endpoint } } : record)
  })
  expect(forged.join()).toContain(endpoint)
  writeFileSync(file('cluster.ndjson.gz'), gzipSync(`${forged.join('\n')}\n`))

  await fanOutHandlers.AuditShard?.({ step: 'read', run, cluster: 0, shard: 0 })
  const read = gunzipSync(readFileSync(file('records/0.ndjson.gz'))).toString()
  expect(read).toContain('"configz":{')
  await fanOutHandlers.AuditShard?.({ step: 'judge', run, cluster: 0 })
  expect(connections).toBe(0)
})
