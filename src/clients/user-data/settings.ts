/** Shared by the readers of user data: the form of their results, and how results are merged. */

import { BudgetExceeded, ForeignTextError, parseToml, type TextBudget } from '#base/foreign-text.ts'
import { isRawObject, itemsOf, mapOf, overlay, type RawObject } from '#base/raw-object.ts'
import { linesOf } from '#base/text.ts'
import { type LocatedText, openYaml, type YamlPlace } from '#base/yaml-place.ts'
import { bottlerocketSettingOf, fieldOfSetting } from '#facts/eks/ami-defaults.ts'
import { fieldOf } from '#facts/kubelet/fields.ts'
import { fieldOfFlag, flagOfField } from '#facts/kubelet/flag-settings.ts'
import { isConfigurationField, type KubeletSettings } from '#model/kubelet/settings.ts'

/** The line of a setting: `evictionHard.nodefs.available`, or `--flag`. Null: the first line of all. */
export type LineOf = (path: string | null) => number

export type WrittenDocument = Pick<YamlPlace, 'value' | 'lineOf'>

/** Of a MIME part. Source: amazon-eks-ami nodeadm/internal/configprovider/userdata.go */
export const nodeConfigType = 'application/node.eks.aws'

/** Settings that one reader found, secrets not yet cut. Must not leave clients/user-data. */
export interface Piece extends KubeletSettings {
  lineOf: LineOf
  /** The whole document that has the settings. Null: a script sets them. */
  document: WrittenDocument | null
  /** The file of the node that gets them. Null: unknown. */
  path: string | null
  /** They take the place of all that the file had. False: they are added to it, or it is unknown. */
  isWholeFile: boolean
  /** Why nothing on the node reads them. Null: something may. */
  unread: string | null
  /** A command of a script without settings: it starts the kubelet, or edits its file in a way that is not read. Null: settings. */
  step: 'bootstrap' | 'restart' | 'edit' | null
}

export const piece = (
  source: Piece['source'],
  lineOf: LineOf,
  { config = {}, flags = [], ...more }: Partial<Piece>,
): Piece => ({
  source,
  config,
  flags,
  lineOf,
  document: null,
  path: null,
  isWholeFile: false,
  unread: null,
  step: null,
  ...more,
})

/** Merges the pieces of each source: a later configuration wins by key, flags are appended. Upstream: amazon-eks-ami nodeadm/internal/api/merge.go */
export function mergePieces(pieces: readonly Piece[]): KubeletSettings[] {
  return [...Map.groupBy(pieces, ({ source }) => source)].map(([source, group]) => ({
    source,
    config: group.reduce<RawObject>((config, next) => overlay(config, next.config), {}),
    flags: group.flatMap(({ flags }) => flags),
  }))
}

/** Reads a text that may be a document, such as a file that a script writes; null: it is none. @throws BudgetExceeded */
export function settingsIn(located: LocatedText, budget: TextBudget): Piece | null {
  try {
    return readDocument(located, budget)
  } catch (error) {
    if (error instanceof BudgetExceeded || !(error instanceof ForeignTextError)) throw error
    return null
  }
}

/**
 * Reads a document with kubelet settings; null: it has none. Of two equal keys the last one counts, as in cloud-init, nodeadm and the kubelet, which do
 * not decode strictly in the end.
 * Source: amazon-eks-ami nodeadm/internal/api/bridge/decode.go; pkg/kubelet/kubeletconfig/util/codec DecodeKubeletConfiguration; sigs.k8s.io/yaml YAMLToJSON
 * @throws ForeignTextError
 */
export function readDocument(located: LocatedText, budget: TextBudget): Piece | null {
  const place = openYaml(located, budget)
  const { value } = place
  if (!isRawObject(value)) return null
  if (isNodeConfig(value)) return pieceOfNodeConfig(place)
  const { kind, apiVersion: _apiVersion, ...config } = value
  if (kind !== 'KubeletConfiguration' && !Object.keys(config).some(isOwnField)) return null
  return piece('script', linesIn(place), { config, document: place })
}

/** Whether a document with this field is the kubelet's: many have `kind` or `port`. */
export const isOwnField = (field: string) =>
  isConfigurationField(field) &&
  /^(eviction|image|containerLog|kube|system|max|pods|node|serialize)/.test(field)

export const isNodeConfig = ({ apiVersion }: RawObject) =>
  typeof apiVersion === 'string' && apiVersion.startsWith('node.eks.aws/')

/** Reads `spec.kubelet` of nodeadm's NodeConfig. Source: amazon-eks-ami nodeadm/doc/api.md */
export function pieceOfNodeConfig(document: YamlPlace): Piece {
  const place = document.at('spec', 'kubelet')
  const { config, flags } = mapOf(place.value)
  return piece('nodeadm', linesIn(place.at('config'), place.at('flags')), {
    document,
    config: mapOf(config),
    // nodeadm joins them with spaces, and systemd splits them. Source: amazon-eks-ami, environment.go; kubelet.service
    flags: itemsOf(flags).flatMap(argumentsIn),
  })
}

