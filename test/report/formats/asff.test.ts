import { describe, expect, it } from 'vitest'
import { asff } from '#report/formats/asff.ts'
import { hostileReport } from '#test/hostile-report.ts'
import { schemaErrors, schemaFile } from '#test/json-schema.ts'
import { endedOf, finding, findingsDocument, lastRun, morningReport } from '#test/report-builder.ts'

type Imported = Record<string, unknown> & {
  Id: string
  Title: string
  Description: string
  Resources: { Id: string }[]
  ProductFields: Record<string, string>
}

const errors = schemaErrors(schemaFile('batch-import-findings.json'))
const requestsOf = (report: ReturnType<typeof morningReport>): { Findings: Imported[] }[] =>
  JSON.parse(asff.render(report))
const placed = (region = 'eu-central-1') => {
  const report = structuredClone(morningReport())
  Object.assign(report.document.run, { account: '111122223333', region })
  return report
}

describe('ASFF', () => {
  it.each([
    ['a morning', placed()],
    ['hostile names', hostileReport()],
  ])('has requests that BatchImportFindings takes: %s', (_, report) => {
    const requests = requestsOf(report)
    const findings = requests.flatMap(({ Findings }) => Findings)
    for (const request of requests) expect(errors(request)).toEqual([])
    expect(new Set(findings.map(({ Id }) => Id)).size).toBe(findings.length)
    for (const found of findings) {
      expect(Buffer.byteLength(JSON.stringify(found))).toBeLessThanOrEqual(240_000)
      expect([
        found.Title.length <= 256,
        found.Description.length <= 1024,
        found.Id.length <= 512,
      ]).toEqual([true, true, true])
      expect(found.Resources.every(({ Id }) => Id.length <= 512)).toBe(true)
      for (const [key, value] of Object.entries(found.ProductFields))
        expect([key.length <= 128, value.length <= 2048]).toEqual([true, true])
    }
  })

  it('archives what is waived, and says NOT_AVAILABLE of what is not known', () => {
    const findings = requestsOf(placed()).flatMap(({ Findings }) => Findings)
    const { unknowns, notAudited, waived } = placed().document
    const count = (matches: (found: Imported) => boolean) => findings.filter(matches).length
    expect(count(({ RecordState }) => RecordState === 'ARCHIVED')).toBe(waived.length)
    expect(
      count(({ Compliance }) => JSON.stringify(Compliance) === '{"Status":"NOT_AVAILABLE"}'),
    ).toBe(unknowns.length + notAudited.length)
    expect(findings.find(({ Id }) => Id.endsWith('/a2'))).toMatchObject({
      ProductArn: 'arn:aws:securityhub:eu-central-1:111122223333:product/111122223333/default',
      CreatedAt: '2026-11-18T00:00:00Z',
      UpdatedAt: '2026-11-21T07:00:00Z',
      Severity: { Label: 'HIGH' },
    })
  })

  it('archives what has ended since the run before, as passed where it was seen to be mended', () => {
    const [request, ...others] = requestsOf({
      ...placed(),
      before: { ...lastRun(), ended: endedOf('fixed', 'replaced', 'gone', 'moved') },
    })
    expect([errors(request), others]).toEqual([[], []])
    const of = (id: string) => request!.Findings.find(({ Id }) => Id.endsWith(`/${id}`))
    expect(of('fixed')).toMatchObject({
      RecordState: 'ARCHIVED',
      Compliance: { Status: 'PASSED' },
      Description: 'Ended on 2026-11-21: it was fixed. It stood since 2026-11-18.',
      CreatedAt: '2026-11-18T00:00:00Z',
      LastObservedAt: '2026-11-20T00:00:00Z',
    })
    expect(of('replaced')).toMatchObject({
      RecordState: 'ARCHIVED',
      Compliance: { Status: 'PASSED' },
    })
    for (const id of ['gone', 'moved'])
      expect(of(id)).toMatchObject({
        RecordState: 'ARCHIVED',
        Compliance: { Status: 'NOT_AVAILABLE' },
      })
  })

  it('archives what could not be decided or read before and is no longer so, under the id that it had', () => {
    const { unknowns, notAudited } = placed().document
    const idsOf = (requests: ReturnType<typeof requestsOf>, state: string) =>
      requests.flatMap(({ Findings }) =>
        Findings.filter(
          ({ RecordState, Compliance }) =>
            RecordState === state && JSON.stringify(Compliance).includes('NOT_A'),
        ),
      )
    const open = idsOf(requestsOf(placed()), 'ACTIVE')
    const after = { ...placed(), before: { ...lastRun(), closed: { unknowns, notAudited } } }
    after.document = { ...after.document, unknowns: [], notAudited: [] }
    const requests = requestsOf(after)
    const closed = idsOf(requests, 'ARCHIVED')
    expect(requests.flatMap(errors)).toEqual([])
    expect(closed.map(({ Id }) => Id)).toEqual(open.map(({ Id }) => Id))
    expect(closed.map(({ Description }) => Description)).toEqual(
      [...unknowns, ...notAudited].map(
        ({ reason }) => `No longer said on 2026-11-21. Before: ${reason}`,
      ),
    )
    expect(idsOf(requests, 'ACTIVE')).toEqual([])
  })

  it.each([
    ['cn-north-1', 'arn:aws-cn:securityhub:'],
    ['us-gov-west-1', 'arn:aws-us-gov:securityhub:'],
  ])('names the partition of %s', (region, arn) => {
    expect(requestsOf(placed(region))[0]?.Findings[0]?.ProductArn).toContain(arn)
  })

  it('fills requests of a hundred', () => {
    const document = findingsDocument({
      run: placed().document.run,
      findings: Array.from({ length: 201 }, () => finding('low')),
      unknowns: [],
      notAudited: [],
      waived: [],
    })
    expect(requestsOf({ ...placed(), document }).map(({ Findings }) => Findings.length)).toEqual([
      100, 100, 1,
    ])
  })

  it('cannot be made where account or region are not known, and says what to do', () => {
    const report = placed()
    report.document.run.region = null
    expect(asff.unfit?.(report)).toMatchSnapshot()
    expect(asff.unfit?.(placed())).toBeNull()
  })
})
