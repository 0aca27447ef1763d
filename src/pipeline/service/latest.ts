/** A place to link to: `latest/` has the newest whole report, `index.html` the list of runs. Each whole run rewrites them. */
import type { Store } from '#clients/store.ts'
import { severities } from '#model/finding.ts'
import { isRawObject } from '#model/record.ts'
import type { AuditReport, RenderedFile } from '#model/report.ts'
import { renderIndex } from '#report/compiled-templates.js'
import type { Language } from '#report/languages/language.ts'
import { type ListedRun, listedRun, runsIndexView } from '#report/views/runs-index.ts'

const runsKey = 'latest/runs.json'
const shownFiles = new Set(['report.html', 'findings.json'])
const listedRuns = 60
const tries = 3

interface Published {
  runId: string
  report: AuditReport
  files: readonly RenderedFile[]
}

/**
 * A run that is older than the newest listed run changes the list only.
 * @throws Error with a message for people if the store cannot be read or written
 */
export async function writeLatest(
  store: Store,
  { runId, report, files }: Published,
  language: Language,
): Promise<void> {
  const run = listedRun(runId, report, language)
  const runs = await listRun(store, run)
  if (runs[0]?.runId === runId)
    for (const { name, body, contentType } of files.filter(file => shownFiles.has(file.name)))
      await store.write(`latest/${name}`, body, contentType)
  const page = renderIndex(runsIndexView(runs, language))
  await store.write('index.html', page, 'text/html; charset=utf-8')
}

/** Adds the run to the list, unless another run writes the list at each try. Returns the list, newest first. */
async function listRun(store: Store, run: ListedRun): Promise<ListedRun[]> {
  for (let attempt = 1; ; attempt++) {
    const found = await store.read(runsKey)
    const earlier = found === null ? [] : listedRunsIn(found.body)
    const runs = [run, ...earlier.filter(({ runId }) => runId !== run.runId)]
      .toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at))
      .slice(0, listedRuns)
    const text = `${JSON.stringify({ schema: 'highwater.runs/1', runs })}\n`
    const isWritten =
      found === null
        ? await store.create(runsKey, text, 'application/json')
        : await store.replace(runsKey, text, 'application/json', found.version)
    if (isWritten) return runs
    if (attempt === tries) throw new Error(`${store.location}/${runsKey}: other runs write it`)
  }
}

/** The well-formed runs of the list: the bucket may be forged. */
function listedRunsIn(body: Buffer): ListedRun[] {
  let parsed: unknown
  try {
    parsed = JSON.parse(body.toString('utf8'))
  } catch {
    return []
  }
  if (!isRawObject(parsed) || !Array.isArray(parsed.runs)) return []
  return parsed.runs.slice(0, listedRuns).flatMap(run => listedRunIn(run) ?? [])
}

const isCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0

function listedRunIn(run: unknown): ListedRun | null {
  if (!isRawObject(run)) return null
  const { runId, at, verdict, severity, severe, fullestPercent } = run
  const known = ['none' as const, ...severities].find(one => one === severity)
  if (typeof runId !== 'string' || !/^[\w.-]{1,100}$/.test(runId) || /^\.+$/.test(runId))
    return null
  if (typeof at !== 'string' || at.length > 40 || !Number.isFinite(Date.parse(at))) return null
  if (typeof verdict !== 'string' || verdict.length > 1000) return null
  if (known === undefined || !isCount(severe)) return null
  if (fullestPercent !== null && !isCount(fullestPercent)) return null
  return { runId, at, verdict, severity: known, severe, fullestPercent }
}
