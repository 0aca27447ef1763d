/** Shared by the readers of user data: the form of their results, and how results are merged. */
import { BudgetExceeded, ForeignTextError, parseYaml, type TextBudget } from '#base/foreign-text.ts'
import { isRawObject, type RawObject } from '#base/raw-object.ts'
import { isConfigurationField, type KubeletSettings } from '#model/kubelet/settings.ts'

/** Why user data could not be read, in our own words: no other message may leave clients/user-data. */
export class Unreadable extends Error {}

/** Settings that one reader found, secrets not yet cut. Must not leave clients/user-data. */
export type Piece = KubeletSettings

export const piece = (source: Piece['source'], config: RawObject, flags: string[] = []): Piece => ({
  source,
  config,
  flags,
})

/** Merges the pieces of each source: a later configuration wins by key, flags are appended. Upstream: amazon-eks-ami nodeadm/internal/api/merge.go */
export function together(pieces: Piece[]): Piece[] {
  return [...Map.groupBy(pieces, ({ source }) => source)].map(([source, group]) => ({
    source,
    config: group.reduce<RawObject>((config, next) => merged(config, next.config), {}),
    flags: group.flatMap(({ flags }) => flags),
  }))
}

function merged(under: RawObject, over: RawObject): RawObject {
  const both = { ...under }
  for (const [key, value] of Object.entries(over)) {
    const before = Object.hasOwn(both, key) ? both[key] : undefined
    both[key] = isRawObject(before) && isRawObject(value) ? merged(before, value) : value
  }
  return both
}

/** Reads a text that may be a document, such as a file that a script writes; null: it is none. @throws BudgetExceeded */
export function settingsIn(text: string, budget: TextBudget): Piece | null {
  try {
    return readDocument(text, budget)
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
export const readDocument = (text: string, budget: TextBudget): Piece | null =>
  settingsOfDocument(parseYaml(text, budget))

/** Reads a NodeConfig, or a KubeletConfiguration or part of one; null: the value is neither. */
function settingsOfDocument(value: unknown) {
  if (!isRawObject(value)) return null
  if (typeof value.apiVersion === 'string' && value.apiVersion.startsWith('node.eks.aws/'))
    return ofNodeConfig(value)
  const { kind, apiVersion: _apiVersion, ...config } = value
  return kind === 'KubeletConfiguration' || Object.keys(config).some(isOwnField)
    ? piece('script', config)
    : null
}

/** Whether a document with this field is the kubelet's: many have `kind` or `port`. */
const isOwnField = (field: string) =>
  isConfigurationField(field) &&
  /^(eviction|image|containerLog|kube|system|max|pods|node|serialize)/.test(field)

/** Reads `spec.kubelet` of nodeadm's NodeConfig. Source: amazon-eks-ami nodeadm/doc/api.md */
export function ofNodeConfig({ spec }: RawObject): Piece {
  const kubelet = isRawObject(spec) && isRawObject(spec.kubelet) ? spec.kubelet : {}
  const flags = Array.isArray(kubelet.flags)
    ? kubelet.flags.filter(flag => typeof flag === 'string')
    : []
  return piece('nodeadm', isRawObject(kubelet.config) ? kubelet.config : {}, flags)
}
