/** With `inspectOutput` other nodes may write where a node's whole answer lies. */
import { createHash, randomBytes } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { readWholeAnswer } from '#collect/inspect/answer.ts'

const victim = 'i-0aaaaaaaaaaaaaaaa'
const ssmKeeps = 24_000

/** As answer.sh packs it. */
function packed(instanceId: string, mark: string): string {
  const pad = randomBytes(40_000).toString('hex')
  const host = { schema: 'highwater.host/1' }
  const whole = `${JSON.stringify({ schema: 'highwater.inspect/1', instanceId, nodeName: mark, host, pad })}\n`
  const sha256 = createHash('sha256').update(whole).digest('hex')
  const data = gzipSync(whole).toString('base64')
  return `{"schema":"highwater.inspect/1","encoding":"gzip+base64","bytes":${whole.length},"sha256":"${sha256}","data":"${data}"}\n`
}

const own = packed(victim, 'node')
const delivered = own.slice(0, ssmKeeps)
const read = (object: string, ssm = delivered) => readWholeAnswer(object, ssm, victim, 'node')

describe('the whole answer in S3', () => {
  it('is believed when SSM delivered its beginning', () => {
    expect(own.length).toBeGreaterThan(ssmKeeps)
    expect(read(own)).toMatchObject({ isKnown: true, instanceId: victim })
    const marked = `${own.slice(0, ssmKeeps - 20)}--output truncated--`
    expect(read(own, marked)).toMatchObject({ isKnown: true })
  })

  const twin = own.replace(/"\}\n$/, `",${packed(victim, 'node').slice(1)}`)
  it.each([
    ['another document in its place', packed(victim, 'node'), delivered],
    ['the same beginning and another end', `${own.slice(0, -20)}${'A'.repeat(16)}"}\n`, delivered],
    ['the same beginning and the keys once more', twin, delivered],
    ['any document where SSM delivered nothing', own, ''],
    ['any document where SSM delivered something else', own, '{"schema":"highwater.inspect/1",'],
    ['what SSM delivered, and nothing more', delivered, delivered],
  ])('is not believed: %s', (_, object, ssm) => {
    expect(read(object, ssm)).toMatchObject({ isKnown: false })
  })
})