const argumentsIn = (flag: unknown) =>
  typeof flag === 'string' ? flag.split(/\s+/).filter(one => one !== '') : []

/**
 * @param config the fields
 * @param flags a list of command-line arguments
 */
export function linesIn(config: YamlPlace, flags?: YamlPlace): LineOf {
  const given = itemsOf(flags?.value)
  return path => {
    if (path === null) return config.lineOf()
    const field = fieldOf(path)
    const key = path.slice(field.length + 1)
    const written = namesOf(field).find(name => Object.hasOwn(mapOf(config.value), name))
    // The key of an alias stands in its anchor, above the field.
    if (written !== undefined)
      return Math.max(config.lineOf(written), key === '' ? 1 : config.lineOf(written, key))
    const at = given.findLastIndex(flag =>
      argumentsIn(flag).some(one => fieldOfFlag(one) === field || one.split('=', 1)[0] === path),
    )
    return at < 0 || !flags ? config.lineOf() : flags.lineOf(at)
  }
}

/* Finds the line of a setting in a script or in TOML. */

/** The names under which people set a field. */
function namesOf(field: string) {
  const flag = flagOfField.get(field)
  return linesOf(field, bottlerocketSettingOf.get(field), flag && `--${flag}`)
}

/** The last line that names the field, since the last of equal settings counts; the key of a map on it or below it. */
export function lineIn({ text, fileLine }: LocatedText): LineOf {
  const lines = text.split('\n')
  const lastLine = (names: readonly string[], start: number) =>
    lines.findLastIndex(
      (line, index) =>
        index >= start && !/^\s*(#|\/\/)/.test(line) && names.some(name => hasWord(line, name)),
    )
  return path => {
    const field = fieldOf(path ?? '')
    const atField = path === null ? -1 : lastLine(namesOf(field), 0)
    if (path === null || atField < 0 || field === path) return fileLine(Math.max(atField, 0) + 1)
    const atKey = lastLine([path.slice(field.length + 1)], atField)
    return fileLine((atKey < 0 ? atField : atKey) + 1)
  }
}

/** Whether the name stands in the line, not as a part of a longer one. */
export function hasWord(line: string, name: string) {
  for (let at = line.indexOf(name); at >= 0; at = line.indexOf(name, at + 1)) {
    const isWhole =
      !/[\w-]/.test(line[at - 1] ?? ' ') && !/[\w-]/.test(line[at + name.length] ?? ' ')
    if (isWhole) return true
  }
  return false
}

/** Reads the kubelet settings in Bottlerocket's user data, and names them as the kubelet does. @throws ForeignTextError */
export function readBottlerocket(located: LocatedText, budget: TextBudget): Piece {
  const value = parseTomlAt(located, budget)
  const lineOf = lineIn(located)
  const document = {
    value,
    lineOf: (...path: (string | number)[]) => lineOf(path.slice(bottlerocketRoot.length).join('.')),
  }
  const { kubernetes } = mapOf(value.settings)
  return { ...bottlerocketPiece(mapOf(kubernetes), lineOf), document }
}

/** @throws ForeignTextError with the line in the file */
function parseTomlAt({ text, fileLine }: LocatedText, budget: TextBudget) {
  try {
    return parseToml(text, budget)
  } catch (error) {
    if (!(error instanceof ForeignTextError) || error.line === null) throw error
    throw new ForeignTextError(error.message, fileLine(error.line))
  }
}

/** Where the settings of the kubelet are. */
export const bottlerocketRoot = ['settings', 'kubernetes'] as const

/** @param kubernetes `settings.kubernetes` @throws ForeignTextError */
export function bottlerocketPiece(kubernetes: Readonly<RawObject>, lineOf: LineOf): Piece {
  const config: RawObject = {}
  for (const [setting, value] of Object.entries(kubernetes)) {
    const [field, kind] = fieldOfSetting(setting)
    if (field !== undefined) config[field] = settingOf(setting, value, kind)
  }
  return piece('bottlerocket', lineOf, { config })
}

/** Refuses values that JSON lacks: TOML also has dates and infinite numbers. @throws ForeignTextError */
function settingOf(setting: string, value: unknown, kind: string | undefined) {
  if (value instanceof Date || (typeof value === 'number' && !Number.isFinite(value)))
    throw new ForeignTextError(`its ${setting} has no value of a setting`)
  // Bottlerocket accepts percentages and counts as strings: "85".
  return kind === 'number' && typeof value === 'string' && /^\d+$/.test(value)
    ? Number(value)
    : value
}
