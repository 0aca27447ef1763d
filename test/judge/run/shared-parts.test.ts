/** What is equal on many nodes is one object, and the nodes say what they said. */
import { describe, expect, it } from 'vitest'
import { openSharedParts } from '#judge/run/kept-prediction.ts'
import { plainPrediction } from '#model/report.ts'
import { auditedNode, sharedDisk } from '#test/report-builder.ts'

const parsed = (name: string) =>
  JSON.parse(JSON.stringify(auditedNode(name, sharedDisk(60)))) as ReturnType<typeof auditedNode>

describe('nodes that were parsed', () => {
  it('share what is equal, and differ by the rest', () => {
    const { nodeOf } = openSharedParts()
    const [one, other] = [nodeOf(parsed('ip-10-0-0-1')), nodeOf(parsed('ip-10-0-0-2'))]
    for (const node of [one, other])
      expect(JSON.stringify({ ...node, prediction: plainPrediction(node.prediction) })).toBe(
        JSON.stringify(parsed(node.identity.name)),
      )
    expect(other.prediction.settings).toBe(one.prediction.settings)
    expect(other.identity.group).toBe(one.identity.group)
    expect(other.outcomes).toBe(one.outcomes)
  })
})
