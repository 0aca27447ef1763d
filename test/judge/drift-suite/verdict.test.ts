/** The judge of the judges: what must not pass for a right answer. */

import { describe, expect, it } from 'vitest'
import { line } from '#judge/rule.ts'
import type { Finding } from '#model/finding.ts'
import { imageGc, kind } from './declare.ts'
import { fleet, image, managed, times } from './fleet.ts'
import { type DriftKind, likelyLost, lostOnDisk } from './kind.ts'
import { nodeName } from './node.ts'
import { verdictOf } from './verdict.ts'

const [first, second, third] = [nodeName(0), nodeName(1), nodeName(2)]
const records = () =>
  fleet(managed({ image: image('AL2023', 34), nodes: times(3, { running: imageGc(70, 60) }) }))
const disk = line('layer', 'layer', 'disk')

const finding = (rule: string, nodes: string[], more: Partial<Finding> = {}): Finding => ({
  id: 'id',
  rule,
  family: 'drift',
  severity: 'medium',
  confidence: 'certain',
  cluster: 'prod',
  subject: { kind: 'Nodegroup', namespace: null, name: 'workers' },
  nodes: { count: nodes.length, sample: nodes },
  title: '',
  consequence: '',
  evidence: [disk],
  cause: { kind: 'hand-edit', place: null },
  steps: [],
  fix: { config: {}, durable: [] },
  since: null,
  waived: null,
  docs: { title: '', why: '', fix: '', sources: [] },
  ...more,
})
const twoOfThree: DriftKind = kind('AL2023', 'two of three', lostOnDisk(first, second), records)
const right = {
  isFound: true,
  falsePositives: [],
  layers: ['disk'],
  hasRightLayers: true,
  hasRightConfidence: true,
}

describe('verdictOf', () => {
  it('is content with the right rule, nodes and layer, in one finding or in two', () => {
    expect(verdictOf(twoOfThree, [finding('lost-on-the-way', [first, second])])).toEqual(right)
    expect(
      verdictOf(twoOfThree, [
        finding('lost-on-the-way', [first]),
        finding('lost-on-the-way', [second]),
      ]),
    ).toEqual(right)
  })

  it.each<[string, Finding[], object]>([
    ['nothing', [], { isFound: false, layers: [], hasRightLayers: false }],
    ['one node of two', [finding('lost-on-the-way', [first])], { isFound: false }],
    [
      'a node too many',
      [finding('lost-on-the-way', [first, second, third])],
      { falsePositives: [`lost-on-the-way on ${third}`] },
    ],
    [
      'another rule',
      [finding('peer-drift', [first])],
      {
        isFound: false,
        falsePositives: [`peer-drift on ${first}`],
        layers: [],
        hasRightLayers: false,
      },
    ],
    [
      'another layer',
      [
        finding('lost-on-the-way', [first, second], {
          evidence: [line('layer', 'layer', 'flags')],
        }),
      ],
      { layers: ['flags'], hasRightLayers: false },
    ],
    [
      'a layer too many',
      [
        finding('lost-on-the-way', [first, second], {
          evidence: [disk, line('layer', 'layer', 'flags')],
        }),
      ],
      { layers: ['disk', 'flags'], hasRightLayers: false },
    ],
  ])('sees that %s is wrong', (_, findings, wrong) => {
    expect(verdictOf(twoOfThree, findings)).toEqual({ ...right, ...wrong })
  })

  it('takes any finding in a fleet without drift for false', () => {
    const clean = kind('AL2023', 'clean', null, records)
    expect(verdictOf(clean, []).falsePositives).toEqual([])
    expect(verdictOf(clean, [finding('baseline-drift', [first])]).falsePositives).toEqual([
      `baseline-drift on ${first}`,
    ])
  })

  it('needs the reason why a loss is only likely', () => {
    const likely = kind('AL2023', 'likely', likelyLost, records)
    const said = (confidence: Finding['confidence'], ...evidence: Finding['evidence']) =>
      verdictOf(likely, [
        finding('lost-on-the-way', [first, second, third], { confidence, evidence }),
      ]).hasRightConfidence
    const why = line('computed', "the node's files", 'not read (mode proxy)')
    expect(said('likely', line('layer', 'layer', 'declared'), why)).toBe(true)
    expect(said('likely', line('layer', 'layer', 'declared'))).toBe(false)
    expect(said('certain', line('layer', 'layer', 'declared'), why)).toBe(false)
  })
})
