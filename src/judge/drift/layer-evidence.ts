import { mapOf, type RawObject } from '#base/raw-object.ts'
import { firstNames } from '#base/text/first-of.ts'
import { fieldOf, isCompared } from '#facts/kubelet/fields.ts'
import { line, plural } from '#judge/rule.ts'
import type { Evidence } from '#model/finding/finding.ts'
import { shownSetting } from './drift.ts'
import { type Loss, type Running, type StartFact, saidOf, shownRunning } from './layers.ts'

/** One line for each layer that lost values; the layer with most losses comes first. */
export function layerEvidence(losses: readonly Pick<Loss, 'layer'>[]): Evidence[] {
  const counts = [...Map.groupBy(losses, ({ layer }) => layer)].map(([layer, of]) => ({
    layer,
    count: of.length,
  }))
  return counts
    .toSorted((a, b) => b.count - a.count)
    .map(({ layer }) => line('layer', 'layer', layer))
}

export function wayEvidence(
  losses: readonly Loss[],
  start: StartFact | null,
  running: Running,
): Evidence[] {
  return [...Map.groupBy(losses, ({ path }) => path)].flatMap(([path, own]) => {
    const said =
      start === null
        ? []
        : saidOf(start, path).filter(
            ({ where, value }) => !own.some(loss => loss.where === where && loss.value === value),
          )
    return [
      ...[...own, ...said].map(({ by, where, value }) =>
        line('declared', `${by} ${path}`, `${shownSetting(value)} (${where})`),
      ),
      line('configz', path, shownRunning(running, path)),
    ]
  })
}

const mostReasons = 4
const mostFields = 4

export function lossWords(losses: readonly Loss[], running: Running): string {
  const reasons = [...Map.groupBy(losses, ({ why }) => why)]
  const words = reasons.slice(0, mostReasons).map(([why, of]) => {
    const fields = of.map(
      ({ path, value }) => `${path} ${shownSetting(value)} (${shownRunning(running, path)} runs)`,
    )
    return `${firstNames(fields, mostFields)}: ${why}.`
  })
  const rest = reasons.length - words.length
  return [...words, ...(rest > 0 ? [`And for ${plural(rest, 'more reason')}.`] : [])].join(' ')
}

/** The values as configuration fields. The kubelet replaces maps as a whole, so a map also keeps its other running entries. */
export function configOf(
  values: readonly { path: string; value: unknown }[],
  running: Running,
): Record<string, unknown> {
  const config = new Map<string, unknown>()
  for (const { path, value } of values) {
    const field = fieldOf(path)
    if (!isCompared(path) || value === undefined) continue
    if (path === field) config.set(field, value)
    else
      config.set(field, {
        ...mapOf(config.get(field) ?? mapThatRuns(field, running)),
        [path.slice(field.length + 1)]: value,
      })
  }
  return Object.fromEntries(config)
}

function mapThatRuns(field: string, running: Running): RawObject {
  const own = Object.entries(running).filter(
    ([path, { shown }]) => path !== field && fieldOf(path) === field && shown !== 'none',
  )
  const writtenValue = (shown: string) => (field === 'featureGates' ? shown === 'true' : shown)
  return Object.fromEntries(
    own.map(([path, { shown }]) => [path.slice(field.length + 1), writtenValue(shown)]),
  )
}
