import { parse } from 'csv-parse/sync'
import { describe, expect, it } from 'vitest'
import { csv } from '#report/formats/csv.ts'
import { hostileReport } from '#test/hostile-report.ts'
import { adviceWith, finding, findingsDocument, morningReport } from '#test/report-builder.ts'

type Row = Record<string, string>
const rowsOf = (text: string): Row[] =>
  parse(text, { columns: true, record_delimiter: '\r\n', relax_quotes: false })

describe('CSV', () => {
  const morning = morningReport()
  it('has a line for each finding, waived one, unknown outcome and node that was not audited', () => {
    const rows = rowsOf(csv.render(morning))
    const { findings, waived, unknowns, notAudited } = morning.document
    const counts = {
      open: findings.length,
      waived: waived.length,
      unknown: unknowns.length,
      notAudited: notAudited.length,
    }
    expect(
      Object.fromEntries(
        [...Map.groupBy(rows, ({ state }) => state)].map(([state, of]) => [state, of.length]),
      ),
    ).toEqual(counts)
    expect(rows[1]).toMatchObject({
      id: 'a2',
      nodes: '37',
      since: '2026-11-18',
      rule: 'eviction-before-image-gc',
    })
    expect(rows.find(({ state }) => state === 'waived')).toMatchObject({
      waivedUntil: '2026-12-31',
      reason: 'The builders are meant to run full.',
    })
  })

  it.each(['=cmd()', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', ' =1', '\uff1d1', '\u200b=1'])(
    'makes no formula of %j',
    title => {
      const [row] = rowsOf(
        csv.render({
          ...morning,
          document: findingsDocument({ findings: [finding('low', { title })] }),
        }),
      )
      expect(row?.title).toMatch(/^['<]/)
    },
  )

  it('keeps hostile texts in their cells, cut with a mark, and no cell is longer than a spreadsheet takes', () => {
    const rows = rowsOf(csv.render(hostileReport()))
    expect(rows).toHaveLength(rowsOf(csv.render(morning)).length)
    const cells = rows.flatMap(row => Object.values(row))
    expect(cells.filter(cell => /^[=+\-@\t\r]/.test(cell))).toEqual([])
    expect(cells.filter(cell => cell.length > 32_767)).toEqual([])
    expect(rows[0]?.title).toMatchSnapshot()
  })

  it('cuts a cell that a spreadsheet would not take, with a mark', () => {
    const evidence = Array.from({ length: 24 }, (_, index) => ({
      kind: 'computed' as const,
      what: `e${index}`,
      value: 'v'.repeat(5_000),
    }))
    const fix = {
      config: Object.fromEntries(evidence.map(({ what, value }) => [what, value.repeat(2)])),
      durable: [],
    }
    const [row] = rowsOf(
      csv.render({
        ...morning,
        document: findingsDocument({
          findings: [
            finding('low', {
              evidence,
              fix,
              steps: adviceWith(...Array(20).fill('c'.repeat(999))),
            }),
          ],
        }),
      }),
    )
    expect(row?.fix).toHaveLength(32_767)
    expect(row?.fix).toMatch(/… \(cut\)$/)
  })
})
