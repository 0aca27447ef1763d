import { expect, it } from 'vitest'
import { english } from '#report/languages/language.ts'
import { verdictView } from '#report/parts/verdict.ts'
import { finding, quietReport } from '#test/report-builder.ts'

it('counts a disk that was not measured once, if two rules report it', () => {
  const device = { device: '/dev/sdb', declaredBytes: null, actualBytes: 1 }
  const cause = { kind: 'device', what: 'unmeasured', ...device } as const
  const findings = ['unmeasured-disk', 'container-out-of-space'].map(rule =>
    finding('medium', { rule, cause, nodes: { count: 2, sample: [] } }),
  )
  const context = { outlook: { evicting: 0 }, causeCount: 1, language: english }
  const { gaps } = verdictView(quietReport([], { findings }), context)
  expect(gaps.map(({ text }) => text)).toContainEqual(expect.stringMatching(/^on 2\snodes a disk/))
})
