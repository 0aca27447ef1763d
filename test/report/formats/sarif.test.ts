import { describe, expect, it } from 'vitest'
import { sarif } from '#report/formats/sarif.ts'
import { hostileReport } from '#test/hostile-report.ts'
import { schemaErrors, schemaFile } from '#test/json-schema.ts'
import { finding, findingsDocument, morningReport, quietReport } from '#test/report-builder.ts'

const errors = schemaErrors(schemaFile('sarif-2.1.0.json'))
const morning = morningReport()
const logOf = (report: typeof morning) => JSON.parse(sarif.render(report))
const [run] = logOf(morning).runs

describe('SARIF', () => {
  it.each([
    ['a morning', morning],
    ['a quiet one', quietReport([])],
    ['hostile names', hostileReport()],
  ])('is valid by the schema of OASIS: %s', (_, report) => {
    expect(errors(logOf(report))).toEqual([])
  })

  it('has a result for each finding; one that is waived is suppressed, with the reason', () => {
    const { findings, waived } = morning.document
    expect(
      run.results.map(
        ({ partialFingerprints }: { partialFingerprints: object }) =>
          Object.values(partialFingerprints)[0],
      ),
    ).toEqual([...findings, ...waived].map(({ id }) => id))
    const suppressed = run.results.filter(
      ({ suppressions }: { suppressions?: object[] }) => suppressions !== undefined,
    )
    expect(suppressed).toMatchObject([
      {
        ruleId: 'image-gc-due',
        suppressions: [
          {
            status: 'accepted',
            justification: 'until 2026-12-31: The builders are meant to run full.',
          },
        ],
      },
    ])
    for (const { ruleId, ruleIndex } of run.results)
      expect(run.tool.driver.rules[ruleIndex].id).toBe(ruleId)
  })

  it('names no file of the repository, whatever a cluster calls itself', () => {
    const found = [{ ...morning.document.findings[0]!, cluster: '../../.github/./workflows' }]
    const { results } = logOf({ ...morning, document: findingsDocument({ findings: found }) })
      .runs[0]
    const { uri } = results[0].locations[0].physicalLocation.artifactLocation
    expect(new URL(uri, 'file:///a/b/').pathname).toMatch(
      /^\/a\/b\/clusters\/_\/_\/\.github\/_\/workflows\//,
    )
  })

  it('reports unread nodes as notifications, and that the run is not complete', () => {
    const [{ executionSuccessful, toolExecutionNotifications: notifications }] = run.invocations
    expect(
      notifications.map(({ descriptor, level }: { descriptor: { id: string }; level: string }) => [
        descriptor.id,
        level,
      ]),
    ).toEqual(['error', 'warning', 'warning', 'warning'].map(level => ['not-audited', level]))
    expect(executionSuccessful).toBe(false)
    const nodesOnly = {
      ...morning,
      document: { ...morning.document, notAudited: morning.document.notAudited.slice(1) },
    }
    expect(logOf(nodesOnly).runs[0].invocations[0].executionSuccessful).toBe(true)
  })

  it('becomes several runs where viewers would not take one, and loses no result', () => {
    const findings = Array.from({ length: 25_001 }, () => finding('low'))
    const { runs } = logOf({ ...morning, document: findingsDocument({ findings }) })
    expect(runs.map(({ results }: { results: object[] }) => results.length)).toEqual([25_000, 1])
  })
})
